//! Why a text is not a document.

use thiserror::Error;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors, Location};
use crate::query::document_limits::{MAX_OPEN_BRACKETS, MAX_TOKENS};
use crate::query::parse::strings::InvalidEscape;

/// The first error in a text, and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParseError {
    pub(super) location: Location,
    pub(super) kind: ParseErrorKind,
}

impl From<ParseError> for GraphqlErrors {
    fn from(error: ParseError) -> Self {
        Self::one(GraphqlError::new(&error.kind, [error.location]))
    }
}

/// Why a text is not a document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum ParseErrorKind {
    /// More than [`MAX_TOKENS`] tokens.
    #[error("Syntax error: a document has at most {} tokens", MAX_TOKENS)]
    TooManyTokens,
    /// More than [`MAX_OPEN_BRACKETS`] open brackets.
    #[error("Syntax error: at most {} brackets are open at once", MAX_OPEN_BRACKETS)]
    TooDeep,
    /// A character that no token begins with.
    #[error("Syntax error: found {}", describe_character(*.0))]
    Character(char),
    /// An incomplete number, or one that something follows directly: what was expected.
    #[error("Syntax error: not a number: expected {0}")]
    Number(&'static str),
    /// A string that does not end on its line.
    #[error(
        "Syntax error: a string without its closing quote on the same line; longer ones stand in triple quotes (\"\"\")"
    )]
    UnterminatedString,
    /// A block string that does not end.
    #[error("Syntax error: a block string without its closing quotes")]
    UnterminatedBlockString,
    /// An invalid escape sequence in a string.
    #[error("Syntax error: found the escape {}, expected {}", .0.found, .0.expected)]
    Escape(InvalidEscape),
    /// A fragment with the name `on`, which is a keyword.
    #[error("Syntax error: a fragment cannot be named \"on\"")]
    FragmentNamedOn,
    /// A token where the grammar does not allow it.
    #[error("Syntax error: found {found}{}", alternatives(.expected))]
    Unexpected {
        /// The token.
        found: String,
        /// The tokens that the grammar allows there.
        expected: Vec<&'static str>,
    },
}

impl Diagnostic for ParseErrorKind {
    fn code(&self) -> ErrorCode {
        ErrorCode::GraphqlParseFailed
    }

    fn extensions(&self) -> ErrorExtensions {
        let (found, expected) = match self {
            Self::Unexpected { found, expected } => (found.clone(), expected.clone()),
            Self::Character(character) => {
                let is_quote = matches!(character, '\'' | '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}');
                (character.to_string(), if is_quote { vec!["a string in double quotes"] } else { Vec::new() })
            }
            Self::TooManyTokens
            | Self::TooDeep
            | Self::Number(_)
            | Self::UnterminatedString
            | Self::UnterminatedBlockString
            | Self::Escape(_)
            | Self::FragmentNamedOn => return ErrorExtensions::new(),
        };
        ErrorExtensions::from_iter([("found".to_owned(), found.into()), ("expected".to_owned(), expected.into())])
    }
}

fn describe_character(character: char) -> String {
    match character {
        '\'' | '\u{2018}' | '\u{201c}' | '\u{201d}' => {
            format!("the character {character}; strings stand in double quotes (\")")
        }
        '.' => "a single dot; a fragment is spread with three (...)".to_owned(),
        _ => format!("the character {character:?}, which stands for nothing outside a string"),
    }
}

fn alternatives(expected: &[&str]) -> String {
    match expected {
        [] => String::new(),
        [only] => format!(", expected {only}"),
        [others @ .., last] => format!(", expected {} or {last}", others.join(", ")),
    }
}
