//! Well-formed HTTP requests that an endpoint does not take, and the responses to malformed ones.

use hyper::header::{self, HeaderValue};

use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::error::code::ErrorCode;
use crate::http::request::body::BodyError;
use crate::http::request_error::RequestError;

/// Why an endpoint does not take a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
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
    /// A `Host` under which the settings are not shown.
    #[error(
        "the settings are shown at an IP address, at localhost, or at another name without dots; any web page may have the name in Host"
    )]
    RegisteredName,
    /// A form of the schema that there is not.
    #[error("descriptions is short or full")]
    Descriptions,
    /// A malformed `Orderql-After`.
    #[error(
        "a request has one Orderql-After at most, with the Orderql-Position of an order update's response, such as 16/B374D848"
    )]
    Position,
    /// An `Orderql-After` that the primary has not reached.
    #[error(
        "the position in Orderql-After is beyond all that was written; send the Orderql-Position of an order update's response"
    )]
    UnwrittenPosition,
    #[error("a request's body must not be compressed; send it without Content-Encoding")]
    CompressedBody,
    /// A body that is not declared to be JSON.
    #[error("the body must be JSON, sent with Content-Type: application/json")]
    NotJson,
    /// JSON in another charset.
    #[error("the body must be in UTF-8; no other charset is read")]
    NotUtf8,
}

impl From<EndpointError> for ApiError {
    fn from(error: EndpointError) -> Self {
        let code = match &error {
            EndpointError::NotFound => ErrorCode::NotFound,
            EndpointError::MethodNotAllowed { .. } => ErrorCode::MethodNotAllowed,
            EndpointError::NotAcceptable => ErrorCode::NotAcceptable,
            EndpointError::RegisteredName
            | EndpointError::Descriptions
            | EndpointError::Position
            | EndpointError::UnwrittenPosition => ErrorCode::BadRequest,
            EndpointError::CompressedBody | EndpointError::NotJson | EndpointError::NotUtf8 => {
                ErrorCode::UnsupportedMediaType
            }
        };
        let response = Self::new(code, &error);
        match error {
            EndpointError::MethodNotAllowed { allow } => {
                response.with_header(header::ALLOW, HeaderValue::from_static(allow))
            }
            _ => response,
        }
    }
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> Self {
        let code = match &error {
            RequestError::Host
            | RequestError::MalformedHead
            | RequestError::TransferEncoding
            | RequestError::IncompleteBody(_) => ErrorCode::BadRequest,
            RequestError::HeadTooLarge => ErrorCode::RequestHeaderFieldsTooLarge,
            RequestError::TargetTooLong { .. } => ErrorCode::UriTooLong,
            RequestError::BodyTooLarge { .. } => ErrorCode::PayloadTooLarge,
            RequestError::BodyTimeout { .. } => ErrorCode::RequestTimeout,
            RequestError::NoAcceptableCoding => ErrorCode::NotAcceptable,
        };
        let response = Self::new(code, &error);
        if error.closes_connection() {
            response.with_header(header::CONNECTION, HeaderValue::from_static("close"))
        } else {
            response
        }
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Request(error) => error.into(),
            BodyError::MemoryExhausted => ServiceError::MemoryExhausted.into(),
        }
    }
}
