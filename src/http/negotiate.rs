//! In which form a GraphQL answer goes out, and in which a request may come in (RFC 9110, section 12.5.1, and
//! GraphQL-over-HTTP).

use hyper::{HeaderMap, header};

use crate::http::request_error::RequestError;

/// The media type of a GraphQL answer. It decides the status too; see `respond`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// `application/json`: every well-formed request is answered with 200.
    Json,
    /// `application/graphql-response+json`: the status tells what happened.
    GraphqlResponse,
}

impl Media {
    /// As in `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
        }
    }
}

/// What the client accepts best. Without an `Accept`, and where nothing speaks for the newer type, it is
/// `application/json`, which is what this service's clients read.
pub fn accepted(headers: &HeaderMap) -> Result<Media, RequestError> {
    let mut ranges = Vec::new();
    for value in headers.get_all(header::ACCEPT) {
        let Ok(value) = value.to_str() else { return Err(RequestError::NotAcceptable) };
        ranges.extend(split_outside_quotes(value, ',').into_iter().filter_map(range));
    }
    if ranges.is_empty() {
        return Ok(Media::Json);
    }
    let json = preference(&ranges, "json");
    let graphql = preference(&ranges, "graphql-response+json");
    match (json, graphql) {
        (None, None) => Err(RequestError::NotAcceptable),
        (Some(_), None) => Ok(Media::Json),
        (None, Some(_)) => Ok(Media::GraphqlResponse),
        // At the same weight, what is named goes before what a wildcard covers, and what is named first before the rest.
        (Some(json), Some(graphql)) => {
            let rank = |p: Preference| (p.weight, p.specificity, std::cmp::Reverse(p.place));
            Ok(if rank(graphql) > rank(json) { Media::GraphqlResponse } else { Media::Json })
        }
    }
}

/// Refuses a body that would have to be decompressed.
pub fn refuse_compressed(headers: &HeaderMap) -> Result<(), RequestError> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => Err(RequestError::CompressedBody),
        _ => Ok(()),
    }
}

/// Refuses a body that is not JSON in UTF-8. A missing `Content-Type` is refused too: a browser's form cannot send JSON
/// without being asked whether it may.
pub fn require_json(headers: &HeaderMap) -> Result<(), RequestError> {
    refuse_compressed(headers)?;
    let mut values = headers.get_all(header::CONTENT_TYPE).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(RequestError::NotJson) };
    let mut parts = split_outside_quotes(value.to_str().map_err(|_| RequestError::NotJson)?, ';').into_iter();
    if !parts.next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json")) {
        return Err(RequestError::NotJson);
    }
    for parameter in parts {
        if let Some((name, value)) = parameter.split_once('=')
            && name.trim().eq_ignore_ascii_case("charset")
            && !is_utf8(value.trim().trim_matches('"'))
        {
            return Err(RequestError::NotUtf8);
        }
    }
    Ok(())
}

/// One entry of `Accept`.
#[derive(Debug)]
struct Range {
    /// The part after `application/`; `None` for one that covers all of them.
    subtype: Option<String>,
    /// 2 for a name, 1 for `application/*`, 0 for `*/*`.
    specificity: u8,
    /// Thousandths.
    weight: u16,
}

#[derive(Debug, Clone, Copy)]
struct Preference {
    weight: u16,
    specificity: u8,
    place: usize,
}

/// The weight of a type: that of the most specific entry that covers it, unless that is 0.
fn preference(ranges: &[Range], subtype: &str) -> Option<Preference> {
    ranges
        .iter()
        .enumerate()
        .filter(|(_, range)| range.subtype.as_deref().is_none_or(|name| name == subtype))
        .map(|(place, range)| Preference { weight: range.weight, specificity: range.specificity, place })
        .max_by_key(|preference| (preference.specificity, std::cmp::Reverse(preference.place)))
        .filter(|preference| preference.weight > 0)
}

/// An entry that covers one of our types, or `None`. One that is malformed covers nothing.
fn range(entry: &str) -> Option<Range> {
    let mut parts = split_outside_quotes(entry, ';').into_iter();
    let media = parts.next()?.trim().to_ascii_lowercase();
    // An entry of another type still counts as one: it says that not everything is accepted.
    let (subtype, specificity) = match media.split_once('/')? {
        ("*", "*") => (None, 0),
        ("application", "*") => (None, 1),
        ("application", subtype) => (Some(subtype.to_owned()), 2),
        _ => (Some(String::new()), 2),
    };
    let mut weight = 1000;
    for parameter in parts {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let (name, value) = (name.trim(), value.trim().trim_matches('"'));
        if name.eq_ignore_ascii_case("q") {
            weight = thousandths(value)?;
        } else if name.eq_ignore_ascii_case("charset") && !is_utf8(value) {
            weight = 0;
        }
    }
    Some(Range { subtype, specificity, weight })
}

/// Whether a charset is UTF-8, by its name or the one that browsers take for it too.
fn is_utf8(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

/// A weight: `0`, `1`, or up to three places between.
pub(super) fn thousandths(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: u16 = format!("{fraction:0<3}").parse().ok()?;
    match (whole, fraction) {
        ("0", _) => Some(fraction),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let mut quoted = false;
    text.split(|character| {
        quoted ^= character == '"';
        character == separator && !quoted
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(values: &[&str]) -> Option<Media> {
        let headers = values.iter().map(|value| (header::ACCEPT, value.parse().unwrap())).collect();
        accepted(&headers).ok()
    }

    #[test]
    fn json_unless_something_speaks_for_the_newer_type() {
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
    fn weights_are_as_the_rule_says() {
        let read: Vec<_> = ["1", "1.000", "0.5", "0.001", "0", "0."].map(thousandths).to_vec();
        assert_eq!(read, [Some(1000), Some(1000), Some(500), Some(1), Some(0), Some(0)]);
        for wrong in ["", "2", "1.1", "0.1234", "-1", "0,5", "a"] {
            assert_eq!(thousandths(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_body_is_json_in_utf8() {
        let check = |value: &str| require_json(&HeaderMap::from_iter([(header::CONTENT_TYPE, value.parse().unwrap())]));
        for good in [
            "application/json",
            "Application/JSON; Charset=UTF-8",
            "application/json;charset=\"utf-8\"; x=y",
            "application/json; charset=utf8",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        assert!(matches!(check("application/json; charset=latin1"), Err(RequestError::NotUtf8)));
        for bad in ["text/plain", "application/jsonx", "application/graphql", "multipart/form-data; boundary=x", ""] {
            assert!(matches!(check(bad), Err(RequestError::NotJson)), "{bad}");
        }
        assert!(matches!(require_json(&HeaderMap::new()), Err(RequestError::NotJson)));
    }
}
