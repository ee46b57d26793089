//! `GET /rest/s1/graphql/sdl`: the definition of the exact schema that this instance runs. No token is asked for.

use std::hash::{DefaultHasher, Hasher};

use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};

use crate::http::respond::{Answer, empty};

/// The schema's text and its tag, made once.
#[derive(Debug)]
pub struct Document {
    text: Bytes,
    tag: String,
}

impl Document {
    /// The published text.
    pub fn new(text: String) -> Self {
        // The hasher's keys are fixed, so every instance that runs the same schema gives it the same tag.
        let mut hasher = DefaultHasher::new();
        hasher.write(text.as_bytes());
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self { text: text.into(), tag }
    }
}

/// The text, or 304 for a client that has it.
pub fn answer(document: &Document, headers: &HeaderMap) -> Answer {
    let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|value| names(value, &document.tag));
    let mut answer = if known { empty(StatusCode::NOT_MODIFIED) } else { Answer::new(document.text.clone().into()) };
    let headers = answer.headers_mut();
    if !known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    }
    // To be asked for each time, and answered in a few bytes: a new version may run from one moment to the next.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&document.tag) {
        headers.insert(header::ETAG, tag);
    }
    answer
}

/// Whether `If-None-Match` names the tag. The comparison is the weak one (RFC 9110, section 13.1.2).
fn names(value: &HeaderValue, tag: &str) -> bool {
    let Ok(value) = value.to_str() else { return false };
    value.split(',').map(str::trim).any(|entry| entry == "*" || entry.strip_prefix("W/").unwrap_or(entry) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::respond::Content;

    fn text(answer: &Answer) -> &Bytes {
        let Content::Whole(text) = answer.body() else { panic!("the schema is sent whole") };
        text
    }

    #[test]
    fn a_client_that_has_the_text_is_not_sent_it_again() {
        let document = Document::new("type QueryRoot { a: Int }".into());
        let ask = |value: &str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, value.parse().unwrap())]);
            super::answer(&document, &headers)
        };
        let tag = document.tag.as_str();
        for known in [tag.to_owned(), "*".into(), format!("W/{tag}"), format!("\"x\", {tag}")] {
            let answer = ask(&known);
            assert_eq!(answer.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(text(&answer), "");
            assert_eq!(answer.headers()[header::ETAG], tag);
        }
        let answer = ask("\"x\"");
        assert_eq!((answer.status(), text(&answer)), (StatusCode::OK, &document.text));
        assert_ne!(Document::new("type QueryRoot { b: Int }".into()).tag, document.tag);
    }
}
