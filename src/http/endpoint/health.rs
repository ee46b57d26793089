//! `GET /health/live` and `GET /health/ready`: the probes of orchestrators and load balancers.

use hyper::StatusCode;
use serde_json::json;

use crate::access::grant_cache::GrantCache;
use crate::http::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};

/// The process responds, so it is live.
pub(crate) fn live() -> HttpResponse {
    json_response(StatusCode::OK, Media::Json, &json!({"status": "live"}))
}

/// Whether the database can be reached. The connection that listens for changed grants shows it, so that probes, which
/// anybody may send, do not load the database.
pub(crate) fn ready(grants: &GrantCache) -> HttpResponse {
    if grants.is_connected() {
        json_response(StatusCode::OK, Media::Json, &json!({"status": "ready"}))
    } else {
        let body = json!({"status": "not ready", "reason": "the database cannot be reached"});
        json_response(StatusCode::SERVICE_UNAVAILABLE, Media::Json, &body)
    }
}
