//! Why an operation's values cannot be used.

use serde_json::{Value as Json, json};
use thiserror::Error;

use crate::catalog::name_index::named_elsewhere;
use crate::cursor::BadCursor;
use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::query::bind::search_size::SearchSize;
use crate::search::bounds::MAX_VALUES;
use crate::search::{Comparator, SearchError};
use crate::sync_token::BadSyncToken;

/// Why an operation's values cannot be used. Offsets are offsets of terms in their search string, in bytes.
#[derive(Debug, Error)]
pub(crate) enum BindError {
    /// A connection without a page size.
    #[error("`{field}` needs a page size: add `first:` or `last:` (1 to {max_first})")]
    FirstRequired { field: String, max_first: u32 },
    /// A page size above the caller's maximum.
    #[error("`{field}` asks for {requested} rows; request at most {max_first} and page with `after:`")]
    FirstTooLarge { field: String, requested: i64, max_first: u32 },
    /// `first:` and `last:` together.
    #[error("`{field}` takes `first:` or `last:`, not both")]
    BothEnds { field: String },
    /// A page size of zero or less.
    #[error("`{field}` asks for {requested} rows; a page has at least 1")]
    NoPage { field: String, requested: i64 },
    /// A cursor in `after` or `before` that cannot be used here.
    #[error("`{field}` cannot use the cursor in `{argument}:`; {reason}; start again without it")]
    BadCursor { field: String, argument: &'static str, reason: BadCursor },
    /// A token in `after` that cannot be used here.
    #[error("`{field}` cannot use the token in `after:`; {reason}")]
    BadToken { field: String, reason: BadSyncToken },
    /// `after:` and `since:` together.
    #[error("`{field}` takes `after:` or `since:`, not both")]
    BothStarts { field: String },
    /// A search term that does not match the grammar, or a value that its key cannot take. If the term has no key: the most
    /// similar key of the connection, and all of them.
    #[error("{malformed}{}", .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}:…`?")).unwrap_or_default())]
    SearchError { field: String, malformed: Box<SearchError>, nearest: Option<String>, allowed: Option<Vec<String>> },
    /// A search key that the connection does not have; what the search language lacks, if the key is written as in another one;
    /// the most similar key, and all of them.
    #[error(
        "`{field}` cannot be searched by `{key}`{}{} (its keys: {}){}",
        .syntax.map(|syntax| format!("; {syntax}")).unwrap_or_default(),
        .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default(),
        .allowed.join(", "),
        named_elsewhere(.elsewhere)
    )]
    NotFilterable {
        field: String,
        key: String,
        offset: usize,
        syntax: Option<&'static str>,
        nearest: Option<Box<str>>,
        allowed: Box<[String]>,
        /// Searches of other roots, and fields, that the key may mean.
        elsewhere: Box<[String]>,
    },
    /// A comparator that the key does not accept.
    #[error("`{key}` does not take the comparator {}; it takes {}", .comparator.describe(), describe(.allowed).join(", "))]
    OperatorNotAllowed { field: String, key: String, offset: usize, comparator: Comparator, allowed: Vec<Comparator> },
    /// An operator that no key accepts, because the language does not have it.
    #[error(
        "there is no operator `{operator}`; `{key}` takes {}; put a value in quotes if it begins with one of < > = ! ~",
        .allowed.iter().map(|comparator| comparator.example(.key)).collect::<Vec<_>>().join(", ")
    )]
    NoSuchOperator { field: String, key: String, offset: usize, operator: String, allowed: Vec<Comparator> },
    /// An in-list with more than [`MAX_VALUES`] distinct values.
    #[error("the list of `{key}` has {values} values; at most {MAX_VALUES} are allowed; split it over several queries")]
    TooManyValues { field: String, key: String, offset: usize, values: usize },
    /// The search strings of the request are together larger than they may be.
    #[error("the search strings of a request have at most {} {size} together; send several requests", .size.max())]
    SearchTooLarge { size: SearchSize },
    /// A variable that is missing or of another type: the expected type, and the kind of the given value, if there is one.
    #[error("the variable `${name}` of type {ty} {}", describe_mismatch(.mismatch.as_ref()))]
    BadVariable { name: String, ty: String, mismatch: Option<(String, &'static str)> },
    /// An argument's value that cannot be used.
    #[error("the argument `{argument}` of `{field}` expects {expected}")]
    BadArgument { field: String, argument: String, expected: &'static str },
    /// A time zone that the IANA database does not have, and similar names that it has.
    #[error(
        "`{field}` does not know the time zone {name:?}; give a name of the IANA database, such as `America/Chicago`{}",
        .nearest.first().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
    )]
    UnknownTimeZone { field: String, name: String, nearest: Vec<&'static str> },
    /// Introspection whose result is too large.
    #[error("introspection would answer more than {max_bytes} bytes; select less, or ask for one type at a time")]
    IntrospectionTooLarge { max_bytes: usize },
    /// Exactly one of these arguments is required, and the field has none or several.
    #[error(
        "`{field}` takes exactly one of {}; {}",
        .arguments.join(", "),
        if *.given == 0 { "none was given" } else { "several were given" }
    )]
    Alternatives { field: String, arguments: Vec<String>, given: usize },
}

fn describe(comparators: &[Comparator]) -> Vec<&'static str> {
    comparators.iter().map(|comparator| comparator.describe()).collect()
}

fn describe_mismatch(mismatch: Option<&(String, &'static str)>) -> String {
    match mismatch {
        None => "is required, and was not given".to_owned(),
        Some((expected, given)) => format!("expects {expected}, and was given {given}"),
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
            | Self::BadToken { .. }
            | Self::BothStarts { .. }
            | Self::BadVariable { .. }
            | Self::BadArgument { .. }
            | Self::UnknownTimeZone { .. }
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
            Self::BothEnds { field } | Self::BothStarts { field } => json!({ "field": field }),
            Self::NoPage { field, requested } => json!({ "field": field, "requested": requested }),
            Self::BadCursor { field, argument, reason } => {
                json!({ "field": field, "argument": argument, "reason": reason.to_string() })
            }
            Self::BadToken { field, reason } => {
                json!({ "field": field, "argument": "after", "reason": reason.to_string() })
            }
            Self::SearchError { field, malformed, nearest, allowed } => {
                let mut extensions = malformed.extensions();
                extensions.insert("field".to_owned(), json!(field));
                extensions.extend(nearest.as_ref().map(|nearest| ("nearest".to_owned(), json!(nearest))));
                extensions.extend(allowed.as_ref().map(|allowed| ("allowed".to_owned(), json!(allowed))));
                return extensions;
            }
            Self::NotFilterable { field, key, offset, syntax: _, nearest, allowed, elsewhere } => {
                let mut extensions = json!({ "field": field, "key": key, "offset": offset, "allowed": allowed });
                if let Some(nearest) = nearest {
                    extensions["nearest"] = json!(nearest);
                }
                if !elsewhere.is_empty() {
                    extensions["elsewhere"] = json!(elsewhere);
                }
                extensions
            }
            Self::OperatorNotAllowed { field, key, offset, comparator, allowed } => {
                let (comparator, allowed) = (comparator.describe(), describe(allowed));
                json!({ "field": field, "key": key, "offset": offset, "comparator": comparator, "allowed": allowed })
            }
            Self::NoSuchOperator { field, key, offset, operator, allowed } => {
                json!({ "field": field, "key": key, "offset": offset, "comparator": operator, "allowed": describe(allowed) })
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
            Self::UnknownTimeZone { field, name, nearest } => {
                json!({ "field": field, "argument": "timeZone", "found": name, "suggestions": nearest })
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
