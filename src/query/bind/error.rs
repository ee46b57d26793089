//! Why an operation's values cannot be used.

use std::fmt;

use serde_json::{Value as Json, json};

use crate::cursor::BadCursor;
use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::query::bind::search_size::SearchSize;
use crate::search::bounds::MAX_VALUES;
use crate::search::{Comparator, SearchError};

/// Why an operation's values cannot be used.
#[derive(Debug)]
pub(crate) enum BindError {
    /// A connection without a page size.
    FirstRequired {
        /// The connection.
        field: String,
        /// The most rows that the caller may request.
        max_first: u32,
    },
    /// A page size above the caller's maximum.
    FirstTooLarge {
        /// The connection.
        field: String,
        /// The page size in the request.
        requested: i64,
        /// The most rows that the caller may request.
        max_first: u32,
    },
    /// `first:` and `last:` together.
    BothEnds {
        /// The connection.
        field: String,
    },
    /// A page size of zero or less.
    NoPage {
        /// The connection.
        field: String,
        /// The page size in the request.
        requested: i64,
    },
    /// A cursor that cannot be used here.
    BadCursor {
        /// The connection.
        field: String,
        /// `after` or `before`.
        argument: &'static str,
        /// Why not.
        reason: BadCursor,
    },
    /// A search term that does not match the grammar, or a value that its key cannot take.
    SearchError {
        /// The connection.
        field: String,
        /// The term, and what is wrong with it.
        malformed: Box<SearchError>,
        /// The most similar key of the connection, if the term has none.
        nearest: Option<String>,
        /// The keys of the connection, if the term has none.
        allowed: Option<Vec<String>>,
    },
    /// A search key that the connection does not have.
    NotFilterable {
        /// The connection.
        field: String,
        /// The key.
        key: String,
        /// The offset of its term in the search string, in bytes.
        offset: usize,
        /// If the key is written as in another query language: what this one lacks.
        syntax: Option<&'static str>,
        /// The most similar key of the connection.
        nearest: Option<String>,
        /// The keys of the connection.
        allowed: Vec<String>,
    },
    /// A comparator that the key does not accept.
    OperatorNotAllowed {
        /// The connection.
        field: String,
        /// The key.
        key: String,
        /// The offset of its term in the search string, in bytes.
        offset: usize,
        /// The comparator in the search string.
        comparator: Comparator,
        /// The comparators that the key accepts.
        allowed: Vec<Comparator>,
    },
    /// An operator that no key accepts, because the language does not have it.
    NoSuchOperator {
        /// The connection.
        field: String,
        /// The key.
        key: String,
        /// The offset of its term in the search string, in bytes.
        offset: usize,
        /// The operator in the search string.
        operator: String,
        /// The comparators that the key accepts.
        allowed: Vec<Comparator>,
    },
    /// An in-list with more than [`MAX_VALUES`] distinct values.
    TooManyValues {
        /// The connection.
        field: String,
        /// The key.
        key: String,
        /// The offset of its term in the search string, in bytes.
        offset: usize,
        /// How many distinct values the list has.
        values: usize,
    },
    /// The search strings of the request are together larger than they may be.
    SearchTooLarge {
        /// In what.
        size: SearchSize,
    },
    /// A variable that is missing or of another type.
    BadVariable {
        /// Its name.
        name: String,
        /// Its type, as declared.
        ty: String,
        /// What was expected and what kind of value was given; `None` if no value was given.
        mismatch: Option<(String, &'static str)>,
    },
    /// An argument's value that cannot be used.
    BadArgument {
        /// The field.
        field: String,
        /// The argument.
        argument: String,
        /// What it takes.
        expected: &'static str,
    },
    /// Introspection whose result is too large.
    IntrospectionTooLarge {
        /// The most bytes that the result may have.
        max_bytes: usize,
    },
    /// None, or several, of the arguments of which exactly one is required.
    Alternatives {
        /// The field.
        field: String,
        /// The alternatives.
        arguments: Vec<String>,
        /// How many of them were given.
        given: usize,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstRequired { field, max_first } => {
                write!(f, "`{field}` needs a page size: add `first:` or `last:` (1 to {max_first})")
            }
            Self::FirstTooLarge { field, requested, max_first } => {
                write!(f, "`{field}` asks for {requested} rows; request at most {max_first} and page with `after:`")
            }
            Self::BothEnds { field } => write!(f, "`{field}` takes `first:` or `last:`, not both"),
            Self::NoPage { field, requested } => {
                write!(f, "`{field}` asks for {requested} rows; a page has at least 1")
            }
            Self::BadCursor { field, argument, reason } => {
                write!(f, "`{field}` cannot use the cursor in `{argument}:`; {reason}; start again without it")
            }
            Self::SearchError { malformed, nearest, .. } => {
                malformed.fmt(f)?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean `{nearest}:…`?"))
            }
            Self::NotFilterable { field, key, syntax, nearest, allowed, .. } => {
                write!(f, "`{field}` cannot be searched by `{key}`")?;
                if let Some(syntax) = syntax {
                    write!(f, "; {syntax}")?;
                }
                if let Some(nearest) = nearest {
                    write!(f, "; did you mean `{nearest}`?")?;
                }
                write!(f, " (its keys: {})", allowed.join(", "))
            }
            Self::OperatorNotAllowed { key, comparator, allowed, .. } => {
                let allowed: Vec<_> = allowed.iter().map(|comparator| comparator.describe()).collect();
                write!(
                    f,
                    "`{key}` does not take the comparator {}; it takes {}",
                    comparator.describe(),
                    allowed.join(", ")
                )
            }
            Self::NoSuchOperator { key, operator, allowed, .. } => {
                let allowed: Vec<_> = allowed.iter().map(|comparator| comparator.example(key)).collect();
                write!(
                    f,
                    "there is no operator `{operator}`; `{key}` takes {}; put a value in quotes if it begins with one of \
                     < > = ! ~",
                    allowed.join(", ")
                )
            }
            Self::TooManyValues { key, values, .. } => {
                write!(
                    f,
                    "the list of `{key}` has {values} values; at most {MAX_VALUES} are allowed; split it over several \
                     queries"
                )
            }
            Self::SearchTooLarge { size } => {
                write!(
                    f,
                    "the search strings of a request have at most {} {size} together; send several requests",
                    size.max()
                )
            }
            Self::BadVariable { name, ty, mismatch: None } => {
                write!(f, "the variable `${name}` of type {ty} is required, and was not given")
            }
            Self::BadVariable { name, ty, mismatch: Some((expected, given)) } => {
                write!(f, "the variable `${name}` of type {ty} expects {expected}, and was given {given}")
            }
            Self::BadArgument { field, argument, expected } => {
                write!(f, "the argument `{argument}` of `{field}` expects {expected}")
            }
            Self::IntrospectionTooLarge { max_bytes } => {
                write!(
                    f,
                    "introspection would answer more than {max_bytes} bytes; select less, or ask for one type at a time"
                )
            }
            Self::Alternatives { field, arguments, given } => {
                let given = match given {
                    0 => "none was given",
                    _ => "several were given",
                };
                write!(f, "`{field}` takes exactly one of {}; {given}", arguments.join(", "))
            }
        }
    }
}

