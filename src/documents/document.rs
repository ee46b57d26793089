//! An operation of a client with the fragments that it needs.

use std::fmt;

use crate::error::graphql_error::Location;
use crate::query::Request;
use crate::query::parse::definitions::Definition;
use crate::query::parse::print::print;

/// An operation with the fragments that it needs: what a client sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperationDocument {
    pub(crate) operation: Option<String>,
    /// The id by which a manifest names it.
    pub(crate) id: Option<String>,
    /// All of its definitions, each from a line of its own on.
    pub(crate) text: String,
    /// The file that it is from, as it is, unless the file has other operations, too.
    pub(super) file: Option<String>,
    pieces: Vec<Piece>,
}

/// Lines of a document that are lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// The first of them in the document.
    line: u32,
    file: String,
    /// The first of them in the file.
    file_line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The file's name; of an entry of a manifest, with `#` and the name of the operation.
    pub(crate) file: String,
    /// The line and the column, both from 1.
    pub(crate) location: Location,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.location.line, self.location.column)
    }
}

impl OperationDocument {
    /// The text of a file as it is.
    pub(super) fn whole(file: &str, id: Option<String>, operation: Option<String>, text: &str) -> Self {
        let piece = Piece { line: 1, file: file.to_owned(), file_line: 1 };
        Self { operation, id, text: text.to_owned(), file: None, pieces: vec![piece] }
    }

    /// A document without definitions.
    pub(super) fn new(operation: Option<String>, file: Option<String>) -> Self {
        Self { operation, id: None, text: String::new(), file, pieces: Vec::new() }
    }

    /// Adds a definition of a file, on lines of its own.
    pub(super) fn add(&mut self, file: &str, definition: &Definition) {
        let line = 1 + u32::try_from(self.text.lines().count()).unwrap_or(u32::MAX);
        self.pieces.push(Piece { line, file: file.to_owned(), file_line: definition.line });
        self.text.push_str(&definition.text);
        self.text.push('\n');
    }

    /// A request for it without variables.
    pub(crate) fn request(&self) -> Request {
        Request { query: self.text.clone(), operation_name: self.operation.clone(), ..Request::default() }
    }

    /// The texts whose hashes clients send in its place: of its file, and with the fragments of other files; each as it is, without spaces
    /// around it, and as graphql-js prints it.
    pub(crate) fn hashed_texts(&self) -> impl Iterator<Item = String> {
        [Some(&self.text), self.file.as_ref()].into_iter().flatten().flat_map(|text| {
            let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned();
            [text.clone(), trimmed].into_iter().chain(print(text).ok())
        })
    }

    /// The place of its first definition.
    pub(crate) fn start(&self) -> Place {
        self.place(Location { line: 1, column: 1 })
    }

    /// The place in a file of a location in the text.
    pub(crate) fn place(&self, location: Location) -> Place {
        let piece = self.pieces.iter().rev().find(|piece| piece.line <= location.line);
        let (file, line) = piece.map_or((String::new(), location.line), |piece| {
            (piece.file.clone(), location.line - piece.line + piece.file_line)
        });
        Place { file, location: Location { line, ..location } }
    }
}
