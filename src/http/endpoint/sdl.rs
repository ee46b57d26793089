//! `GET /rest/s1/graphql/sdl`: the definition of the exact schema that this instance runs. No token is asked for.

use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use crate::http::coding::{self, Choice, Coding, Codings};
use crate::http::compress;
use crate::http::request_error::RequestError;
use crate::http::response::{Answer, empty, vary};

/// The schema's text and its tag, made once. So is the text in each coding, when it is first asked for: nobody needs a
/// token to ask, so asking must not cost much.
#[derive(Debug)]
pub struct Document {
    text: Bytes,
    tag: String,
    compressed: [OnceLock<Bytes>; Coding::ALL.len()],
}

impl Document {
    /// The published text.
    pub fn new(text: String) -> Self {
        // The hasher's keys are fixed, so every instance that runs the same schema gives it the same tag.
        let mut hasher = DefaultHasher::new();
        hasher.write(text.as_bytes());
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self { text: text.into(), tag, compressed: Default::default() }
    }

    /// The text in the coding; as it is, should the coding fail.
    fn compressed(&self, coding: Coding) -> Option<&Bytes> {
        let place = self.compressed.get(coding as usize)?;
        if place.get().is_none() {
            // Two who ask at the same time make the same.
            let _ = place.set(compress::encode(&self.text, coding).ok()?);
        }
        place.get()
    }
}

/// The text, or 304 for a client that has it.
pub fn answer(document: &Document, headers: &HeaderMap, codings: &Codings) -> Result<Answer, RequestError> {
    let coded = match coding::accepted(headers, codings)? {
        Choice::Identity => None,
        Choice::Preferred(_) if document.text.len() < compress::MIN_BYTES => None,
        Choice::Preferred(coding) | Choice::Only(coding) => document.compressed(coding).map(|bytes| (bytes, coding)),
    };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().any(|value| names(value, &document.tag));
    let mut answer = match coded {
        _ if known => empty(StatusCode::NOT_MODIFIED),
        Some((bytes, _)) => Answer::new(bytes.clone().into()),
        None => Answer::new(document.text.clone().into()),
    };
    let headers = answer.headers_mut();
    if !known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if let Some((_, coding)) = coded {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
    }
    // To be asked for each time, and answered in a few bytes: a new version may run from one moment to the next.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // The strong tag is of the text as it is; a compressed one says the same in other bytes.
    let tag = if coded.is_some() { format!("W/{}", document.tag) } else { document.tag.clone() };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if !codings.is_empty() {
        vary(headers, "Accept-Encoding");
    }
    Ok(answer)
}

/// Whether `If-None-Match` names the tag. The comparison is the weak one (RFC 9110, section 13.1.2).
fn names(value: &HeaderValue, tag: &str) -> bool {
    let Ok(value) = value.to_str() else { return false };
    value.split(',').map(str::trim).any(|entry| entry == "*" || entry.strip_prefix("W/").unwrap_or(entry) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::response::Content;

    fn text(answer: &Answer) -> &Bytes {
        let Content::Whole(text) = answer.body() else { panic!("the schema is sent whole") };
        text
    }

    #[test]
    fn a_client_that_has_the_text_is_not_sent_it_again() {
        let document = Document::new("type QueryRoot { a: Int }".into());
        let ask = |value: &str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, value.parse().unwrap())]);
            super::answer(&document, &headers, &Codings::parse("on").unwrap()).unwrap()
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

    #[test]
    fn the_text_is_compressed_once_under_a_weak_tag() {
        let document = Document::new("type QueryRoot { a: Int } ".repeat(100));
        let codings = Codings::parse("on").unwrap();
        let ask = |accepted: &str, known: &str| {
            let pairs = [(header::ACCEPT_ENCODING, accepted), (header::IF_NONE_MATCH, known)];
            let headers = pairs.map(|(name, value)| (name, value.parse().unwrap())).into_iter().collect();
            super::answer(&document, &headers, &codings)
        };
        let weak = format!("W/{}", document.tag);
        for coding in Coding::ALL {
            let first = ask(coding.name(), "\"x\"").unwrap();
            assert_eq!(first.headers()[header::CONTENT_ENCODING], coding.name());
            assert_eq!(first.headers()[header::ETAG], weak);
            assert_eq!(first.headers()[header::VARY], "Accept-Encoding");
            assert!(text(&first).len() < document.text.len() / 4);
            let second = ask(coding.name(), "\"x\"").unwrap();
            assert_eq!(text(&first).as_ptr(), text(&second).as_ptr());
            let unchanged = ask(coding.name(), &weak).unwrap();
            assert_eq!((unchanged.status(), text(&unchanged).len()), (StatusCode::NOT_MODIFIED, 0));
        }
        assert!(matches!(ask("identity;q=0", "*"), Err(RequestError::NoAcceptableCoding)));
    }
}
