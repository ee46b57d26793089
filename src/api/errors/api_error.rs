//! The error that a client receives, whatever its cause and whatever the format of the response.
//!
//! The causes are `RequestError`, `AccessError`, `QueryError` and `ServiceError`, each in a file of its own, and a few that
//! belong to a single step of an endpoint. All of them convert into [`ApiError`], and `error_response` turns that into a
//! status, headers and JSON.

use std::fmt;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{self, HeaderName, HeaderValue};
use serde::Serialize;

use crate::error::code::ErrorCode;
use crate::error::graphql_error::GraphqlErrors;
use crate::throttle::bucket::ThrottleStatus;

/// An error that a client receives.
#[derive(Debug)]
pub(crate) struct ApiError {
    /// The code; of several errors, the first one's.
    pub code: ErrorCode,
    /// The entries of `errors`.
    pub entries: Entries,
    /// Headers beside `Content-Type`, in their order.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// What the response reports as `extensions.cost`.
    pub cost: Option<RequestedCost>,
    /// Whether the request was well-formed, so that GraphQL's `application/json` answers it with 200.
    pub(crate) is_well_formed_request: bool,
}

/// The entries of a response's `errors`.
#[derive(Debug)]
pub(crate) enum Entries {
    /// The errors of a GraphQL document, which have locations and share one serialization.
    Graphql(GraphqlErrors),
    /// A single error.
    One {
        /// For people.
        message: String,
        /// What goes into `extensions` beside the code, in this order.
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

    /// The HTTP status that says what happened.
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
