//! The line of a request in the log, and which requests are logged.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::telemetry::trace_context::TraceId;

/// Which requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessLog {
    Off,
    /// Requests with an error, and requests whose client left before the end of the response.
    Errors,
    /// One request in this number.
    Sampled(NonZeroU32),
    All,
}

impl AccessLog {
    /// Parses a setting.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "errors" => Some(Self::Errors),
            "all" => Some(Self::All),
            _ => text.strip_prefix("sampled:")?.parse().ok().map(Self::Sampled),
        }
    }

    /// Logs these requests from now on.
    pub(super) fn open(self) {
        let every = match self {
            Self::Off => NEVER,
            Self::Errors => ERRORS,
            Self::Sampled(every) => u64::from(every.get()),
            Self::All => 1,
        };
        EVERY.store(every, Ordering::Relaxed);
    }
}

/// One request, as in an access log.
#[derive(Debug)]
pub(crate) struct ServedRequest<'a> {
    /// The id in the response's `X-Request-Id`.
    pub(crate) request_id: &'a str,
    /// The trace that it belongs to.
    pub(crate) trace_id: Option<TraceId>,
    /// The listener that it came to.
    pub(crate) listener: Option<&'a str>,
    /// The client's address.
    pub(crate) peer: Option<IpAddr>,
    /// The method, `other` for one that no endpoint has, or `none` where the head could not be read.
    pub(crate) method: &'static str,
    /// The endpoint's name; never the path, which a client chooses.
    pub(crate) route: &'a str,
    /// The authenticated user.
    pub(crate) caller: Option<&'a str>,
    /// The GraphQL operation's name.
    pub(crate) operation: Option<&'a str>,
    /// Credits that were debited.
    pub(crate) cost: Option<u64>,
    /// The first error's code.
    pub(crate) error_code: Option<&'static str>,
    /// The reason why the token is not accepted.
    pub(crate) token_fault: Option<&'static str>,
    /// The HTTP status; none where the client disconnected first.
    pub(crate) status: Option<u16>,
    /// Bytes of its body.
    pub(crate) bytes_in: u64,
    /// Bytes of the response's body that were handed to the connection.
    pub(crate) bytes_out: u64,
    /// Whether the response was not sent to its end.
    pub(crate) broken_off: bool,
    /// From the request's head to the last byte of the response that was handed to the connection.
    pub(crate) duration: Duration,
    /// From the query's text to its plan.
    pub(crate) compile: Option<Duration>,
    /// Waiting for other queries, for credits and for a connection to the database.
    pub(crate) wait: Option<Duration>,
    /// From sending the first statement to the last row.
    pub(crate) database: Option<Duration>,
}

const NEVER: u64 = 0;
const ERRORS: u64 = u64::MAX;

/// One in this number of requests is logged, unless it is one of the values above.
static EVERY: AtomicU64 = AtomicU64::new(1);

/// Requests that were, or were not, logged.
static REQUESTS: AtomicU64 = AtomicU64::new(0);

/// Whether the request is logged.
pub(super) fn admits(request: &ServedRequest<'_>) -> bool {
    match EVERY.load(Ordering::Relaxed) {
        NEVER => false,
        1 => true,
        ERRORS => {
            request.error_code.is_some() || request.broken_off || request.status.is_none_or(|status| status >= 400)
        }
        every => REQUESTS.fetch_add(1, Ordering::Relaxed).is_multiple_of(every),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_setting() {
        for (text, expected) in [
            ("off", Some(AccessLog::Off)),
            ("errors", Some(AccessLog::Errors)),
            ("all", Some(AccessLog::All)),
            ("sampled:100", NonZeroU32::new(100).map(AccessLog::Sampled)),
            ("sampled:0", None),
            ("sampled:", None),
            ("sampled", None),
            ("", None),
        ] {
            assert_eq!(AccessLog::parse(text), expected, "{text}");
        }
    }
}
