//! Tokens, arranged so that `graphql_parser` reads them as the specification means them.
//!
//! Every token gets a line of its own, so that the number of a line tells the token and with it the place in the
//! client's text. Literals that the parser would read wrongly, or not at all, are replaced by a string that holds the
//! token's number (`restore.rs` puts their values back). What its tree has no room for is taken out and
//! told in [`Aside`], or left out where it says nothing.

use std::collections::HashMap;
use std::fmt::Write;

use crate::error::graphql_error::Location;
use crate::query::parse::ParseError;
use crate::query::tokens::{Kind, Token, TokenError, Tokens};

/// The most brackets that may be open at once. It is the parser's own bound, which keeps its recursion small.
pub(super) const MOST_OPEN_BRACKETS: usize = 50;

/// Bytes that most tokens take with their line's end.
const USUAL_LINE: usize = 8;

/// A text for the parser.
#[derive(Debug)]
pub(super) struct Arranged<'a> {
    /// A token a line.
    pub(super) text: String,
    /// The number of the token on each line, beginning with the first.
    pub(super) lines: Vec<usize>,
    /// What was taken out.
    pub(super) aside: Aside<'a>,
}

/// What a document says that its tree has no room for.
#[derive(Debug, Default)]
pub(super) struct Aside<'a> {
    /// Directives on variables: the name of each, and where it stands.
    pub(super) variable_directives: Vec<(&'a str, Location)>,
    /// Fields that an input object names a second time: the name, where it stands first and where again.
    pub(super) repeated_input_fields: Vec<(&'a str, [Location; 2])>,
}

/// Arranges tokens. What is of the grammar stays so, and what is not stays so.
pub(super) fn arrange<'a>(tokens: &Tokens<'a>) -> Result<Arranged<'a>, TokenError> {
    let mut arranger = Arranger {
        tokens: &tokens.list,
        open: Vec::new(),
        arranged: Arranged {
            text: String::with_capacity(tokens.list.len() * USUAL_LINE),
            lines: Vec::with_capacity(tokens.list.len()),
            aside: Aside::default(),
        },
    };
    let mut next = 0;
    while next < tokens.list.len() {
        next = arranger.step(next)?;
    }
    Ok(arranger.arranged)
}

/// An open bracket, by what stands in it.
enum Bracket<'a> {
    Selections,
    Variables,
    Arguments,
    List,
    Object(HashMap<&'a str, Location>),
}

struct Arranger<'t, 'a> {
    tokens: &'t [Token<'a>],
    open: Vec<Bracket<'a>>,
    arranged: Arranged<'a>,
}

