//! The `Authorization` header: Basic (RFC 7617) and Bearer (RFC 6750).

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hyper::{HeaderMap, header};

use crate::api::errors::access_error::AccessError;

/// Some clients omit the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A user's name and password. Has no `Debug`, so that it cannot be logged.
pub(crate) struct Basic {
    pub(crate) user_id: String,
    pub password: String,
}

/// The Basic credentials, if they are well-formed.
pub(crate) fn basic(headers: &HeaderMap) -> Option<Basic> {
    let decoded = BASE64.decode(with_scheme(headers, "basic")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    // Only the password may have colons. Neither may have control characters.
    let (user_id, password) = text.split_once(':')?;
    if text.chars().any(char::is_control) {
        return None;
    }
    Some(Basic { user_id: user_id.to_owned(), password: password.to_owned() })
}

/// The Bearer token, if there is one.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    with_scheme(headers, "bearer").filter(|token| !token.is_empty())
}

/// The Bearer token, or why there is none.
pub(crate) fn token(headers: &HeaderMap) -> Result<&str, AccessError> {
    match bearer(headers) {
        Some(token) => Ok(token),
        None if headers.contains_key(header::AUTHORIZATION) => Err(AccessError::NotBearer),
        None => Err(AccessError::NoToken),
    }
}

/// The text after the scheme. With two headers there are no credentials: a proxy might have checked the other one.
fn with_scheme<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let text = str::from_utf8(value.as_bytes()).ok()?.trim_ascii();
    let (scheme, rest) = text.split_at_checked(wanted.len())?;
    let is_wanted = scheme.eq_ignore_ascii_case(wanted) && rest.starts_with(' ');
    is_wanted.then(|| rest.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (header::AUTHORIZATION, value.parse().unwrap())).collect()
    }

    fn read(value: &str) -> Option<(String, String)> {
        basic(&headers(&[value])).map(|basic| (basic.user_id, basic.password))
    }

    #[test]
    fn parses_basic_credentials() {
        let pair = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(read("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), pair("Aladdin", "open sesame"));
        assert_eq!(read("basic  dGVzdDoxMjPCow"), pair("test", "123£"));
        assert_eq!(read("Basic YTpiOmM="), pair("a", "b:c"));
        assert_eq!(read("Basic Og=="), pair("", ""));
        for wrong in
            ["Basic", "Basic ", "Basic !!!!", "Basic YQ==", "Basic /w==", "Basic YQA6Yg==", "Bearer YTpi", "YTpi"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parses_bearer_tokens_and_ignores_repeated_headers() {
        assert_eq!(bearer(&headers(&["Bearer a.b.c"])), Some("a.b.c"));
        assert_eq!(bearer(&headers(&["BEARER   a.b.c "])), Some("a.b.c"));
        assert_eq!(bearer(&headers(&["Bearer "])), None);
        assert_eq!(bearer(&headers(&["Basic a.b.c"])), None);
        assert_eq!(bearer(&headers(&["Bearer a", "Bearer a"])), None);
        assert_eq!(bearer(&headers(&[])), None);
    }
}
