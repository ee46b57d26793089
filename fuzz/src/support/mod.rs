//! What targets share.
//!
//! - [`allocation`]: limits on what a function allocates
//! - [`catalog`]: the catalog that documents are checked against
//! - [`catalogs`]: the catalogs that documents are generated for
//! - [`document`]: prints documents, and compares them
//! - [`input`]: the parts of an input
//! - [`refusal`]: what every list of GraphQL errors fulfils

pub mod allocation;
pub mod catalog;
pub mod catalogs;
pub mod document;
pub mod input;
pub mod refusal;
