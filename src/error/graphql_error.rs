//! GraphQL errors as in the GraphQL specification, and the non-empty list of them that rejects a query.

use std::fmt;
use std::slice;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};

/// Errors that one response reports at most.
pub const MAX_ERRORS: usize = 20;

/// A location in a document: line and column, both counted from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// One error, with its locations in the document.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphqlError {
    /// The stable code.
    pub code: ErrorCode,
    /// The mistake and how to correct it, for people.
    pub message: String,
    /// The locations, as far as they are known.
    pub locations: Vec<Location>,
    /// The facts in `extensions` beside the code.
    pub extensions: ErrorExtensions,
}

impl GraphqlError {
    /// The diagnostic at these locations.
    pub fn new(diagnostic: &impl Diagnostic, locations: impl IntoIterator<Item = Location>) -> Self {
        Self {
            code: diagnostic.code(),
            message: diagnostic.to_string(),
            locations: locations.into_iter().collect(),
            extensions: diagnostic.extensions(),
        }
    }

    /// About how much memory it takes, in bytes.
    fn size(&self) -> usize {
        let extensions: usize = self.extensions.iter().map(|(name, value)| name.len() + value_size(value)).sum();
        size_of::<Self>() + self.message.len() + size_of_val(self.locations.as_slice()) + extensions
    }
}

/// Serializes as an entry of a response's `errors`: `{"message", "locations", "extensions": {"code", …}}`.
impl Serialize for GraphqlError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Entry<'a> {
            message: &'a str,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            locations: &'a [Location],
            extensions: Extensions<'a>,
        }
        #[derive(Serialize)]
        struct Extensions<'a> {
            code: &'a str,
            #[serde(flatten)]
            others: &'a ErrorExtensions,
        }
        let Self { code, message, locations, extensions } = self;
        let extensions = Extensions { code: code.as_str(), others: extensions };
        Entry { message, locations, extensions }.serialize(serializer)
    }
}

/// A non-empty list of errors in document order, without repetitions, [`MAX_ERRORS`] at most. Cloning is cheap, and all
/// clones share one serialization.
#[derive(Debug, Clone)]
pub struct GraphqlErrors(Arc<ErrorParts>);

#[derive(Debug)]
struct ErrorParts {
    errors: Vec<GraphqlError>,
    /// Made by the first response that needs it.
    json: OnceLock<Box<RawValue>>,
}

impl GraphqlErrors {
    /// The list of this one error.
    pub fn one(error: GraphqlError) -> Self {
        Self::of(vec![error])
    }

    fn of(errors: Vec<GraphqlError>) -> Self {
        Self(Arc::new(ErrorParts { errors, json: OnceLock::new() }))
    }

    /// Sorts the errors by location, drops repetitions and cuts the list. `None` if there are no errors.
    pub fn collect(mut errors: Vec<GraphqlError>) -> Option<Self> {
        errors.sort_by(|a, b| a.locations.first().cmp(&b.locations.first()));
        let mut distinct: Vec<GraphqlError> = Vec::with_capacity(errors.len().min(MAX_ERRORS));
        for error in errors {
            if distinct.len() == MAX_ERRORS {
                break;
            }
            if !distinct.contains(&error) {
                distinct.push(error);
            }
        }
        (!distinct.is_empty()).then(|| Self::of(distinct))
    }

    /// `Ok` if there are no errors.
    pub fn check(errors: Vec<GraphqlError>) -> Result<(), Self> {
        Self::collect(errors).map_or(Ok(()), Err)
    }

    /// About how much memory they take, in bytes. Their serialization counts as much as they do themselves.
    pub fn bytes(&self) -> usize {
        2 * self.iter().map(GraphqlError::size).sum::<usize>()
    }

    /// The errors in document order.
    pub fn iter(&self) -> slice::Iter<'_, GraphqlError> {
        self.0.errors.iter()
    }

    /// The first error. Its code decides the status of the response.
    pub fn first(&self) -> &GraphqlError {
        &self.0.errors[0]
    }
}

impl PartialEq for GraphqlErrors {
    fn eq(&self, other: &Self) -> bool {
        self.0.errors == other.0.errors
    }
}

impl Serialize for GraphqlErrors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Writing to memory cannot fail, and the keys of extensions are strings.
        self.0.json.get_or_init(|| to_raw_value(&self.0.errors).unwrap_or_default()).serialize(serializer)
    }
}

impl<'a> IntoIterator for &'a GraphqlErrors {
    type Item = &'a GraphqlError;
    type IntoIter = slice::Iter<'a, GraphqlError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for GraphqlErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            if let Some(Location { line, column }) = error.locations.first() {
                write!(f, "{line}:{column}: ")?;
            }
            write!(f, "{}: {}", error.code, error.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for GraphqlErrors {}

fn value_size(value: &Value) -> usize {
    let heap = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value_size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + value_size(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + heap
}
