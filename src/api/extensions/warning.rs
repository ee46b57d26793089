//! `extensions.warnings` of GraphQL responses: values in search strings that are not in the vocabularies of their keys, and totals of
//! fewer rows than match.

use serde::Serialize;

use crate::execute::partial_results::PartialTotals;
use crate::vocabulary::UnknownValue;

/// An entry of `extensions.warnings`.
#[derive(Debug, Serialize)]
pub(crate) struct Warning<'a> {
    message: String,
    /// The path of the root field in the response.
    path: [&'a str; 1],
    #[serde(flatten)]
    cause: Cause<'a>,
}

/// What a warning is about.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Cause<'a> {
    UnknownValue {
        /// The search key.
        key: &'a str,
        value: &'a str,
        /// The most similar known value.
        #[serde(skip_serializing_if = "Option::is_none")]
        nearest: Option<&'a str>,
    },
    PartialTotals {
        /// How many rows were added up.
        rows: u32,
        /// The search key by whose ranges the rows can be added up in parts.
        #[serde(rename = "inPartsOf", skip_serializing_if = "Option::is_none")]
        in_parts_of: Option<&'a str>,
    },
}

impl<'a> From<&'a UnknownValue> for Warning<'a> {
    fn from(unknown: &'a UnknownValue) -> Self {
        let UnknownValue { path, key, value, .. } = unknown;
        let nearest = unknown.nearest();
        let message = match nearest {
            Some(nearest) => format!("`{value}` is no known value of `{key}`; did you mean `{nearest}`?"),
            None => format!("`{value}` is no known value of `{key}`"),
        };
        Self { message, path: [path], cause: Cause::UnknownValue { key, value, nearest } }
    }
}

impl<'a> From<PartialTotals<'a>> for Warning<'a> {
    fn from(PartialTotals { key, rows, in_parts_of }: PartialTotals<'a>) -> Self {
        let parts = in_parts_of.map(|key| format!("add up shorter ranges of `{key}`, or ")).unwrap_or_default();
        let message = format!(
            "more than {rows} rows match, and the groups have the first {rows} of them; {parts}go on with `after: endCursor` and add \
             the groups up"
        );
        Self { message, path: [key], cause: Cause::PartialTotals { rows, in_parts_of } }
    }
}
