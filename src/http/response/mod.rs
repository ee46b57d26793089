//! A response before it goes to the connection: a head, and a body that is complete or made in chunks as the client reads.
//! `cors` and `entity_tag` are about headers of all responses.

pub(crate) mod cors;
pub(crate) mod entity_tag;

use std::error::Error;
use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use serde::Serialize;

/// A response before it goes to the connection.
pub(crate) type HttpResponse = Response<ResponseBody>;

/// A response's body.
pub(crate) enum ResponseBody {
    /// Sent in one frame, with `Content-Length`.
    Whole(Bytes),
    /// The next chunk is made when the connection has room for it. A chunk that fails breaks the connection, so that a
    /// truncated body never looks complete.
    Chunks(Chunks),
    /// A body in chunks that may have to be waited for. Dropping it ends the code that makes the chunks.
    Stream(ChunkStream),
}

/// Chunks that can be made at once.
pub(crate) type Chunks = Box<dyn Iterator<Item = Result<Bytes, BoxError>> + Send>;

/// Chunks that may have to be waited for.
pub(crate) type ChunkStream = Pin<Box<dyn futures_util::Stream<Item = Result<Bytes, BoxError>> + Send>>;

/// Any error, for the log.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Chunks(_) => f.write_str("chunks"),
            Self::Stream(_) => f.write_str("a stream of chunks"),
        }
    }
}

/// A response of JSON.
pub(crate) fn json_response(status: StatusCode, media: HeaderValue, body: &impl Serialize) -> HttpResponse {
    let mut text = Vec::with_capacity(256);
    // Writing to memory cannot fail, and the keys of all bodies are strings.
    let _ = serde_json::to_writer(&mut text, body);
    let mut response = HttpResponse::new(Bytes::from(text).into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
}

/// A response without a body.
pub(crate) fn empty_response(status: StatusCode) -> HttpResponse {
    let mut response = HttpResponse::new(Bytes::new().into());
    *response.status_mut() = status;
    response
}

/// Adds request headers, separated by commas, to `Vary`: caches must store a response for each of their values.
pub(crate) fn add_vary(headers: &mut HeaderMap, names: HeaderValue) {
    let value = match headers.get(header::VARY) {
        None => names,
        Some(others) => match HeaderValue::from_bytes(&[others.as_bytes(), b", ", names.as_bytes()].concat()) {
            Ok(value) => value,
            Err(_) => return,
        },
    };
    headers.insert(header::VARY, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vary_collects_the_names_in_one_line() {
        let mut headers = HeaderMap::new();
        add_vary(&mut headers, HeaderValue::from_static("Accept"));
        add_vary(&mut headers, HeaderValue::from_static("Origin"));
        assert_eq!(headers[header::VARY], "Accept, Origin");
    }
}
