//! Text to a document.

use std::fmt;

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::refusal::{Code, Location, Reason, Refusal, Refusals};

/// A document as it was written. It borrows the text and never leaves this room.
#[derive(Debug)]
pub struct Document<'a> {
    pub(super) definitions: Vec<ast::Definition<'a, &'a str>>,
}

/// Reads a document.
pub fn parse(text: &str) -> Result<Document<'_>, Refusals> {
    match ast::parse_query::<&str>(text) {
        Ok(document) => Ok(Document { definitions: document.definitions }),
        Err(error) => {
            let (location, message) = syntax_error(&error.to_string());
            Err(Refusals::one(Refusal::new(&ParseError::Syntax(message), location)))
        }
    }
}

/// Why a text is no document.
#[derive(Debug)]
enum ParseError {
    /// It is not of the grammar: what was found and what was expected.
    Syntax(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => write!(f, "Syntax error: {message}"),
        }
    }
}

impl Reason for ParseError {
    fn code(&self) -> Code {
        Code::GraphqlParseFailed
    }
}

/// The parser's report comes as lines of text: `… Parse error at 1:7`, then what it met and what it expected.
fn syntax_error(report: &str) -> (Option<Location>, String) {
    let mut lines = report.lines();
    let place = lines.next().and_then(|line| line.rsplit_once(" at ")).and_then(|(_, place)| place.split_once(':'));
    let location = place.and_then(|(line, column)| {
        Some(Location { line: line.trim().parse().ok()?, column: column.trim().parse().ok()? })
    });
    let facts: Vec<_> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    let message = if facts.is_empty() { "the text is not a GraphQL document".to_owned() } else { facts.join("; ") };
    (location, message)
}

/// A position of the parser as a location of ours.
pub(super) fn location(position: Pos) -> Location {
    let number = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Location { line: number(position.line), column: number(position.column) }
}
