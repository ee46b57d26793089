//! `GET /health/live` and `GET /health/ready`: probes for whoever keeps the process running and sends it traffic.

use hyper::StatusCode;
use serde_json::json;

use crate::access::grant_cache::GrantCache;
use crate::http::negotiate::Media;
use crate::http::response::{Answer, with_json};

/// The process answers, so it lives.
pub fn live() -> Answer {
    with_json(StatusCode::OK, Media::Json, &json!({"status": "live"}))
}

/// Whether the database can be reached. It is known from the connection on which changes of grants are heard, so that
/// probes, which anybody may send, cost the database nothing.
pub fn ready(grants: &GrantCache) -> Answer {
    if grants.is_connected() {
        with_json(StatusCode::OK, Media::Json, &json!({"status": "ready"}))
    } else {
        let body = json!({"status": "not ready", "reason": "the database cannot be reached"});
        with_json(StatusCode::SERVICE_UNAVAILABLE, Media::Json, &body)
    }
}
