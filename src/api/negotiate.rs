//! Media types: which one a GraphQL response has (RFC 9110, section 12.5.1, and GraphQL-over-HTTP), and which ones request
//! bodies may have.

use std::cmp::Reverse;

use hyper::HeaderMap;
use hyper::header::{self, HeaderValue};

use crate::api::errors::endpoint_error::EndpointError;
use crate::http::quality::{Quality, elements, parameters};

/// The media type of a GraphQL response. It decides the status of errors too; see `error_response`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    /// `application/json`: the status of a well-formed request is 200, whatever its errors.
    Json,
    /// `application/graphql-response+json`: an error has its own status.
    GraphqlResponse,
}

impl Media {
    /// The media type as in `Content-Type`.
    pub(crate) fn content_type(self) -> HeaderValue {
        // Constants, which are checked when the program is built.
        const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
        const GRAPHQL: HeaderValue = HeaderValue::from_static("application/graphql-response+json; charset=utf-8");
        match self {
            Self::Json => JSON,
            Self::GraphqlResponse => GRAPHQL,
        }
    }
}

/// The media type that the client prefers. It is `application/json`, which most clients of this service read, unless
/// `Accept` prefers the newer one. Fails if `Accept` excludes both.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<Media, EndpointError> {
    if accepts_plain_json(headers) {
        return Ok(Media::Json);
    }
    let mut ranges = Vec::new();
    for value in headers.get_all(header::ACCEPT) {
        let Ok(value) = value.to_str() else { return Err(EndpointError::NotAcceptable) };
        ranges.extend(elements(value).filter_map(MediaRange::parse));
    }
    if ranges.is_empty() {
        return Ok(Media::Json);
    }
    let json = preference(&ranges, "json");
    let graphql = preference(&ranges, "graphql-response+json");
    match (json, graphql) {
        (None, None) => Err(EndpointError::NotAcceptable),
        (Some(_), None) => Ok(Media::Json),
        (None, Some(_)) => Ok(Media::GraphqlResponse),
        // At the same quality a name goes before a wildcard, and the first name before the others.
        (Some(json), Some(graphql)) => {
            let rank = |preference: Preference| (preference.quality, preference.specificity, Reverse(preference.index));
            Ok(if rank(graphql) > rank(json) { Media::GraphqlResponse } else { Media::Json })
        }
    }
}

/// Whether the client sends what most do, which needs no parsing: nothing, or one value without alternatives.
fn accepts_plain_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::ACCEPT).into_iter();
    match (values.next(), values.next()) {
        (None, _) => true,
        (Some(value), None) => matches!(value.as_bytes(), b"application/json" | b"*/*"),
        (Some(_), Some(_)) => false,
    }
}

/// Whether the client prefers JSON in lines, `application/x-ndjson`, to the other media types. It has to name it.
pub(crate) fn prefers_lines(headers: &HeaderMap) -> bool {
    let values = || headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    // Hardly any request does, and none should pay for the others.
    if accepts_plain_json(headers) || !values().any(|value| value.contains("ndjson")) {
        return false;
    }
    let ranges: Vec<_> = values().flat_map(elements).filter_map(MediaRange::parse).collect();
    let rank = |preference: Preference| (preference.quality, preference.specificity, Reverse(preference.index));
    let others = ["json", "graphql-response+json"].map(|subtype| preference(&ranges, subtype).map(rank));
    preference(&ranges, "x-ndjson")
        .filter(|preference| preference.specificity == 2)
        .is_some_and(|preference| others.into_iter().all(|other| other < Some(rank(preference))))
}

/// Whether the client prefers a page, `text/html`, to the media types of data, as browsers do. It has to name it.
pub(crate) fn prefers_page(headers: &HeaderMap) -> bool {
    let values = || headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    // Hardly any request does, and none should pay for the others.
    if !values().any(|value| value.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"html"))) {
        return false;
    }
    let page = values().flat_map(elements).find_map(|element| {
        let (media, mut parameters) = parameters(element);
        let quality = match parameters.find(|(name, _)| name.eq_ignore_ascii_case("q")) {
            None => Quality::MAX,
            Some((_, value)) => Quality::parse(value?)?,
        };
        media.eq_ignore_ascii_case("text/html").then_some(quality)
    });
    let ranges: Vec<_> = values().flat_map(elements).filter_map(MediaRange::parse).collect();
    let is_preferred = |page: Quality| {
        ["json", "graphql-response+json", "x-ndjson"]
            .into_iter()
            .filter_map(|subtype| preference(&ranges, subtype))
            // At the same quality a name goes before a wildcard, and data before the page.
            .all(|data| (data.quality, data.specificity) < (page, 2))
    };
    page.is_some_and(|page| page.is_acceptable() && is_preferred(page))
}

/// Fails if the body is compressed.
pub(crate) fn reject_compressed(headers: &HeaderMap) -> Result<(), EndpointError> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => Err(EndpointError::CompressedBody),
        _ => Ok(()),
    }
}

/// Fails if the body is not declared to be JSON in UTF-8. `Content-Type` is required: an HTML form cannot send JSON, so a
/// browser asks for permission (CORS) before it sends such a request for a page of another origin.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), EndpointError> {
    reject_compressed(headers)?;
    let mut values = headers.get_all(header::CONTENT_TYPE).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(EndpointError::NotJson) };
    // Most clients send this value.
    if value == "application/json" {
        return Ok(());
    }
    let (media, mut parameters) = parameters(value.to_str().map_err(|_| EndpointError::NotJson)?);
    if !media.eq_ignore_ascii_case("application/json") {
        return Err(EndpointError::NotJson);
    }
    if parameters
        .any(|(name, value)| name.eq_ignore_ascii_case("charset") && value.is_some_and(|value| !is_utf8(value)))
    {
        return Err(EndpointError::NotUtf8);
    }
    Ok(())
}

