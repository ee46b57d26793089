//! Which web pages' scripts may read answers (the Fetch standard's CORS protocol). Off unless it is asked for.
//!
//! Credentials are never allowed: who calls is told by a token that the script itself sends, not by a cookie that a
//! browser adds. So `*` is as safe as a list; it says that any page may ask whose visitor gives it a token.

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{self, HeaderValue};

use crate::http::response::vary;

/// Headers of answers that scripts may read beside those that they always may.
const EXPOSED: &str = "X-Request-Id, Retry-After, ETag";

/// What is set.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whose scripts may read answers.
    pub origins: Origins,
    /// How long a browser may remember a preflight's answer.
    pub max_age: Duration,
}

/// Whose scripts may read answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// Nobody's.
    None,
    /// Everybody's.
    Any,
    /// Those of these origins, written as browsers write them.
    These(Vec<String>),
}

impl Origins {
    /// Reads nothing, `*`, or origins with commas between.
    pub fn read(text: &str) -> Option<Self> {
        match text.trim() {
            "" => Some(Self::None),
            "*" => Some(Self::Any),
            list => list.split(',').map(|origin| origin_of(origin.trim())).collect::<Option<_>>().map(Self::These),
        }
    }

    /// What `Access-Control-Allow-Origin` says to a request with this `Origin`.
    fn allow(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        match self {
            Self::None => None,
            Self::Any => Some(HeaderValue::from_static("*")),
            Self::These(origins) => {
                origins.iter().any(|known| known.as_bytes() == origin.as_bytes()).then(|| origin.clone())
            }
        }
    }
}

/// Adds to any answer what its request's origin may do with it. An origin that may do nothing is told nothing, and its
/// browser keeps the answer from it.
pub fn mark(options: &Options, request: &HeaderMap, answer: &mut HeaderMap) {
    if let Origins::These(_) = options.origins {
        // For caches: another origin would get another header.
        vary(answer, "Origin");
    }
    if let Some(allowed) = origin(request).and_then(|origin| options.origins.allow(origin)) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}

/// Adds to the answer to `OPTIONS` what a preflight asks for: the endpoint's methods, and every header that is to be
/// sent. None of them does harm: what a stranger's page may not do, it cannot do for want of a token.
pub fn answer_preflight(options: &Options, methods: &'static str, request: &HeaderMap, answer: &mut HeaderMap) {
    let is_preflight = request.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if !is_preflight || origin(request).and_then(|origin| options.origins.allow(origin)).is_none() {
        return;
    }
    answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        vary(answer, "Access-Control-Request-Headers");
    }
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(options.max_age.as_secs()));
}

/// The request's origin; two are as good as none.
fn origin(request: &HeaderMap) -> Option<&HeaderValue> {
    let mut values = request.get_all(header::ORIGIN).into_iter();
    values.next().filter(|_| values.next().is_none())
}

/// An origin as browsers write it: in small letters, without the scheme's own port. `None` for what no browser sends,
/// such as an address with a path; and for `null`, which every sandboxed page has.
fn origin_of(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, host) = text.split_once("://")?;
    let known_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let host = if known_port.is_empty() { host } else { host.strip_suffix(known_port).unwrap_or(host) };
    let of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let is_one = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(of_scheme)
        && !host.is_empty()
        && host.bytes().all(of_host);
    is_one.then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        let these = |origins: &[&str]| Some(Origins::These(origins.iter().map(ToString::to_string).collect()));
        assert_eq!(Origins::read(""), Some(Origins::None));
        assert_eq!(Origins::read("*"), Some(Origins::Any));
        assert_eq!(
            Origins::read("https://App.example.com:443, http://localhost:3000,chrome-extension://abc, http://[::1]:80"),
            these(&["https://app.example.com", "http://localhost:3000", "chrome-extension://abc", "http://[::1]"])
        );
        for wrong in [
            "null",
            "example.com",
            "https://",
            "https://a/",
            "https://a,*",
            "https://*.a",
            "https://a b",
            "https://a,",
            "://a",
            "https://user@a",
        ] {
            assert_eq!(Origins::read(wrong), None, "{wrong}");
        }
    }
}
