//! The error that a client receives, whatever its cause and whatever the format of the response.
//!
//! The causes are `RequestError`, `AccessError`, `QueryError`, `ServiceError` and `EndpointError`, each in a file of its own, and a few
//! that belong to a single step of an endpoint. All of them convert into [`ApiError`], and `error_response` turns that into a status,
//! headers and JSON.

use std::fmt;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{self, HeaderName, HeaderValue};
use serde::Serialize;

use crate::error::code::ErrorCode;
use crate::error::graphql_error::GraphqlErrors;
use crate::throttle::bucket::ThrottleStatus;

/// An error that a client receives.
///
/// # Design
///
/// There is one type for all endpoints. An error has the same form for a client wherever it was found: a code, a message, facts in
/// `extensions`, a status and headers. The causes differ, and keep their types: each part of the server has an error enum of its own. Its
/// variants say what was found. The endpoint that answers a request needs the form and not the cause. So the enums convert into this type,
/// which has only what is written, and one module, `error_response`, writes it.
///
/// **A code** is for programs; a message is for people, and may change. Two causes have the same code if a client does the same about both:
/// it waits (`THROTTLED`), signs in again (`UNAUTHENTICATED`), asks for less (`COST_EXCEEDED`), or corrects its query. Codes are stable,
/// and a new cause gets an old code where that fits. The table in `error::code` gives each code its HTTP status, so that a status cannot
/// contradict a code.
///
/// **The conversion of an enum decides the code**, by a `match` without a wildcard: whoever adds a cause has to choose a code for it. The
/// enums of the pure half have `Diagnostic::code` instead, because they are also used without a server. No code is decided from an error's
/// text. The errors that PostgreSQL reports for a query become codes in one function, `settle`. It also decides whether the query is
/// charged.
///
/// **Almost every code of a query is decided before the database is asked.** Whether a query is allowed, valid and affordable depends on
/// its text, the caller's account and the caller's credits, none of which is in a table that queries read. This has three consequences. A
/// rejected query takes no connection, so a client with many invalid queries does not slow down the others. It is not charged. And the same
/// text has the same error for callers with the same view and limits, whatever the tables contain: a client can check its queries against
/// an empty database. A few errors are known only later: the database cannot be reached, the time is over, the database cannot compute a
/// value, the rows are too large, a table has changed, or the token of a change feed is from another history. Order updates are the
/// exception: whether an update is possible depends on the rows that it changes.
///
/// An error after the first bytes of a response cannot be an `ApiError` with a status. There it is written as an entry of `errors` or as
/// the last line of an export, or the connection is closed.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// The code, which decides the status; of several errors in a document, the first one's. The log and the metrics have it, too.
    pub code: ErrorCode,
    /// The entries of `errors`, at least one.
    pub entries: Entries,
    /// Headers beside `Content-Type`, in their order, such as `Retry-After` and the challenge of an unauthenticated request.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The cost that the response reports as `extensions.cost`. `None` for requests without a cost, and for requests that were rejected
    /// before it was known.
    pub cost: Option<RequestedCost>,
    /// Whether the request was well-formed. GraphQL's `application/json` answers such a request with 200, and any other one with the
    /// code's status.
    pub(crate) is_well_formed_request: bool,
}

/// The entries of a response's `errors`.
#[derive(Debug)]
pub(crate) enum Entries {
    /// The errors of a GraphQL document, which have locations. The cache of operations shares the errors of the last request that was not
    /// admitted, and their JSON: a client that repeats such a request costs little.
    Graphql(GraphqlErrors),
    /// A single error.
    One {
        /// For people.
        message: String,
        /// Facts for `extensions` beside the code, in this order.
        extensions: Vec<(&'static str, ExtensionValue)>,
    },
    /// The messages of several errors of one code, at least one.
    Several(Vec<String>),
}

/// A value in `extensions`.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum ExtensionValue {
    /// A number, or null where there is none.
    Number(Option<u64>),
    Text(String),
}

/// The cost of a query that returned no rows, and its caller's bucket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestedCost {
    /// The estimate.
    pub credits: u64,
    pub bucket: ThrottleStatus,
}

impl ApiError {
    /// A single error without extensions or headers.
    pub(crate) fn new(code: ErrorCode, message: &impl fmt::Display) -> Self {
        let entries = Entries::One { message: message.to_string(), extensions: Vec::new() };
        Self { code, entries, headers: Vec::new(), cost: None, is_well_formed_request: false }
    }

    /// Several errors of one code, without extensions or headers. At least one.
    pub(crate) fn several(code: ErrorCode, messages: Vec<String>) -> Self {
        Self { entries: Entries::Several(messages), ..Self::new(code, &"") }
    }

    /// The errors of a GraphQL document.
    pub(crate) fn graphql(errors: GraphqlErrors) -> Self {
        Self {
            code: errors.first().code,
            entries: Entries::Graphql(errors),
            headers: Vec::new(),
            cost: None,
            is_well_formed_request: true,
        }
    }

    /// The messages of all entries.
    pub(crate) fn messages(&self) -> Vec<String> {
        match &self.entries {
            Entries::Graphql(errors) => errors.iter().map(|error| error.message.clone()).collect(),
            Entries::One { message, .. } => vec![message.clone()],
            Entries::Several(messages) => messages.clone(),
        }
    }

    /// Adds an extension to a single error.
    #[must_use]
    pub(crate) fn with_extension(mut self, name: &'static str, value: impl Into<ExtensionValue>) -> Self {
        match &mut self.entries {
            Entries::One { extensions, .. } => extensions.push((name, value.into())),
            Entries::Graphql(_) | Entries::Several(_) => {}
        }
        self
    }

    /// Adds an extension to a single error, unless it is zero.
    #[must_use]
    pub(crate) fn with_positive_extension(self, name: &'static str, value: u64) -> Self {
        if value > 0 { self.with_extension(name, value) } else { self }
    }

    /// Adds a header.
    #[must_use]
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Adds when to retry, as an extension and as `Retry-After`. `None`: a retry cannot succeed.
    #[must_use]
    pub(crate) fn with_retry_after(self, wait: Option<Duration>) -> Self {
        let error = self.with_extension("retryAfterMs", wait.map(milliseconds));
        match wait {
            Some(wait) if error.code.has_retry_after() => {
                error.with_header(header::RETRY_AFTER, HeaderValue::from(seconds(wait)))
            }
            _ => error,
        }
    }

    /// The HTTP status of the code.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.entries {
            Entries::Graphql(errors) => errors.fmt(f),
            Entries::One { message, .. } => f.write_str(message),
            Entries::Several(messages) => f.write_str(&messages.join("\n")),
        }
    }
}

impl From<u64> for ExtensionValue {
    fn from(number: u64) -> Self {
        Self::Number(Some(number))
    }
}

impl From<Option<u64>> for ExtensionValue {
    fn from(number: Option<u64>) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for ExtensionValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Whole milliseconds, rounded up: a client that waits for as long has waited long enough.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    milliseconds(time).div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_http_status() {
        for code in ErrorCode::ALL {
            assert_eq!(ApiError::new(code, &"").status().as_u16(), code.status(), "{code}");
        }
    }

    #[test]
    fn waits_are_rounded_up() {
        let error = ApiError::new(ErrorCode::Throttled, &"").with_retry_after(Some(Duration::from_micros(1_740_001)));
        assert_eq!(error.headers, [(header::RETRY_AFTER, HeaderValue::from_static("2"))]);
        let Entries::One { extensions, .. } = error.entries else { panic!("it is a single error") };
        assert_eq!(extensions, [("retryAfterMs", ExtensionValue::from(1741))]);
    }
}
