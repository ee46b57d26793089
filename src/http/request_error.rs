//! Requests that are rejected for their form: head, routing, media types, body.

use std::time::Duration;

use hyper::header::{self, HeaderValue};

use crate::error::code::ErrorCode;
use crate::http::api_error::ApiError;
use crate::http::head_limits::{MAX_HEAD_BYTES, MAX_HEADERS};

/// What is wrong with a request's form.
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
    /// `Content-Length` beside `Transfer-Encoding`.
    #[error("a request has Content-Length or Transfer-Encoding, not both")]
    AmbiguousLength,
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
    /// A compressed body.
    #[error("a request's body must not be compressed; send it without Content-Encoding")]
    CompressedBody,
    /// No endpoint at the path.
    #[error("there is nothing at this path")]
    NotFound,
    /// A method that the endpoint does not have.
    #[error("this endpoint takes {allow}")]
    MethodNotAllowed {
        /// The endpoint's methods, as in `Allow`.
        allow: &'static str,
    },
    /// An `Accept` that excludes both media types of responses.
    #[error("answers are application/json or application/graphql-response+json, and Accept excludes both")]
    NotAcceptable,
    /// An `Accept-Encoding` that excludes every coding and identity too.
    #[error("Accept-Encoding excludes every coding that answers can have, and identity, which is none")]
    NoAcceptableCoding,
    /// A malformed `Orderql-After`.
    #[error(
        "a request has one Orderql-After at most, with the Orderql-Position of an order update's response, such as 16/B374D848"
    )]
    Position,
    /// A body that is not declared to be JSON.
    #[error("the body must be JSON, sent with Content-Type: application/json")]
    NotJson,
    /// JSON in another charset.
    #[error("the body must be in UTF-8; no other charset is read")]
    NotUtf8,
}

impl RequestError {
    /// The code.
    fn code(&self) -> ErrorCode {
        match self {
            Self::Host
            | Self::MalformedHead
            | Self::AmbiguousLength
            | Self::TransferEncoding
            | Self::Position
            | Self::IncompleteBody(_) => ErrorCode::BadRequest,
            Self::HeadTooLarge => ErrorCode::RequestHeaderFieldsTooLarge,
            Self::TargetTooLong { .. } => ErrorCode::UriTooLong,
            Self::BodyTooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::BodyTimeout { .. } => ErrorCode::RequestTimeout,
            Self::CompressedBody | Self::NotJson | Self::NotUtf8 => ErrorCode::UnsupportedMediaType,
            Self::NotFound => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            Self::NotAcceptable | Self::NoAcceptableCoding => ErrorCode::NotAcceptable,
        }
    }

    /// Whether the server closes the connection, because the rest of what arrives on it cannot be trusted or is not
    /// worth reading.
    fn closes_connection(&self) -> bool {
        match self {
            Self::Host
            | Self::MalformedHead
            | Self::HeadTooLarge
            | Self::AmbiguousLength
            | Self::TransferEncoding
            | Self::BodyTooLarge { .. }
            | Self::BodyTimeout { .. }
            | Self::IncompleteBody(_) => true,
            Self::TargetTooLong { .. }
            | Self::CompressedBody
            | Self::NotFound
            | Self::MethodNotAllowed { .. }
            | Self::NotAcceptable
            | Self::NoAcceptableCoding
            | Self::Position
            | Self::NotJson
            | Self::NotUtf8 => false,
        }
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        let mut response = Self::new(error.code(), &error);
        if let RequestError::MethodNotAllowed { allow } = error {
            response = response.with_header(header::ALLOW, HeaderValue::from_static(allow));
        }
        if error.closes_connection() {
            response = response.with_header(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
