//! The limits of all search strings of a request together.

use std::fmt;

use crate::search::bounds::{MAX_REQUEST_BYTES, MAX_REQUEST_TERMS, MAX_REQUEST_VALUES};

/// A measure of search strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchSize {
    /// Their text.
    Bytes,
    /// Their terms.
    Terms,
    /// The distinct values of their terms.
    Values,
}

impl SearchSize {
    /// The most that a request may have.
    pub(crate) fn max(self) -> usize {
        match self {
            Self::Bytes => MAX_REQUEST_BYTES,
            Self::Terms => MAX_REQUEST_TERMS,
            Self::Values => MAX_REQUEST_VALUES,
        }
    }

    /// The name of the maximum in an error's extensions.
    pub(crate) fn max_name(self) -> &'static str {
        match self {
            Self::Bytes => "maxBytes",
            Self::Terms => "maxTerms",
            Self::Values => "maxValues",
        }
    }
}

impl fmt::Display for SearchSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Terms => "terms",
            Self::Values => "values",
        })
    }
}
