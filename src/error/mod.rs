//! The stable error codes, and the non-empty list of refusals that a request may get, in document order.
//!
//! Every room of the pure half has its own error enum. What they share is [`Diagnostic`]: a code, a message and the facts
//! that let a caller mend the query. A [`GraphqlError`] is a reason together with its place in the document.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The facts of a refusal: what goes into an error's `extensions` beside its `code`.
pub type ErrorExtensions = Map<String, Value>;

/// The most refusals that one answer reports.
pub const MAX_ERRORS: usize = 20;

/// A stable error code. The first nine are the specification's; the others carry Apollo's names, because clients know
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorCode {
    /// A connection without `first:` or `last:`.
    FirstRequired,
    /// A page size above the caller's maximum.
    FirstTooLarge,
    /// The estimated cost is above the caller's maximum.
    CostExceeded,
    /// More levels of object nesting than the caller's maximum.
    DepthExceeded,
    /// A search key that the root does not declare.
    FieldNotFilterable,
    /// A comparator that the search key does not accept.
    OperatorNotAllowed,
    /// The caller's bucket cannot cover the query.
    Throttled,
    /// A search term that is not of the form `key:value`, or whose value its key cannot take.
    MalformedQuery,
    /// The request ran past its wall-clock budget.
    DeadlineExceeded,
    /// The text is not a GraphQL document.
    GraphqlParseFailed,
    /// The document is not valid against the schema.
    GraphqlValidationFailed,
    /// Variables, cursors or arguments whose values cannot be used.
    BadUserInput,
    /// No token, or one that cannot be accepted.
    Unauthenticated,
    /// An authenticated caller without the grant.
    Forbidden,
    /// A fault of this service.
    InternalServerError,
    /// The database cannot be reached, or has no room.
    ServiceUnavailable,
}

impl ErrorCode {
    /// Every code, in the order in which README tells them.
    pub const ALL: [Self; 16] = [
        Self::FirstRequired,
        Self::FirstTooLarge,
        Self::CostExceeded,
        Self::DepthExceeded,
        Self::FieldNotFilterable,
        Self::OperatorNotAllowed,
        Self::MalformedQuery,
        Self::Throttled,
        Self::DeadlineExceeded,
        Self::GraphqlParseFailed,
        Self::GraphqlValidationFailed,
        Self::BadUserInput,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::ServiceUnavailable,
        Self::InternalServerError,
    ];

    /// The code as clients see it in `extensions.code`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstRequired => "FIRST_REQUIRED",
            Self::FirstTooLarge => "FIRST_TOO_LARGE",
            Self::CostExceeded => "COST_EXCEEDED",
            Self::DepthExceeded => "DEPTH_EXCEEDED",
            Self::FieldNotFilterable => "FIELD_NOT_FILTERABLE",
            Self::OperatorNotAllowed => "OPERATOR_NOT_ALLOWED",
            Self::Throttled => "THROTTLED",
            Self::MalformedQuery => "MALFORMED_QUERY",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::GraphqlParseFailed => "GRAPHQL_PARSE_FAILED",
            Self::GraphqlValidationFailed => "GRAPHQL_VALIDATION_FAILED",
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::InternalServerError => "INTERNAL_SERVER_ERROR",
            Self::ServiceUnavailable => "SERVICE_UNAVAILABLE",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why something is refused. Each room's error enum implements it; its `Display` is the message.
pub trait Diagnostic: fmt::Display {
    /// The stable code.
    fn code(&self) -> ErrorCode;

    /// What the caller needs to mend the request; goes into `extensions` beside the code.
    fn facts(&self) -> ErrorExtensions {
        ErrorExtensions::new()
    }
}

/// A place in a document: line and column, both counted from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// One violation: a reason and where in the document it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphqlError {
    /// The stable code.
    pub code: ErrorCode,
    /// What is wrong and what to do, for a person.
    pub message: String,
    /// Where, as far as it is known.
    pub locations: Vec<Location>,
    /// What goes into `extensions` beside the code.
    pub facts: ErrorExtensions,
}

