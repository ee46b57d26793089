//! `GET /health/live` and `GET /health/ready`: the probes of orchestrators and load balancers.

use hyper::StatusCode;
use serde_json::json;

use crate::http::negotiate::Media;
use crate::http::readiness::Readiness;
use crate::http::response::{HttpResponse, json_response};
use crate::http::route::Endpoints;
use crate::http::service::Service;

/// The process responds, so it is live.
pub(crate) fn live() -> HttpResponse {
    json_response(StatusCode::OK, Media::Json, &json!({"status": "live"}))
}

/// Whether queries can be answered. Operators also see each part.
pub(crate) fn ready(service: &Service, endpoints: Endpoints) -> HttpResponse {
    let readiness = Readiness::of(service);
    let (status, mut body) = match readiness.failure() {
        None => (StatusCode::OK, json!({"status": "ready"})),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "not ready", "reason": reason})),
    };
    if endpoints == Endpoints::Admin {
        body["parts"] = readiness.describe_parts();
    }
    json_response(status, Media::Json, &body)
}
