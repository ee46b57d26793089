//! Tokens → a text that `graphql_parser` reads as the specification demands.
//!
//! Each token gets a line of its own, so that a line number of the parser identifies a token, and with it a location in
//! the client's text. A literal that the parser would read wrongly or not at all becomes a string with the token's
//! index, which `restore` replaces by the literal's value. What the parser's tree cannot represent is left out;
//! [`AstOmissions`] lists it unless it is a description, which has no effect.

use std::collections::HashMap;
use std::fmt::Write;

use crate::error::graphql_error::Location;
use crate::query::document_limits::MAX_OPEN_BRACKETS;
use crate::query::parse::error::{ParseError, ParseErrorKind};
use crate::query::parse::lexer::{LexedTokens, Token, TokenKind};

/// The usual length of a token and its line terminator, in bytes.
const USUAL_LINE: usize = 8;

/// A text for the parser.
#[derive(Debug)]
pub(super) struct NormalizedText<'a> {
    /// The text, one token per line.
    pub(super) text: String,
    /// The index of the token on each line.
    pub(super) token_indexes: Vec<usize>,
    pub(super) omissions: AstOmissions<'a>,
}

/// The parts of a document that its tree cannot represent.
#[derive(Debug, Default)]
pub(in crate::query) struct AstOmissions<'a> {
    /// The directives on variables: names and locations.
    pub(in crate::query) variable_directives: Vec<(&'a str, Location)>,
    /// The fields that an input object has more than once: the name, its first location and the location of the
    /// repetition.
    pub(in crate::query) duplicate_input_fields: Vec<(&'a str, [Location; 2])>,
}

/// Normalizes tokens. The result conforms to the grammar if and only if the tokens do.
pub(super) fn normalize<'a>(tokens: &LexedTokens<'a>) -> Result<NormalizedText<'a>, ParseError> {
    let mut normalizer = Normalizer {
        tokens: &tokens.list,
        open_brackets: Vec::new(),
        normalized: NormalizedText {
            text: String::with_capacity(tokens.list.len() * USUAL_LINE),
            token_indexes: Vec::with_capacity(tokens.list.len()),
            omissions: AstOmissions::default(),
        },
    };
    let mut next = 0;
    while next < tokens.list.len() {
        next = normalizer.step(next)?;
    }
    Ok(normalizer.normalized)
}

/// An open bracket, by its contents.
enum Bracket<'a> {
    Selections,
    Variables,
    Arguments,
    List,
    /// An input object, with the locations of its fields.
    Object(HashMap<&'a str, Location>),
}

struct Normalizer<'t, 'a> {
    tokens: &'t [Token<'a>],
    open_brackets: Vec<Bracket<'a>>,
    normalized: NormalizedText<'a>,
}

