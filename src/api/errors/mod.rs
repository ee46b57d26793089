//! Errors.
//!
//! The causes are `endpoint_error`, `access_error`, `query_error`, `changes_error` and `service_error`, besides a few that belong to one
//! step of an endpoint. All of them convert into an `api_error`, which only `api::error_response` turns into a response. The
//! `unavailability_log` has the causes of responses with 503, which clients do not see.

pub(crate) mod access_error;
pub(crate) mod api_error;
pub(crate) mod changes_error;
pub(crate) mod endpoint_error;
pub(crate) mod query_error;
pub(crate) mod service_error;
mod unavailability_log;
