//! `GET /.well-known/jwks.json`: the public keys that verify tokens (RFC 7517).

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};

use crate::access::tokens::jwt::Tokens;
use crate::api::negotiate::Media;
use crate::http::response::{HttpResponse, json_response};

/// Responds with the keys. A new key signs at once, so clients that meet an unknown key should fetch them again. The age
/// keeps the others from fetching them for every token.
pub(crate) fn respond(tokens: &Tokens) -> HttpResponse {
    let mut response = json_response(StatusCode::OK, Media::Json.content_type(), &tokens.public_keys());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    response
}
