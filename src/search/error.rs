//! Why a search string cannot be used.

use thiserror::Error;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::excerpt::excerpt;
use crate::search::bounds::{MAX_ELEMENTS, MAX_LENGTH, MAX_TERMS};

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
    #[error("is not of the form key:value; a value cannot contain a space")]
    NoColon,
    /// The text before the colon is not a key.
    #[error("has no key before its colon; write key:value")]
    InvalidKey,
    /// Nothing follows the colon or the comparator.
    #[error("has no value; write key:value or leave the term out")]
    EmptyValue,
    /// An in-list has an empty element.
    #[error("has an empty element in its list; write key:a,b,c")]
    EmptyElement,
    /// A range comparator has a list.
    #[error("compares a range with a list; a range takes one value")]
    RangeOfList,
    /// More than `MAX_TERMS`.
    #[error("is one too many; at most {} terms are taken", MAX_TERMS)]
    TooManyTerms,
    /// More than `MAX_ELEMENTS`.
    #[error("lists too much; at most {} elements are taken", MAX_ELEMENTS)]
    TooManyElements,
    /// The search string exceeds `MAX_LENGTH`.
    #[error("is in a string of more than {} bytes; ask in several queries", MAX_LENGTH)]
    TooLong,
    /// The value does not have the key's type: what the type accepts.
    #[error("has a value that its key cannot take; expected {0}")]
    InvalidValue(&'static str),
}

impl SearchErrorKind {
    fn expected(self) -> String {
        match self {
            Self::NoColon | Self::InvalidKey | Self::EmptyValue => "key:value".to_owned(),
            Self::EmptyElement => "key:a,b,c".to_owned(),
            Self::RangeOfList => "a range of one value".to_owned(),
            Self::TooManyTerms => format!("at most {MAX_TERMS} terms"),
            Self::TooManyElements => format!("at most {MAX_ELEMENTS} elements"),
            Self::TooLong => format!("at most {MAX_LENGTH} bytes"),
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
        ErrorCode::MalformedQuery
    }

    fn extensions(&self) -> ErrorExtensions {
        let mut extensions = ErrorExtensions::new();
        extensions.insert("term".to_owned(), self.term.clone().into());
        extensions.insert("offset".to_owned(), self.offset.into());
        extensions.insert("expected".to_owned(), self.kind.expected().into());
        extensions
    }
}
