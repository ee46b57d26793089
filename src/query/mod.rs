//! From the text of a query to an operation whose values are all known.
//!
//! - `request`: the text, the operation's name and the variables, as a client sends them
//! - [`parse`]: text → document
//! - [`validate`]: document → [`operation::Operation`], checked against the catalog; a file per validation rule
//! - [`bind`]: operation and variables → [`bind::selection::BoundOperation`]; reads page sizes, search strings and
//!   cursors
//! - [`operation`]: a valid operation
//! - [`export`]: an operation whose collection is fetched page by page
//! - `document_limits`: how large a document can be, regardless of the caller

pub mod bind;
pub(crate) mod document_limits;
pub mod export;
pub mod operation;
pub mod parse;
mod request;
pub mod validate;

pub use request::{Request, Variables};
