//! The errors of a load: of a whole file, of its XML, of a row and of a value.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::load::data_format::ROOT_ELEMENTS;

/// Why a file was not loaded. Nothing of it is in the database.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{file} cannot be read")]
    Read {
        /// The file's name.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// A folder without a readable `LOAD_ORDER.txt`.
    #[error("{order} cannot be read: it names a folder's files in the order to load them; without it, name the files")]
    NoOrder {
        /// The path of `LOAD_ORDER.txt`.
        order: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file is not well-formed. The rows before the error are rolled back.
    #[error("{file}:{}: {}", error.line, error.kind)]
    Xml {
        /// The file's name.
        file: String,
        /// The error and its line.
        error: XmlError,
    },
    /// The reading thread stopped before the end of the file.
    #[error("reading {file} was broken off")]
    BrokenOff {
        /// The file's name.
        file: String,
    },
    /// The database lacks the functions that finish a load.
    #[error(
        "the database lacks the tables of orders: `orderql migrate` adds them (without `--only service`, and without a schema \
         file of other tables)"
    )]
    NotMigrated,
    /// A database error that no row's content caused.
    #[error("the database failed")]
    Database(#[from] tokio_postgres::Error),
}

/// The place and the reason of an error in a file: it is not well-formed XML, or not a data file.
#[derive(Debug, Error)]
#[error("line {line}: {kind}")]
pub struct XmlError {
    /// The line on which the offending markup begins, from 1.
    pub line: u64,
    /// The kind of error.
    #[source]
    pub(crate) kind: XmlErrorKind,
}

/// Why a file is not well-formed XML or not a data file.
#[derive(Debug, Error)]
pub(crate) enum XmlErrorKind {
    #[error("{0}")]
    Xml(#[from] quick_xml::Error),
    #[error("{0}")]
    Attribute(#[from] quick_xml::events::attributes::AttrError),
    /// The root element is not the root element of a data file.
    #[error("the root element is <{0}>; a data file has {ROOT_ELEMENTS}")]
    Root(String),
    #[error("there is no root element; a data file has {ROOT_ELEMENTS}")]
    Empty,
    #[error("there is text outside the root element")]
    TextOutsideRoot,
    #[error("<{0}> follows the end of the root element")]
    AfterRoot(String),
    #[error("the file ends inside <{0}>")]
    Unclosed(String),
    #[error("the encoding is {0}; save the file as UTF-8")]
    Encoding(String),
    #[error("<{inner}> is inside another wrapper")]
    NestedWrapper { inner: String },
    #[error("&{0}; is not one of XML's own five entities")]
    UnknownReference(String),
}

/// Why a row was not loaded.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum RowError {
    /// A part of the primary key is missing. OFBiz would take a single-column key from its sequence; loaded twice, that
    /// makes two rows, so the file must contain the key.
    #[error("{column} is part of the key and is missing or empty")]
    MissingKey {
        /// The key's column.
        column: String,
    },
    /// A value does not fit its column.
    #[error("{field}: {error}")]
    Value {
        /// The field's name in the file.
        field: String,
        /// The error in the value.
        error: ValueError,
    },
    /// A field contains an element instead of text.
    #[error("{field} holds an element; a field holds text only (write `<` as `&lt;` or use CDATA)")]
    NestedElement {
        /// The field's name in the file.
        field: String,
    },
    /// PostgreSQL rejected the row: a row that it references is missing, a column must not be null, and so on.
    #[error("{message}")]
    Rejected {
        /// PostgreSQL's message and detail.
        message: String,
        /// The SQLSTATE.
        code: String,
    },
}

/// Why a value does not fit its column.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum ValueError {
    /// The text is too long.
    #[error("{length} characters, where {width} fit")]
    TooLong {
        /// The text's length in characters.
        length: usize,
        /// The maximum.
        width: usize,
    },
    /// A NUL character, which PostgreSQL cannot store.
    #[error("a NUL character")]
    Nul,
    /// The text is not of the column's type.
    #[error("`{value}` is not {expected}")]
    WrongType {
        /// The text, truncated if long.
        value: String,
        /// The expected format.
        expected: &'static str,
    },
}
