//! `GET /metrics`: all metrics, for Prometheus.

use hyper::header::{self, HeaderValue};

use crate::api::errors::service_error::ServiceError;
use crate::api::operators::state_metrics::exposition;
use crate::api::service::Service;
use crate::http::response::HttpResponse;
use crate::telemetry::metrics::exposition::CONTENT_TYPE;

/// Responds with what the metrics read now.
pub(crate) fn respond(service: &Service, request_id: &str) -> Result<HttpResponse, ServiceError> {
    let text = exposition(service).map_err(|error| ServiceError::internal(request_id, error))?;
    let mut response = HttpResponse::new(bytes::Bytes::from(text).into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    Ok(response)
}
