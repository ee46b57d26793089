//! An answer before it goes to the connection: a head, and a body that is there or that comes in parts.

use std::error::Error;
use std::fmt;

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use serde::Serialize;

use crate::http::negotiate::Media;

/// An answer before it goes to the connection.
pub type Answer = Response<Content>;

/// An answer's body.
pub enum Content {
    /// Sent in one frame, with its length in the head.
    Whole(Bytes),
    /// Sent as the client reads it: the next part is asked for when there is room for it. A part that fails breaks the
    /// connection, so that a truncated body never looks whole.
    Parts(Box<dyn Iterator<Item = Result<Bytes, BoxError>> + Send>),
}

/// Any error, for the log.
pub type BoxError = Box<dyn Error + Send + Sync>;

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Parts(_) => f.write_str("parts"),
        }
    }
}

/// An answer of JSON.
pub fn with_json(status: StatusCode, media: Media, body: &impl Serialize) -> Answer {
    let mut text = Vec::with_capacity(256);
    // Writing to memory cannot fail, and no body has keys that are not strings.
    let _ = serde_json::to_writer(&mut text, body);
    let mut answer = Answer::new(Bytes::from(text).into());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    answer
}

/// An answer without a body.
pub fn empty(status: StatusCode) -> Answer {
    let mut answer = Answer::new(Bytes::new().into());
    *answer.status_mut() = status;
    answer
}

/// Notes headers of requests on which the answer depends, with commas between, so that caches keep its variants apart.
pub fn vary(answer: &mut HeaderMap, names: &'static str) {
    let value = match answer.get(header::VARY).and_then(|value| value.to_str().ok()) {
        None => HeaderValue::from_static(names),
        Some(others) => match HeaderValue::try_from(format!("{others}, {names}")) {
            Ok(value) => value,
            Err(_) => return,
        },
    };
    answer.insert(header::VARY, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_depends_on_is_gathered_in_one_line() {
        let mut headers = HeaderMap::new();
        vary(&mut headers, "Accept");
        vary(&mut headers, "Origin");
        assert_eq!(headers[header::VARY], "Accept, Origin");
    }
}
