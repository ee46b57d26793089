//! In which content coding an answer goes out (RFC 9110, sections 8.4.1 and 12.5.3).

use hyper::{HeaderMap, header};

use crate::http::negotiate::thousandths;
use crate::http::request_error::RequestError;

/// A way to make an answer smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Zstandard (RFC 8878): the quickest.
    Zstd,
    /// Brotli (RFC 7932): the smallest.
    Brotli,
    /// gzip (RFC 1952): the one that everybody reads.
    Gzip,
}

/// The codings that answers may have, the preferred one first; none where answers are left as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Codings(Vec<Coding>);

/// What is best for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Answers as they are.
    Plain,
    /// This coding, where it is worth it.
    Preferred(Coding),
    /// This coding and nothing else, however small an answer is.
    Only(Coding),
}

impl Coding {
    /// Every coding, in the order in which one is preferred where a client takes several as gladly.
    pub const ALL: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    /// As in `Content-Encoding`.
    pub const fn name(self) -> &'static str {
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
    /// Reads `on`, `off`, or names with commas between, the preferred one first.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "on" => Some(Self(Coding::ALL.to_vec())),
            "off" => Some(Self::default()),
            names => names.split(',').map(|name| Coding::named(name.trim())).collect::<Option<_>>().map(Self),
        }
    }

    /// Whether there are any, so that answers depend on `Accept-Encoding`.
    pub fn are_offered(&self) -> bool {
        !self.0.is_empty()
    }
}

/// What the client takes best: the coding of the highest weight, and of those the one that stands first in `codings`.
/// Nothing is compressed for a client that does not ask for it.
pub fn accepted(headers: &HeaderMap, codings: &Codings) -> Result<Choice, RequestError> {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let entries: Vec<_> = values.flat_map(|value| value.split(',')).filter_map(entry).collect();
    let named = |name: &str| {
        entries.iter().find(|entry| entry.0.eq_ignore_ascii_case(name)).map(|entry| entry.1).or_else(|| match name {
            // Its old name (RFC 9110, section 8.4.1.3).
            "gzip" => entries.iter().find(|entry| entry.0.eq_ignore_ascii_case("x-gzip")).map(|entry| entry.1),
            _ => None,
        })
    };
    let rest = named("*");

    // No coding at all is taken too, unless it is excluded, but less gladly than any that is asked for.
    let plain = named("identity");
    let plain_is_taken = plain.or(rest) != Some(0);
    let best = codings
        .0
        .iter()
        .rev()
        .map(|coding| (named(coding.name()).or(rest).unwrap_or(0), *coding))
        .filter(|(weight, _)| *weight > 0)
        // The last of those with the same weight, which is the first of `codings`.
        .max_by_key(|(weight, _)| *weight);
    match best {
        Some((_, coding)) if !plain_is_taken => Ok(Choice::Only(coding)),
        Some((weight, coding)) if plain.is_none_or(|plain| weight >= plain) => Ok(Choice::Preferred(coding)),
        _ if plain_is_taken => Ok(Choice::Plain),
        _ => Err(RequestError::NoAcceptableCoding),
    }
}

/// A name and its weight in thousandths. A malformed entry says nothing.
fn entry(text: &str) -> Option<(&str, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let weight = match parts.next().map(|parameter| parameter.split_once('=')) {
        None => 1000,
        Some(Some((name, value))) if name.trim().eq_ignore_ascii_case("q") => thousandths(value.trim())?,
        Some(_) => return None,
    };
    Some((name, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(value: &str, codings: &str) -> Option<Choice> {
        let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value.parse().unwrap())]);
        accepted(&headers, &Codings::read(codings).unwrap()).ok()
    }

    #[test]
    fn the_heaviest_coding_is_chosen_and_ours_to_choose_among_equals() {
        use Choice::{Only, Plain, Preferred};
        use Coding::{Brotli, Gzip, Zstd};
        for (value, choice) in [
            ("gzip", Some(Preferred(Gzip))),
            ("X-GZIP", Some(Preferred(Gzip))),
            ("gzip, deflate, br, zstd", Some(Preferred(Zstd))),
            ("gzip, deflate, br", Some(Preferred(Brotli))),
            ("gzip;q=1.0, br;q=0.9, zstd;q=0.8", Some(Preferred(Gzip))),
            ("*", Some(Preferred(Zstd))),
            ("zstd;q=0, *;q=0.5", Some(Preferred(Brotli))),
            ("gzip;q=0.5, identity", Some(Plain)),
            ("gzip;q=0.5, identity;q=0.5", Some(Preferred(Gzip))),
            ("", Some(Plain)),
            ("identity", Some(Plain)),
            ("gzip;q=0", Some(Plain)),
            ("deflate", Some(Plain)),
            ("gzip;q=high", Some(Plain)),
            ("gzip;level=9", Some(Plain)),
            ("gzip, identity;q=0", Some(Only(Gzip))),
            ("gzip;q=0.1, *;q=0", Some(Only(Gzip))),
            ("*, identity;q=0", Some(Only(Zstd))),
            ("identity;q=0", None),
            ("*;q=0", None),
            ("deflate, identity;q=0", None),
            ("identity;q=0.5, *;q=0", Some(Plain)),
        ] {
            assert_eq!(choose(value, "on"), choice, "{value}");
        }
        assert_eq!(choose("gzip, zstd", "gzip,br"), Some(Preferred(Gzip)));
        assert_eq!(choose("gzip, br", "gzip, br"), Some(Preferred(Gzip)));
        assert_eq!(choose("gzip, br", "off"), Some(Plain));
        assert_eq!(choose("*, identity;q=0", "off"), None);
        assert_eq!(accepted(&HeaderMap::new(), &Codings::read("on").unwrap()).ok(), Some(Plain));
    }

    #[test]
    fn only_known_codings_can_be_set() {
        for wrong in ["", "deflate", "gzip,", "gzip;q=1", "ON", "on,gzip"] {
            assert_eq!(Codings::read(wrong), None, "{wrong}");
        }
        assert_eq!(Codings::read("br"), Some(Codings(vec![Coding::Brotli])));
    }
}
