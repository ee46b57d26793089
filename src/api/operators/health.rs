//! `GET /health/live` and `GET /health/ready`: the probes of orchestrators and load balancers.

use hyper::StatusCode;
use serde_json::json;

use crate::api::negotiate::Media;
use crate::api::operators::readiness::Readiness;
use crate::api::service::Service;
use crate::http::listener_kind::ListenerKind;
use crate::http::response::{HttpResponse, json_response};

/// The process responds, so it is live.
pub(crate) fn live() -> HttpResponse {
    json_response(StatusCode::OK, Media::Json.content_type(), &json!({"status": "live"}))
}

/// Whether queries can be answered. Operators also see each part.
pub(crate) fn ready(service: &Service, listener: ListenerKind) -> HttpResponse {
    let readiness = Readiness::of(service);
    let (status, mut body) = match readiness.failure() {
        None => (StatusCode::OK, json!({"status": "ready"})),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "not ready", "reason": reason})),
    };
    if listener == ListenerKind::Admin {
        body["parts"] = readiness.describe_parts();
    }
    json_response(status, Media::Json.content_type(), &body)
}
