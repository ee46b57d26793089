//! Manifests of persisted queries: Apollo's, and the object from hashes to texts that Relay's compiler and GraphQL Code Generator
//! write.

use serde_json::{Map, Value};
use thiserror::Error;

/// The format that Apollo's manifests name.
const APOLLO: &str = "apollo-persisted-query-manifest";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The id that clients send in place of the text.
    pub(crate) id: String,
    /// The operation's name, if the manifest tells it.
    pub(crate) name: Option<String>,
    pub(crate) text: String,
}

#[derive(Debug, Error)]
pub(crate) enum ManifestError {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("a JSON object is wanted")]
    NotAnObject,
    #[error("unknown format {0}; known are \"{APOLLO}\" and an object of hashes and texts")]
    Format(Value),
    #[error("the entry {0} is no text with an id")]
    Entry(String),
}

/// The entries of a manifest, in its order of ids if it is an object.
pub(crate) fn entries(text: &str) -> Result<Vec<Entry>, ManifestError> {
    let Value::Object(manifest) = serde_json::from_str(text)? else { return Err(ManifestError::NotAnObject) };
    match manifest.get("format") {
        Some(Value::String(format)) if format == APOLLO => {
            let operations = manifest.get("operations").and_then(Value::as_array);
            let operations = operations.ok_or_else(|| ManifestError::Entry("\"operations\"".to_owned()))?;
            operations.iter().map(apollo).collect()
        }
        Some(other) if manifest.contains_key("operations") => Err(ManifestError::Format(other.clone())),
        _ => by_hash(manifest),
    }
}

fn apollo(operation: &Value) -> Result<Entry, ManifestError> {
    let text = |key: &str| operation.get(key).and_then(Value::as_str).map(str::to_owned);
    match (text("id"), text("body")) {
        (Some(id), Some(body)) => Ok(Entry { id, name: text("name"), text: body }),
        _ => Err(ManifestError::Entry(operation.to_string())),
    }
}

fn by_hash(manifest: Map<String, Value>) -> Result<Vec<Entry>, ManifestError> {
    let entry = |(id, value)| match value {
        Value::String(text) => Ok(Entry { id, name: None, text }),
        _ => Err(ManifestError::Entry(format!("\"{id}\""))),
    };
    manifest.into_iter().map(entry).collect()
}
