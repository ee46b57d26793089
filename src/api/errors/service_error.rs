//! Failures of the service, which say nothing about the request.

use std::time::Duration;

use crate::api::errors::api_error::ApiError;
use crate::api::errors::unavailability_log;
use crate::error::code::ErrorCode;
use crate::http::memory_budget::MemoryExhausted;
use crate::http::response::BoxError;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// When a client may retry after the service was unavailable.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why the service cannot serve a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    /// The database cannot be reached, has no free connection or cannot run statements, or too many passwords wait to be
    /// hashed. The cause is in the log.
    #[error("the service cannot serve the request right now; try again")]
    Unavailable(#[source] BoxError),
    /// Requests and unread responses take as much memory as they may, of the connection or in all.
    #[error("requests and unread responses take as much memory as they may; read the responses, and try again")]
    MemoryExhausted,
    /// The request would have to wait, and the server is stopping.
    #[error("the server is stopping, and the request would have to wait; send it again")]
    Stopping,
    /// A table is not as the schema has it any more. The cause is in the log.
    #[error(
        "the tables of the database were changed and do not fit the schema; the operator finds the reason in the log"
    )]
    SchemaChanged(#[source] BoxError),
    /// An internal error, which is in the log.
    #[error("an internal error; the operator finds it in the log under {request_id}")]
    Internal {
        /// The request's id.
        request_id: String,
        /// The cause, which clients do not see.
        source: BoxError,
    },
}

impl ServiceError {
    /// An internal error, which is written to the log under the request's id.
    pub(crate) fn internal(request_id: &str, error: impl Into<BoxError>) -> Self {
        let source = error.into();
        emit(&Event::InternalError { request_id, error: &*source });
        Self::Internal { request_id: request_id.to_owned(), source }
    }
}

impl From<MemoryExhausted> for ServiceError {
    fn from(_: MemoryExhausted) -> Self {
        Self::MemoryExhausted
    }
}

impl From<ServiceError> for ApiError {
    fn from(error: ServiceError) -> Self {
        let response = match &error {
            ServiceError::Unavailable(source) => {
                unavailability_log::report(&**source);
                Self::new(ErrorCode::ServiceUnavailable, &error).with_retry_after(Some(RETRY_AFTER))
            }
            ServiceError::SchemaChanged(source) => {
                unavailability_log::report(&**source);
                Self::new(ErrorCode::SchemaChanged, &error)
            }
            ServiceError::MemoryExhausted | ServiceError::Stopping => {
                Self::new(ErrorCode::ServiceUnavailable, &error).with_retry_after(Some(RETRY_AFTER))
            }
            ServiceError::Internal { request_id, .. } => {
                Self::new(ErrorCode::InternalServerError, &error).with_extension("requestId", request_id.as_str())
            }
        };
        // Whether the request is well-formed is often unknown where its body cannot be held.
        Self { is_well_formed_request: !matches!(error, ServiceError::MemoryExhausted), ..response }
    }
}
