//! `GET /.well-known/jwks.json`: the public keys of tokens, for others who verify them (RFC 7517).

use hyper::StatusCode;
use hyper::header::{self, HeaderValue};

use crate::access::jwt::Tokens;
use crate::http::negotiate::Media;
use crate::http::response::{Answer, with_json};

/// The keys. A new one signs at once, so who meets a key that it does not know should ask again; the age keeps others
/// from asking for every token.
pub fn answer(tokens: &Tokens) -> Answer {
    let mut answer = with_json(StatusCode::OK, Media::Json, &tokens.public_keys());
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    answer
}
