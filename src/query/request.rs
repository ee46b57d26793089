//! A client's request: a document, the name of an operation, variables.

use serde_json::{Map, Value};

/// The values of an operation's variables, by name, as they came in JSON.
pub type Variables = Map<String, Value>;

/// A GraphQL request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The text of the document.
    pub query: String,
    /// The name of the operation to run; required if the document has several.
    pub operation_name: Option<String>,
    /// The values of the operation's variables.
    pub variables: Variables,
}
