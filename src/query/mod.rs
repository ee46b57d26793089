//! What is asked: from text to an operation whose every value is known.
//!
//! - [`parse`]: text → document
//! - [`validate`]: document → [`operation::Operation`], against the catalog; a rule a file
//! - [`bind`]: operation and variables → [`bind::BoundOperation`]; page sizes, search terms and cursors are read here
//!
//! `graphql_parser` is seen here and in the catalog alone.

pub mod bind;
mod nearest;
pub mod operation;
pub mod parse;
pub mod validate;

mod arrange;
mod restore;
mod strings;
mod tokens;

use serde_json::{Map, Value};

/// The values of an operation's variables, by name, as they came in JSON.
pub type Variables = Map<String, Value>;

/// What a client sends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The document.
    pub query: String,
    /// Which of its operations is meant, where it has several.
    pub operation_name: Option<String>,
    /// The values of its variables.
    pub variables: Variables,
}