impl<'a> Normalizer<'_, 'a> {
    /// Processes the token with this index, and sometimes the tokens after it. Returns the index of the next one.
    fn step(&mut self, index: usize) -> Result<usize, ParseError> {
        let token = &self.tokens[index];
        if self.is_description(index) {
            return Ok(index + 1);
        }
        if let Some(end) = self.variable_directive(index) {
            return Ok(end);
        }
        let is_fragment = self.begins_definition(index) && token.is_name("fragment");
        let fragment_name = self.tokens.get(index + 1).filter(|_| is_fragment);
        if let Some(name) = fragment_name.filter(|name| name.is_name("on")) {
            return Err(ParseError { location: name.location, kind: ParseErrorKind::FragmentNamedOn });
        }
        if token.is_opening_bracket() {
            if self.open_brackets.len() == MAX_OPEN_BRACKETS {
                return Err(ParseError { location: token.location, kind: ParseErrorKind::TooDeep });
            }
            let bracket = self.bracket(index);
            self.open_brackets.push(bracket);
        } else if token.is_closing_bracket() {
            self.open_brackets.pop();
        } else {
            self.record_input_field(index);
        }
        self.write(index);
        Ok(index + 1)
    }

    fn before(&self, index: usize) -> Option<&Token<'a>> {
        index.checked_sub(1).and_then(|before| self.tokens.get(before))
    }

    fn begins_definition(&self, index: usize) -> bool {
        self.open_brackets.is_empty()
            && self.before(index).is_none_or(|before| before.is_punctuator("}") || before.is_string())
    }

    /// Whether the token is the description of an operation, a fragment or a variable.
    fn is_description(&self, index: usize) -> bool {
        if !self.tokens[index].is_string() {
            return false;
        }
        let Some(next) = self.tokens.get(index + 1) else { return false };
        let before = self.before(index);
        match self.open_brackets.last() {
            None => {
                let keywords = ["query", "mutation", "subscription", "fragment"];
                before.is_none_or(|before| before.is_punctuator("}"))
                    && keywords.iter().any(|keyword| next.is_name(keyword))
            }
            Some(Bracket::Variables) => {
                next.is_punctuator("$")
                    && !before.is_some_and(|before| before.is_punctuator("=") || before.is_punctuator(":"))
            }
            Some(Bracket::Selections | Bracket::Arguments | Bracket::List | Bracket::Object(_)) => false,
        }
    }

    /// Omits a directive on a variable and returns the index after its last token. `None` if there is no such
    /// directive; one in another part of a variable's definition is left in, so that the parser rejects it.
    fn variable_directive(&mut self, index: usize) -> Option<usize> {
        let is_directive =
            matches!(self.open_brackets.last(), Some(Bracket::Variables)) && self.tokens[index].is_punctuator("@");
        let name = self.tokens.get(index + 1).filter(|name| is_directive && name.kind == TokenKind::Name)?;
        let end = match self.tokens.get(index + 2) {
            Some(bracket) if bracket.is_punctuator("(") => self.arguments(index + 3)?,
            _ => index + 2,
        };
        let incomplete = ["(", "$", ":", "=", "["];
        let follows_type_or_default =
            self.before(index).is_some_and(|before| !incomplete.iter().any(|token| before.is_punctuator(token)));
        let ends_definition = self.tokens.get(end).is_some_and(|next| {
            next.is_punctuator("$") || next.is_punctuator("@") || next.is_punctuator(")") || next.is_string()
        });
        if follows_type_or_default && ends_definition {
            self.normalized.omissions.variable_directives.push((name.text, self.tokens[index].location));
            Some(end)
        } else {
            None
        }
    }

    /// The index after constant arguments in brackets. The first argument, which must exist, begins at that token.
    fn arguments(&self, index: usize) -> Option<usize> {
        let second = self.named_constant(index, MAX_OPEN_BRACKETS)?;
        self.many(second, ")", |index| self.named_constant(index, MAX_OPEN_BRACKETS))
    }

    /// The index after a constant with its name: an argument, or a field of an input object. `depth` limits open
    /// brackets.
    fn named_constant(&self, index: usize, depth: usize) -> Option<usize> {
        let is_named =
            self.tokens.get(index)?.kind == TokenKind::Name && self.tokens.get(index + 1)?.is_punctuator(":");
        if is_named { self.constant(index + 2, depth) } else { None }
    }

    fn constant(&self, index: usize, depth: usize) -> Option<usize> {
        let token = self.tokens.get(index)?;
        if token.kind != TokenKind::Punctuator {
            return Some(index + 1);
        }
        let depth = depth.checked_sub(1)?;
        match token.text {
            "[" => self.many(index + 1, "]", |index| self.constant(index, depth)),
            "{" => self.many(index + 1, "}", |index| self.named_constant(index, depth)),
            _ => None,
        }
    }

    /// The index after the closing bracket of a list of items that begins at that token. `end_of` returns the index after an item.
    fn many(&self, mut index: usize, closing: &str, end_of: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        while !self.tokens.get(index)?.is_punctuator(closing) {
            index = end_of(index)?;
        }
        Some(index + 1)
    }

    fn bracket(&self, index: usize) -> Bracket<'a> {
        let before = self.before(index);
        match self.tokens[index].text {
            "[" => Bracket::List,
            "(" => {
                let of_directive = index.checked_sub(2).is_some_and(|at_sign| self.tokens[at_sign].is_punctuator("@"));
                if self.open_brackets.is_empty() && !of_directive { Bracket::Variables } else { Bracket::Arguments }
            }
            _ => {
                let is_value = before.is_some_and(|before| before.is_punctuator(":") || before.is_punctuator("="));
                if is_value || matches!(self.open_brackets.last(), Some(Bracket::List)) {
                    Bracket::Object(HashMap::new())
                } else {
                    Bracket::Selections
                }
            }
        }
    }

    /// The parser's tree has only the last of several fields with the same name.
    fn record_input_field(&mut self, index: usize) {
        let Some(Bracket::Object(names)) = self.open_brackets.last_mut() else { return };
        let token = &self.tokens[index];
        if token.kind == TokenKind::Name && self.tokens.get(index + 1).is_some_and(|next| next.is_punctuator(":")) {
            let first = *names.entry(token.text).or_insert(token.location);
            if first != token.location {
                self.normalized.omissions.duplicate_input_fields.push((token.text, [first, token.location]));
            }
        }
    }

    fn write(&mut self, index: usize) {
        let token = &self.tokens[index];
        let is_verbatim = match token.kind {
            TokenKind::Punctuator | TokenKind::Name => true,
            TokenKind::Int => token.text.parse::<i64>().is_ok(),
            TokenKind::Float | TokenKind::String | TokenKind::BlockString => false,
        };
        let text = &mut self.normalized.text;
        self.normalized.token_indexes.push(index);
        if is_verbatim {
            text.push_str(token.text);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "\"{index}\"");
        }
        text.push('\n');
    }
}
