//! CORS (the Fetch standard): which web pages' scripts may read responses. Off by default.
//!
//! Credentials are never allowed: scripts send a token by themselves, and browsers add no cookie. So `*` is as safe as a
//! list: any page may use the API if its visitor gives it a token.

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{self, HeaderValue};

use crate::http::response::add_vary;

/// Response headers that scripts may read beside the headers that they always may read.
const EXPOSED: &str = "X-Request-Id, Retry-After, ETag, Preference-Applied, Orderql-Position";

#[derive(Debug, Clone)]
pub(crate) struct CorsOptions {
    pub(crate) origins: Origins,
    /// How long browsers may cache the response to a preflight.
    pub(crate) max_age: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origins {
    /// No page of another origin may read responses.
    None,
    Any,
    /// These origins, in the form in which browsers send them.
    List(Vec<String>),
}

impl Origins {
    /// Parses an empty text, `*`, or a list of origins separated by commas.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "" => Some(Self::None),
            "*" => Some(Self::Any),
            list => list.split(',').map(|origin| parse_origin(origin.trim())).collect::<Option<_>>().map(Self::List),
        }
    }

    /// The value of `Access-Control-Allow-Origin` for this `Origin`.
    fn allow(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        match self {
            Self::None => None,
            Self::Any => Some(HeaderValue::from_static("*")),
            Self::List(origins) => {
                origins.iter().any(|known| known.as_bytes() == origin.as_bytes()).then(|| origin.clone())
            }
        }
    }
}

/// Adds the headers that let the request's origin read the response. Without them the browser withholds it.
pub(crate) fn add_headers(options: &CorsOptions, request: &HeaderMap, response: &mut HeaderMap) {
    match options.origins {
        Origins::None => return,
        Origins::Any => {}
        // For caches: other origins get other headers.
        Origins::List(_) => add_vary(response, HeaderValue::from_static("Origin")),
    }
    if let Some(allowed) = origin(request).and_then(|origin| options.origins.allow(origin)) {
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}

/// Adds to the response to `OPTIONS` what a preflight asks for: the endpoint's methods, and all headers that the script
/// wants to send. None of them does harm: without a token a page can do nothing.
pub(crate) fn add_preflight_headers(
    options: &CorsOptions,
    methods: &'static str,
    request: &HeaderMap,
    response: &mut HeaderMap,
) {
    let is_preflight = request.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if !is_preflight || origin(request).and_then(|origin| options.origins.allow(origin)).is_none() {
        return;
    }
    response.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods));
    if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        response.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        add_vary(response, HeaderValue::from_static("Access-Control-Request-Headers"));
    }
    response.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(options.max_age.as_secs()));
}

/// The request's origin, if there is exactly one.
fn origin(request: &HeaderMap) -> Option<&HeaderValue> {
    let mut values = request.get_all(header::ORIGIN).into_iter();
    values.next().filter(|_| values.next().is_none())
}

/// An origin in the form in which browsers send it: in lower case, without the scheme's default port. `None` for what no
/// browser sends, such as an address with a path, and for `null`, which every sandboxed page sends.
fn parse_origin(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, host) = text.split_once("://")?;
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let host = if default_port.is_empty() { host } else { host.strip_suffix(default_port).unwrap_or(host) };
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let is_origin = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_of_scheme)
        && !host.is_empty()
        && host.bytes().all(is_of_host);
    is_origin.then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_origins_as_browsers_send_them() {
        let list = |origins: &[&str]| Some(Origins::List(origins.iter().map(ToString::to_string).collect()));
        assert_eq!(Origins::parse(""), Some(Origins::None));
        assert_eq!(Origins::parse("*"), Some(Origins::Any));
        assert_eq!(
            Origins::parse(
                "https://App.example.com:443, http://localhost:3000,chrome-extension://abc, http://[::1]:80"
            ),
            list(&["https://app.example.com", "http://localhost:3000", "chrome-extension://abc", "http://[::1]"])
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
            assert_eq!(Origins::parse(wrong), None, "{wrong}");
        }
    }
}
