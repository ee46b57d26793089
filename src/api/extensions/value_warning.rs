//! `extensions.warnings` of GraphQL responses: values in search strings that are not in the vocabularies of their keys.

use serde::Serialize;

use crate::vocabulary::UnknownValue;

/// An entry of `extensions.warnings`.
#[derive(Debug, Serialize)]
pub(crate) struct ValueWarning<'a> {
    message: String,
    /// The path of the connection in the response.
    path: [&'a str; 1],
    /// The search key.
    key: &'a str,
    value: &'a str,
    /// The most similar known value.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'a str>,
}

impl<'a> From<&'a UnknownValue> for ValueWarning<'a> {
    fn from(unknown: &'a UnknownValue) -> Self {
        let UnknownValue { path, key, value, .. } = unknown;
        let nearest = unknown.nearest();
        let message = match nearest {
            Some(nearest) => format!("`{value}` is no known value of `{key}`; did you mean `{nearest}`?"),
            None => format!("`{value}` is no known value of `{key}`"),
        };
        Self { message, path: [path], key, value, nearest }
    }
}
