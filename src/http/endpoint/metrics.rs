//! `GET /metrics`: all metrics, for Prometheus.

use hyper::header::{self, HeaderValue};

use crate::http::access_log::AccessLogEntry;
use crate::http::response::HttpResponse;
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::http::state_metrics::exposition;
use crate::telemetry::metrics::exposition::CONTENT_TYPE;

/// Responds with what the metrics read now.
pub(crate) fn respond(service: &Service, entry: &AccessLogEntry) -> Result<HttpResponse, ServiceError> {
    let text = exposition(service).map_err(|error| ServiceError::internal(&entry.id, error))?;
    let mut response = HttpResponse::new(bytes::Bytes::from(text).into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    Ok(response)
}