impl<'a> Arranger<'_, 'a> {
    /// Takes the token of that number, and perhaps some behind it; tells the next.
    fn step(&mut self, at: usize) -> Result<usize, TokenError> {
        let token = &self.tokens[at];
        if self.is_description(at) {
            return Ok(at + 1);
        }
        if let Some(end) = self.variable_directive(at) {
            return Ok(end);
        }
        let name = self.tokens.get(at + 1).filter(|_| self.begins_definition(at) && token.is_name("fragment"));
        if let Some(name) = name.filter(|name| name.is_name("on")) {
            return Err((name.location, ParseError::FragmentNamedOn));
        }
        if token.opens() {
            if self.open.len() == MOST_OPEN_BRACKETS {
                return Err((token.location, ParseError::TooDeep));
            }
            let bracket = self.bracket(at);
            self.open.push(bracket);
        } else if token.closes() {
            self.open.pop();
        } else {
            self.note_input_field(at);
        }
        self.keep(at);
        Ok(at + 1)
    }

    fn before(&self, at: usize) -> Option<&Token<'a>> {
        at.checked_sub(1).and_then(|before| self.tokens.get(before))
    }

    fn begins_definition(&self, at: usize) -> bool {
        self.open.is_empty()
            && self
                .before(at)
                .is_none_or(|before| before.is("}") || matches!(before.kind, Kind::String | Kind::BlockString))
    }

    /// Whether it is a string before an operation, a fragment or a variable, which describes it to readers.
    fn is_description(&self, at: usize) -> bool {
        if !matches!(self.tokens[at].kind, Kind::String | Kind::BlockString) {
            return false;
        }
        let Some(next) = self.tokens.get(at + 1) else { return false };
        let before = self.before(at);
        match self.open.last() {
            None => {
                let described = ["query", "mutation", "subscription", "fragment"];
                before.is_none_or(|before| before.is("}")) && described.iter().any(|keyword| next.is_name(keyword))
            }
            Some(Bracket::Variables) => next.is("$") && !before.is_some_and(|before| before.is("=") || before.is(":")),
            Some(_) => false,
        }
    }

    /// Takes a directive on a variable aside; tells where it ends. One that stands elsewhere in a definition is left for
    /// the grammar to refuse.
    fn variable_directive(&mut self, at: usize) -> Option<usize> {
        let is_one = matches!(self.open.last(), Some(Bracket::Variables)) && self.tokens[at].is("@");
        let name = self.tokens.get(at + 1).filter(|name| is_one && name.kind == Kind::Name)?;
        let end = match self.tokens.get(at + 2) {
            Some(bracket) if bracket.is("(") => self.arguments(at + 3)?,
            _ => at + 2,
        };
        let begins = ["(", "$", ":", "=", "["];
        let follows = self.before(at).is_some_and(|before| !begins.iter().any(|begin| before.is(begin)));
        let is_last = self.tokens.get(end).is_some_and(|next| {
            next.is("$") || next.is("@") || next.is(")") || matches!(next.kind, Kind::String | Kind::BlockString)
        });
        if follows && is_last {
            self.arranged.aside.variable_directives.push((name.text, self.tokens[at].location));
            Some(end)
        } else {
            None
        }
    }

    /// Where constant arguments end, of which the first begins at that token.
    fn arguments(&self, at: usize) -> Option<usize> {
        let first = self.named_constant(at, MOST_OPEN_BRACKETS)?;
        self.many(first, ")", |at| self.named_constant(at, MOST_OPEN_BRACKETS))
    }

    /// Where a constant with its name ends, an argument or a field of an object; `depth` brackets may be open in it.
    fn named_constant(&self, at: usize, depth: usize) -> Option<usize> {
        let is_named = self.tokens.get(at)?.kind == Kind::Name && self.tokens.get(at + 1)?.is(":");
        if is_named { self.constant(at + 2, depth) } else { None }
    }

    fn constant(&self, at: usize, depth: usize) -> Option<usize> {
        let token = self.tokens.get(at)?;
        if token.kind != Kind::Punctuator {
            return Some(at + 1);
        }
        let depth = depth.checked_sub(1)?;
        match token.text {
            "[" => self.many(at + 1, "]", |at| self.constant(at, depth)),
            "{" => self.many(at + 1, "}", |at| self.named_constant(at, depth)),
            _ => None,
        }
    }

    /// Where the closing bracket stands behind everything that begins at a token; `end_of` tells where each part ends.
    fn many(&self, mut at: usize, closing: &str, end_of: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        while !self.tokens.get(at)?.is(closing) {
            at = end_of(at)?;
        }
        Some(at + 1)
    }

    fn bracket(&self, at: usize) -> Bracket<'a> {
        let before = self.before(at);
        match self.tokens[at].text {
            "[" => Bracket::List,
            "(" => {
                let of_directive = at.checked_sub(2).is_some_and(|at| self.tokens[at].is("@"));
                if self.open.is_empty() && !of_directive { Bracket::Variables } else { Bracket::Arguments }
            }
            _ => {
                let is_value = before.is_some_and(|before| before.is(":") || before.is("="));
                if is_value || matches!(self.open.last(), Some(Bracket::List)) {
                    Bracket::Object(HashMap::new())
                } else {
                    Bracket::Selections
                }
            }
        }
    }

    /// The parser keeps the last of the fields of one name; that there were two is told here.
    fn note_input_field(&mut self, at: usize) {
        let Some(Bracket::Object(names)) = self.open.last_mut() else { return };
        let token = &self.tokens[at];
        if token.kind == Kind::Name && self.tokens.get(at + 1).is_some_and(|next| next.is(":")) {
            let first = *names.entry(token.text).or_insert(token.location);
            if first != token.location {
                self.arranged.aside.repeated_input_fields.push((token.text, [first, token.location]));
            }
        }
    }

    fn keep(&mut self, at: usize) {
        let token = &self.tokens[at];
        let as_it_is = match token.kind {
            Kind::Punctuator | Kind::Name => true,
            Kind::Int => token.text.parse::<i64>().is_ok(),
            Kind::Float | Kind::String | Kind::BlockString => false,
        };
        let text = &mut self.arranged.text;
        self.arranged.lines.push(at);
        if as_it_is {
            text.push_str(token.text);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "\"{at}\"");
        }
        text.push('\n');
    }
}