impl Diagnostic for BindError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::FirstRequired { .. } => ErrorCode::FirstRequired,
            Self::FirstTooLarge { .. } => ErrorCode::FirstTooLarge,
            Self::SearchError { malformed, .. } => malformed.code(),
            Self::NotFilterable { .. } => ErrorCode::FieldNotFilterable,
            Self::OperatorNotAllowed { .. } | Self::NoSuchOperator { .. } => ErrorCode::OperatorNotAllowed,
            Self::IntrospectionTooLarge { .. } => ErrorCode::GraphqlValidationFailed,
            Self::BothEnds { .. }
            | Self::NoPage { .. }
            | Self::BadCursor { .. }
            | Self::BadVariable { .. }
            | Self::BadArgument { .. }
            | Self::TooManyValues { .. }
            | Self::SearchTooLarge { .. }
            | Self::Alternatives { .. } => ErrorCode::BadUserInput,
        }
    }

    fn extensions(&self) -> ErrorExtensions {
        let extensions = match self {
            Self::FirstRequired { field, max_first } => json!({ "field": field, "maxFirst": max_first }),
            Self::FirstTooLarge { field, requested, max_first } => {
                json!({ "field": field, "requested": requested, "maxFirst": max_first })
            }
            Self::BothEnds { field } => json!({ "field": field }),
            Self::NoPage { field, requested } => json!({ "field": field, "requested": requested }),
            Self::BadCursor { field, argument, reason } => {
                json!({ "field": field, "argument": argument, "reason": reason.to_string() })
            }
            Self::SearchError { field, malformed, nearest, allowed } => {
                let mut extensions = malformed.extensions();
                extensions.insert("field".to_owned(), json!(field));
                extensions.extend(nearest.as_ref().map(|nearest| ("nearest".to_owned(), json!(nearest))));
                extensions.extend(allowed.as_ref().map(|allowed| ("allowed".to_owned(), json!(allowed))));
                return extensions;
            }
            Self::NotFilterable { field, key, offset, syntax: _, nearest, allowed } => {
                let mut extensions = json!({ "field": field, "key": key, "offset": offset, "allowed": allowed });
                if let Some(nearest) = nearest {
                    extensions["nearest"] = json!(nearest);
                }
                extensions
            }
            Self::OperatorNotAllowed { field, key, offset, comparator, allowed } => {
                let allowed: Vec<_> = allowed.iter().map(|comparator| comparator.describe()).collect();
                let comparator = comparator.describe();
                json!({ "field": field, "key": key, "offset": offset, "comparator": comparator, "allowed": allowed })
            }
            Self::NoSuchOperator { field, key, offset, operator, allowed } => {
                let allowed: Vec<_> = allowed.iter().map(|comparator| comparator.describe()).collect();
                json!({ "field": field, "key": key, "offset": offset, "comparator": operator, "allowed": allowed })
            }
            Self::TooManyValues { field, key, offset, values } => {
                json!({ "field": field, "key": key, "offset": offset, "values": values, "maxValues": MAX_VALUES })
            }
            Self::SearchTooLarge { size } => json!({ size.max_name(): size.max() }),
            Self::BadVariable { name, ty, mismatch: None } => json!({ "variable": name, "type": ty }),
            Self::BadVariable { name, ty, mismatch: Some((expected, given)) } => {
                json!({ "variable": name, "type": ty, "expected": expected, "given": given })
            }
            Self::BadArgument { field, argument, expected } => {
                json!({ "field": field, "argument": argument, "expected": expected })
            }
            Self::Alternatives { field, arguments, given } => {
                json!({ "field": field, "allowed": arguments, "given": given })
            }
            Self::IntrospectionTooLarge { max_bytes } => json!({ "maxBytes": max_bytes }),
        };
        match extensions {
            Json::Object(extensions) => extensions,
            _ => ErrorExtensions::new(),
        }
    }
}
