//! `GET /config`: the settings in force, and where each comes from. Secrets are not shown.

use hyper::StatusCode;
use serde_json::Value;

use crate::api::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};

/// Responds with the settings.
pub(crate) fn respond(settings: &Value) -> HttpResponse {
    json_response(StatusCode::OK, Media::Json.content_type(), settings)
}
