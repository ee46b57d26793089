//! The content coding of a response (RFC 9110, sections 8.4.1 and 12.5.3), which `compress` applies.

pub(crate) mod compress;

use hyper::{HeaderMap, header};

use crate::http::quality::{Quality, elements, parameters};
use crate::http::request_error::RequestError;

/// A content coding that compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Brotli (RFC 7932), the smallest.
    Brotli,
    /// gzip (RFC 1952), which every client supports.
    Gzip,
    /// Zstandard (RFC 8878), the fastest.
    Zstd,
}

/// The codings that responses may have, in order of preference. Without any, responses are not compressed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Codings(Vec<Coding>);

/// The coding that a response has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// None.
    Identity,
    /// This coding if the response is large enough, and no coding otherwise.
    Preferred(Coding),
    /// This coding, however small the response is, because the client excludes the identity.
    Only(Coding),
}

impl Coding {
    /// Every coding, in the order of preference for clients that accept several with the same quality. Zstandard is the last,
    /// because `fetch` of Node.js 20 accepts it and cannot read it.
    pub(crate) const ALL: [Self; 3] = [Self::Brotli, Self::Gzip, Self::Zstd];

    /// The name, as in `Content-Encoding`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|coding| coding.name().eq_ignore_ascii_case(name))
    }
}

impl Codings {
    /// Parses `on`, `off`, or names separated by commas, in order of preference.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "on" => Some(Self(Coding::ALL.to_vec())),
            "off" => Some(Self::default()),
            names => names.split(',').map(|name| Coding::named(name.trim())).collect::<Option<_>>().map(Self),
        }
    }

    /// These codings, in order of preference.
    pub(crate) fn of(codings: impl IntoIterator<Item = Coding>) -> Self {
        Self(codings.into_iter().collect())
    }

    /// Whether there are none, so that responses do not depend on `Accept-Encoding`.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The coding with the highest quality in `Accept-Encoding`, and of several the first one in `codings`. Responses to
/// clients that do not ask for a coding are not compressed. Fails if the client excludes every coding and the identity.
pub(crate) fn accepted(headers: &HeaderMap, codings: &Codings) -> Result<Choice, RequestError> {
    if !headers.contains_key(header::ACCEPT_ENCODING) {
        return Ok(Choice::Identity);
    }
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let entries: Vec<_> = values.flat_map(elements).filter_map(entry).collect();
    let exactly = |name: &str| entries.iter().find(|entry| entry.0.eq_ignore_ascii_case(name)).map(|entry| entry.1);
    let quality = |name: &str| {
        // The old name of gzip (RFC 9110, section 8.4.1.3).
        exactly(name).or_else(|| if name == "gzip" { exactly("x-gzip") } else { None })
    };
    let others = quality("*");

    // The identity is acceptable unless it is excluded. Without a quality of its own it comes after every coding.
    let identity = quality("identity");
    let is_identity_acceptable = identity.or(others) != Some(Quality::NONE);
    let best = codings
        .0
        .iter()
        .rev()
        .map(|coding| (quality(coding.name()).or(others).unwrap_or(Quality::NONE), *coding))
        .filter(|(quality, _)| quality.is_acceptable())
        // The last one of the highest quality, which is the first one of `codings`.
        .max_by_key(|(quality, _)| *quality);
    match best {
        Some((_, coding)) if !is_identity_acceptable => Ok(Choice::Only(coding)),
        Some((quality, coding)) if identity.is_none_or(|identity| quality >= identity) => Ok(Choice::Preferred(coding)),
        _ if is_identity_acceptable => Ok(Choice::Identity),
        _ => Err(RequestError::NoAcceptableCoding),
    }
}

/// A coding's name and its quality. `None` for a malformed element, which is ignored.
fn entry(element: &str) -> Option<(&str, Quality)> {
    let (name, mut parameters) = parameters(element);
    let quality = match parameters.next() {
        None => Quality::MAX,
        Some((name, value)) if name.eq_ignore_ascii_case("q") => Quality::parse(value?)?,
        Some(_) => return None,
    };
    (!name.is_empty()).then_some((name, quality))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(value: &str, codings: &str) -> Option<Choice> {
        let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value.parse().unwrap())]);
        accepted(&headers, &Codings::parse(codings).unwrap()).ok()
    }

    #[test]
    fn chooses_the_coding_of_the_highest_quality_and_among_equals_the_configured_order() {
        use Choice::{Identity, Only, Preferred};
        use Coding::{Brotli, Gzip, Zstd};
        for (value, choice) in [
            ("gzip", Some(Preferred(Gzip))),
            ("X-GZIP", Some(Preferred(Gzip))),
            ("gzip, deflate, br, zstd", Some(Preferred(Brotli))),
            ("zstd, gzip", Some(Preferred(Gzip))),
            ("zstd, gzip;q=0.9, br;q=0.9", Some(Preferred(Zstd))),
            ("gzip, deflate, br", Some(Preferred(Brotli))),
            ("gzip;q=1.0, br;q=0.9, zstd;q=0.8", Some(Preferred(Gzip))),
            ("*", Some(Preferred(Brotli))),
            ("br;q=0, *;q=0.5", Some(Preferred(Gzip))),
            ("gzip;q=0.5, identity", Some(Identity)),
            ("gzip;q=0.5, identity;q=0.5", Some(Preferred(Gzip))),
            ("", Some(Identity)),
            ("identity", Some(Identity)),
            ("gzip;q=0", Some(Identity)),
            ("deflate", Some(Identity)),
            ("gzip;q=high", Some(Identity)),
            ("gzip;level=9", Some(Identity)),
            ("gzip, identity;q=0", Some(Only(Gzip))),
            ("gzip;q=0.1, *;q=0", Some(Only(Gzip))),
            ("*, identity;q=0", Some(Only(Brotli))),
            ("identity;q=0", None),
            ("*;q=0", None),
            ("deflate, identity;q=0", None),
            ("identity;q=0.5, *;q=0", Some(Identity)),
        ] {
            assert_eq!(choose(value, "on"), choice, "{value}");
        }
        assert_eq!(choose("gzip, zstd", "gzip,br"), Some(Preferred(Gzip)));
        assert_eq!(choose("gzip, br", "gzip, br"), Some(Preferred(Gzip)));
        assert_eq!(choose("gzip, br", "off"), Some(Identity));
        assert_eq!(choose("*, identity;q=0", "off"), None);
        assert_eq!(accepted(&HeaderMap::new(), &Codings::parse("on").unwrap()).ok(), Some(Identity));
    }

    #[test]
    fn parses_only_known_codings() {
        for malformed in ["", "deflate", "gzip,", "gzip;q=1", "ON", "on,gzip"] {
            assert_eq!(Codings::parse(malformed), None, "{malformed}");
        }
        assert_eq!(Codings::parse("br"), Some(Codings(vec![Coding::Brotli])));
    }
}
