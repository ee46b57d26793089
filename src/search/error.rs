//! Why a search string cannot be used.

use thiserror::Error;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::excerpt::excerpt;
use crate::search::bounds::{MAX_TERMS, MAX_WORDS};

/// An invalid term of a search string.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the search term `{term}` at offset {offset} {kind}")]
pub struct SearchError {
    /// The term as it was written, cut to a length fit for a message.
    pub term: String,
    /// The term's position in the search string, in bytes.
    pub offset: usize,
    /// The kind of error.
    pub kind: SearchErrorKind,
}

/// Why a term is invalid. The message completes a sentence that begins with the term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SearchErrorKind {
    /// The term has no colon.
    #[error("is not of the form key:value; a value with a space is put in quotes")]
    NoColon,
    /// The term has no colon, and is one of the words and signs by which other languages combine terms.
    #[error(
        "is not of the form key:value; a space between terms means AND; there is no OR, no NOT and no grouping; \
         key:a,b,c matches any of several values"
    )]
    BooleanSyntax,
    /// Nothing precedes the colon.
    #[error("has no key before its colon; write key:value")]
    NoKey,
    /// Nothing follows the colon or the comparator.
    #[error("has no value; write key:value or leave the term out")]
    EmptyValue,
    /// An in-list has an empty element.
    #[error("has an empty element in its list; write key:a,b,c")]
    EmptyElement,
    /// A range comparator has a list.
    #[error("compares a range with a list; a range takes one value")]
    RangeOfList,
    /// An element of a list, other than the first, begins with an operator.
    #[error("has an operator inside its list; put an element in quotes if it begins with one of < > = ! ~")]
    OperatorInList,
    /// A value without quotes contains an asterisk.
    #[error("has a `*`, and there is no pattern matching; a value in quotes is taken literally")]
    Pattern,
    /// More than `MAX_TERMS`.
    #[error("is one too many; at most {} terms are taken", MAX_TERMS)]
    TooManyTerms,
    /// A search in text for more than `MAX_WORDS`.
    #[error("has too many words; at most {} are searched for", MAX_WORDS)]
    TooManyWords,
    /// The value does not have the key's type: what the type accepts.
    #[error("has a value that its key cannot take; expected {0}")]
    InvalidValue(&'static str),
}

impl SearchErrorKind {
    fn expected(self) -> String {
        match self {
            Self::NoColon | Self::BooleanSyntax | Self::NoKey | Self::EmptyValue => "key:value".to_owned(),
            Self::EmptyElement => "key:a,b,c".to_owned(),
            Self::RangeOfList => "a range of one value".to_owned(),
            Self::OperatorInList => "elements without an operator".to_owned(),
            Self::Pattern => "a value without `*`, or in quotes".to_owned(),
            Self::TooManyTerms => format!("at most {MAX_TERMS} terms"),
            Self::TooManyWords => format!("at most {MAX_WORDS} words"),
            Self::InvalidValue(expected) => expected.to_owned(),
        }
    }
}

impl SearchError {
    /// An error in the term with that text.
    pub fn new(text: &str, offset: usize, kind: SearchErrorKind) -> Self {
        Self { term: excerpt(text), offset, kind }
    }
}

impl Diagnostic for SearchError {
    fn code(&self) -> ErrorCode {
        match self.kind {
            // Each of the terms, or words, is well-formed.
            SearchErrorKind::TooManyTerms | SearchErrorKind::TooManyWords => ErrorCode::BadUserInput,
            SearchErrorKind::NoColon
            | SearchErrorKind::BooleanSyntax
            | SearchErrorKind::NoKey
            | SearchErrorKind::EmptyValue
            | SearchErrorKind::EmptyElement
            | SearchErrorKind::RangeOfList
            | SearchErrorKind::OperatorInList
            | SearchErrorKind::Pattern
            | SearchErrorKind::InvalidValue(_) => ErrorCode::MalformedQuery,
        }
    }

    fn extensions(&self) -> ErrorExtensions {
        let mut extensions = ErrorExtensions::new();
        extensions.insert("term".to_owned(), self.term.clone().into());
        extensions.insert("offset".to_owned(), self.offset.into());
        extensions.insert("expected".to_owned(), self.kind.expected().into());
        extensions
    }
}
