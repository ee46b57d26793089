//! Requests that are rejected for their form as HTTP messages: head, body, codings.

use std::time::Duration;

use crate::http::head_limits::{MAX_HEAD_BYTES, MAX_HEADERS};

/// An error in a request's form.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// An HTTP/1.1 request without `Host`, with two, or with an invalid one.
    #[error("an HTTP/1.1 request has exactly one Host header, which names a host")]
    Host,
    /// A head that cannot be parsed.
    #[error("this is no HTTP/1.1 request: its first line or a header is malformed")]
    MalformedHead,
    /// A head with too many headers or bytes.
    #[error("the request's head has more than {MAX_HEADERS} headers or {MAX_HEAD_BYTES} bytes")]
    HeadTooLarge,
    /// A transfer coding other than `chunked`.
    #[error("the only Transfer-Encoding understood is chunked")]
    TransferEncoding,
    /// A request target that is too long.
    #[error("the request target is longer than {limit} bytes")]
    TargetTooLong {
        /// Bytes that are allowed.
        limit: usize,
    },
    /// A body above the limit.
    #[error("the request's body is larger than {limit} bytes")]
    BodyTooLarge {
        /// Bytes that are allowed.
        limit: usize,
    },
    /// A body that does not arrive in time.
    #[error("the request's body did not arrive within {} s", timeout.as_secs_f64())]
    BodyTimeout {
        /// How long it may take.
        timeout: Duration,
    },
    /// A body whose framing is broken, or that ends too early.
    #[error("the request's body is broken off or badly framed")]
    IncompleteBody(#[source] hyper::Error),
    /// An `Accept-Encoding` that excludes every coding and identity too.
    #[error("Accept-Encoding excludes every coding that answers can have, and identity, which is none")]
    NoAcceptableCoding,
}

impl RequestError {
    /// Whether the server closes the connection, because the rest of what arrives on it cannot be trusted or is not
    /// worth reading.
    pub(crate) fn closes_connection(&self) -> bool {
        match self {
            Self::Host
            | Self::MalformedHead
            | Self::HeadTooLarge
            | Self::TransferEncoding
            | Self::BodyTooLarge { .. }
            | Self::BodyTimeout { .. }
            | Self::IncompleteBody(_) => true,
            Self::TargetTooLong { .. } | Self::NoAcceptableCoding => false,
        }
    }
}