/// An element of `Accept`.
#[derive(Debug)]
struct MediaRange {
    /// The part after `application/`; `None` for a wildcard that includes all of them.
    subtype: Option<String>,
    /// 2 for a name, 1 for `application/*`, 0 for `*/*`.
    specificity: u8,
    quality: Quality,
}

#[derive(Debug, Clone, Copy)]
struct Preference {
    quality: Quality,
    specificity: u8,
    index: usize,
}

/// The quality of a media type: the quality of the most specific range that includes it. `None` if no range includes it, or if it is not
/// acceptable.
fn preference(ranges: &[MediaRange], subtype: &str) -> Option<Preference> {
    ranges
        .iter()
        .enumerate()
        .filter(|(_, range)| range.subtype.as_deref().is_none_or(|name| name == subtype))
        .map(|(index, range)| Preference { quality: range.quality, specificity: range.specificity, index })
        .max_by_key(|preference| (preference.specificity, Reverse(preference.index)))
        .filter(|preference| preference.quality.is_acceptable())
}

impl MediaRange {
    /// `None` for a malformed element, which is ignored.
    fn parse(element: &str) -> Option<Self> {
        let (media, parameters) = parameters(element);
        let media = media.to_ascii_lowercase();
        // A range of another type counts: it means that not everything is accepted.
        let (subtype, specificity) = match media.split_once('/')? {
            ("*", "*") => (None, 0),
            ("application", "*") => (None, 1),
            ("application", subtype) => (Some(subtype.to_owned()), 2),
            _ => (Some(String::new()), 2),
        };
        // JSON is UTF-8, whatever charset a client names.
        let mut quality = Quality::MAX;
        for (name, value) in parameters {
            if name.eq_ignore_ascii_case("q") {
                quality = Quality::parse(value?)?;
            }
        }
        Some(Self { subtype, specificity, quality })
    }
}

/// Whether a charset is UTF-8, by its name or by the other one that browsers accept.
fn is_utf8(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(values: &[&str]) -> Option<Media> {
        let headers = values.iter().map(|value| (header::ACCEPT, value.parse().unwrap())).collect();
        accepted(&headers).ok()
    }

    #[test]
    fn chooses_json_unless_the_client_prefers_the_newer_type() {
        for values in [
            &[][..],
            &["*/*"],
            &["application/*"],
            &["application/json"],
            &["text/html, */*;q=0.1"],
            &["application/json, application/graphql-response+json"],
            &["application/graphql-response+json;q=0.5, application/json"],
            &["application/graphql-response+json;q=0, */*"],
            &["APPLICATION/JSON; charset=\"UTF-8\""],
            &["application/json; charset=iso-8859-1"],
        ] {
            assert_eq!(accept(values), Some(Media::Json), "{values:?}");
        }
        for values in [
            &["application/graphql-response+json"][..],
            &["application/graphql-response+json; charset=utf-8, application/json; charset=utf-8"],
            &["application/graphql-response+json, application/json;q=0.9"],
            &["application/json;q=0.9", "application/graphql-response+json"],
            &["*/*, application/graphql-response+json"],
            &["application/json;q=0, */*"],
            &["text/html;x=\"a,b;q=1\", application/graphql-response+json;q=0.001"],
        ] {
            assert_eq!(accept(values), Some(Media::GraphqlResponse), "{values:?}");
        }
        for values in [&["text/html"][..], &["application/json;q=0"], &["*/*;q=0.0"], &["image/*, application/xml"]] {
            assert_eq!(accept(values), None, "{values:?}");
        }
    }

    #[test]
    fn lines_have_to_be_named_and_preferred() {
        let lines = |value: &str| prefers_lines(&HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())]));
        for value in
            ["application/x-ndjson", "application/x-ndjson, application/json;q=0.9", "*/*, application/x-ndjson;q=1"]
        {
            assert!(lines(value), "{value}");
        }
        for value in [
            "*/*",
            "application/json, application/x-ndjson",
            "application/x-ndjson;q=0.5, */*",
            "application/x-ndjson;q=0",
        ] {
            assert!(!lines(value), "{value}");
        }
        assert!(!prefers_lines(&HeaderMap::new()));
    }

    #[test]
    fn browsers_prefer_a_page_and_clients_that_name_json_do_not() {
        let page = |value: &str| prefers_page(&HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())]));
        for value in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            "text/html",
            "TEXT/HTML; q=0.9, application/json;q=0.5",
            "*/*, text/html",
        ] {
            assert!(page(value), "{value}");
        }
        for value in [
            "*/*",
            "text/*",
            "application/json",
            "application/json, text/html",
            "text/html;q=0.5, application/graphql-response+json",
            "text/html;q=0",
            "application/xhtml+xml",
        ] {
            assert!(!page(value), "{value}");
        }
        assert!(!prefers_page(&HeaderMap::new()));
    }

    #[test]
    fn requires_json_in_utf8() {
        let check = |value: &str| require_json(&HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().unwrap())]));
        for good in [
            "application/json",
            "Application/JSON; Charset=UTF-8",
            "application/json;charset=\"utf-8\"; x=y",
            "application/json; charset=utf8",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        assert!(matches!(check("application/json; charset=latin1"), Err(EndpointError::NotUtf8)));
        for bad in ["text/plain", "application/jsonx", "application/graphql", "multipart/form-data; boundary=x", ""] {
            assert!(matches!(check(bad), Err(EndpointError::NotJson)), "{bad}");
        }
        assert!(matches!(require_json(&HeaderMap::new()), Err(EndpointError::NotJson)));
    }
}