impl GraphqlError {
    /// A refusal at the given places.
    pub fn new(reason: &impl Diagnostic, locations: impl IntoIterator<Item = Location>) -> Self {
        Self {
            code: reason.code(),
            message: reason.to_string(),
            locations: locations.into_iter().collect(),
            facts: reason.facts(),
        }
    }
}

/// The form of an entry of GraphQL's `errors`: `{"message", "locations", "extensions": {"code", …}}`.
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
            facts: &'a ErrorExtensions,
        }
        let Self { code, message, locations, facts } = self;
        Entry { message, locations, extensions: Extensions { code: code.as_str(), facts } }.serialize(serializer)
    }
}

/// A non-empty list of refusals in document order, each once, [`MAX_ERRORS`] at the most. Cheap to clone, and written
/// as JSON once for all of its clones.
#[derive(Debug, Clone)]
pub struct GraphqlErrors(Arc<List>);

#[derive(Debug)]
struct List {
    refusals: Vec<GraphqlError>,
    written: OnceLock<Box<RawValue>>,
}

impl GraphqlErrors {
    /// The list that holds just this one.
    pub fn one(refusal: GraphqlError) -> Self {
        Self::of(vec![refusal])
    }

    fn of(refusals: Vec<GraphqlError>) -> Self {
        Self(Arc::new(List { refusals, written: OnceLock::new() }))
    }

    /// Orders what was found by its place, drops repetitions and cuts the list; `None` where nothing was found.
    pub fn collect(mut found: Vec<GraphqlError>) -> Option<Self> {
        found.sort_by(|a, b| a.locations.first().cmp(&b.locations.first()));
        let mut kept: Vec<GraphqlError> = Vec::with_capacity(found.len().min(MAX_ERRORS));
        for refusal in found {
            if kept.len() == MAX_ERRORS {
                break;
            }
            if !kept.contains(&refusal) {
                kept.push(refusal);
            }
        }
        (!kept.is_empty()).then(|| Self::of(kept))
    }

    /// `Ok` where nothing was found.
    pub fn check(found: Vec<GraphqlError>) -> Result<(), Self> {
        Self::collect(found).map_or(Ok(()), Err)
    }

    /// About how much memory they take, in bytes: as they are, and as much again as they are written.
    pub fn bytes(&self) -> usize {
        let facts =
            |facts: &ErrorExtensions| facts.iter().map(|(name, value)| name.len() + bytes(value)).sum::<usize>();
        let bytes = |refusal: &GraphqlError| {
            let locations = size_of_val(refusal.locations.as_slice());
            size_of::<GraphqlError>() + refusal.message.len() + locations + facts(&refusal.facts)
        };
        2 * self.iter().map(bytes).sum::<usize>()
    }

    /// The refusals in document order.
    pub fn iter(&self) -> std::slice::Iter<'_, GraphqlError> {
        self.0.refusals.iter()
    }

    /// The first refusal, by whose code the answer as a whole is judged.
    pub fn first(&self) -> &GraphqlError {
        &self.0.refusals[0]
    }
}

impl PartialEq for GraphqlErrors {
    fn eq(&self, other: &Self) -> bool {
        self.0.refusals == other.0.refusals
    }
}

impl Serialize for GraphqlErrors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Writing to memory cannot fail, and the keys of facts are strings.
        self.0.written.get_or_init(|| to_raw_value(&self.0.refusals).unwrap_or_default()).serialize(serializer)
    }
}

fn bytes(value: &Value) -> usize {
    let within = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(bytes).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + bytes(value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + within
}

impl<'a> IntoIterator for &'a GraphqlErrors {
    type Item = &'a GraphqlError;
    type IntoIter = std::slice::Iter<'a, GraphqlError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for GraphqlErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, refusal) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            if let Some(Location { line, column }) = refusal.locations.first() {
                write!(f, "{line}:{column}: ")?;
            }
            write!(f, "{}: {}", refusal.code, refusal.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for GraphqlErrors {}
