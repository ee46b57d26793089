//! From the text of a query to an operation whose values are all known.
//!
//! - `request`: what a client sends
//! - [`parse`]: text → document
//! - [`validate`]: document → [`operation::Operation`], checked against the catalog; a file per validation rule
//! - [`bind`]: operation and variables → [`bind::selection::BoundOperation`]; reads page sizes, search strings and
//!   cursors
//! - [`export`]: an operation whose collection is fetched page by page
//! - `document_limits`: how large a document can be, regardless of the caller
//!
//! `graphql_parser` is used here and in the catalog alone.

pub mod bind;
pub(crate) mod document_limits;
pub mod export;
pub mod operation;
pub mod parse;
mod request;
pub mod validate;

pub use request::{Request, Variables};
