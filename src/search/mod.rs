//! The search string of a collection root. `grammar/search.ebnf` is its grammar.
//!
//! This module does not use the keys that a root declares: [`crate::query::bind`] checks keys and operators and converts
//! values.
//!
//! - `term`: the parts of a search string
//! - [`parse`]: text → terms
//! - `error`: why a search string cannot be used
//! - `bounds`: how large search strings can be

pub(crate) mod bounds;
mod error;
mod parse;
mod term;

pub use error::{SearchError, SearchErrorKind};
pub use parse::parse;
pub use term::{Comparator, Term, TermOperator};
