//! The form of an order update: the parameters of a urlencoded or multipart body.

use std::collections::HashMap;
use std::convert::Infallible;

use bytes::Bytes;
use futures_util::FutureExt;

use crate::orders::error::{FormError, MAX_FORM_BYTES, MAX_ID_BYTES, MAX_PARAMETERS};

/// The parameters of a request, in the order in which they were sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UpdateForm {
    parameters: Vec<(String, String)>,
}

/// Parses a body as its content type says. The caller limits the body's length.
pub(crate) fn parse_body(content_type: &str, body: Bytes) -> Result<UpdateForm, FormError> {
    let (media, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    let media = media.trim();
    if !is_utf8(parameters, true) {
        return Err(FormError::NotUtf8);
    }
    let form = if media.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        parse_urlencoded(&body)?
    } else if media.eq_ignore_ascii_case("multipart/form-data") {
        let boundary = multer::parse_boundary(content_type).map_err(|error| match error {
            multer::Error::NoBoundary => FormError::NoBoundary,
            error => FormError::Malformed(error),
        })?;
        // The body is there as a whole, so nothing waits for anything.
        parse_multipart(boundary, body)
            .now_or_never()
            .unwrap_or(Err(FormError::Malformed(multer::Error::IncompleteStream)))?
    } else {
        return Err(FormError::NotAForm);
    };
    if !is_utf8(parameters, form.iter().all(|(name, value)| name.is_ascii() && value.is_ascii())) {
        return Err(FormError::NotUtf8);
    }
    // Decoding replaces invalid bytes with the replacement character.
    let is_invalid = |text: &str| text.contains(['\0', char::REPLACEMENT_CHARACTER]);
    match form.parameters.iter().find(|(name, value)| is_invalid(name) || is_invalid(value)) {
        Some((name, _)) => Err(FormError::NotText(name.clone())),
        None => Ok(form),
    }
}

/// Whether the parameters of a content type name no other charset than UTF-8, or one in which ASCII is the same: Apache's `HttpClient`
/// names it even where all bytes are ASCII.
fn is_utf8(parameters: &str, is_ascii: bool) -> bool {
    parameters.split(';').filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        let charset = value.trim().trim_matches('"');
        let is_one_of = |names: [&str; 2]| names.iter().any(|name| charset.eq_ignore_ascii_case(name));
        !name.trim().eq_ignore_ascii_case("charset")
            || is_one_of(["utf-8", "utf8"])
            || is_ascii && is_one_of(["iso-8859-1", "us-ascii"])
    })
}

fn parse_urlencoded(body: &[u8]) -> Result<UpdateForm, FormError> {
    let mut collector = FormCollector::default();
    for (name, value) in form_urlencoded::parse(body) {
        collector.add(name.into_owned(), value.into_owned())?;
    }
    Ok(collector.form)
}

async fn parse_multipart(boundary: String, body: Bytes) -> Result<UpdateForm, FormError> {
    let stream = futures_util::stream::iter([Ok::<_, Infallible>(body)]);
    let mut fields = multer::Multipart::new(stream, boundary);
    let mut collector = FormCollector::default();
    while let Some(field) = fields.next_field().await? {
        let name = field.name().ok_or(FormError::Nameless)?.to_owned();
        let content_type = field.headers().get("content-type").and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let bytes = field.bytes().await?;
        if !is_utf8(&content_type, bytes.is_ascii()) {
            return Err(FormError::NotUtf8);
        }
        let value = String::from_utf8(bytes.into()).map_err(|_| FormError::NotText(name.clone()))?;
        collector.add(name, value)?;
    }
    Ok(collector.form)
}

/// Collects the parameters of a form, up to its limits.
#[derive(Default)]
struct FormCollector {
    form: UpdateForm,
    /// The bytes of all names and values.
    bytes: usize,
}

impl FormCollector {
    fn add(&mut self, name: String, value: String) -> Result<(), FormError> {
        self.bytes += name.len() + value.len();
        if self.form.parameters.len() == MAX_PARAMETERS {
            return Err(FormError::TooMany);
        }
        if self.bytes > MAX_FORM_BYTES {
            return Err(FormError::TooLarge);
        }
        if name.len() > MAX_ID_BYTES {
            return Err(FormError::NameTooLong);
        }
        self.form.parameters.push((name, value));
        Ok(())
    }
}

impl UpdateForm {
    #[cfg(test)]
    pub(crate) fn new(parameters: Vec<(String, String)>) -> Self {
        Self { parameters }
    }

    /// The parameters, in the order in which they were sent.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Each name once, in the order of first occurrence, with its distinct values.
    pub(crate) fn grouped(&self) -> Vec<(&str, Vec<&str>)> {
        let mut indexes = HashMap::new();
        let mut grouped: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, value) in self.iter() {
            let index = *indexes.entry(name).or_insert_with(|| {
                grouped.push((name, Vec::new()));
                grouped.len() - 1
            });
            let values = &mut grouped[index].1;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        grouped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(form: &UpdateForm) -> Vec<(&str, &str)> {
        form.iter().collect()
    }

    #[test]
    fn parses_both_encodings_alike() {
        let urlencoded = parse_body(
            "application/x-www-form-urlencoded; charset=UTF-8",
            Bytes::from_static(b"facilityId=STORE+1&0_box_rowSubmit=0&note=%C3%A9%26"),
        );
        let body = "--x\r\nContent-Disposition: form-data; name=\"facilityId\"\r\n\r\nSTORE 1\r\n\
                    --x\r\nContent-Disposition: form-data; name=\"0_box_rowSubmit\"\r\n\r\n0\r\n\
                    --x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\né&\r\n--x--\r\n";
        let multipart = parse_body("multipart/form-data; boundary=x", Bytes::from(body));
        let (urlencoded, multipart) = (urlencoded.unwrap(), multipart.unwrap());
        assert_eq!(parameters(&urlencoded), [("facilityId", "STORE 1"), ("0_box_rowSubmit", "0"), ("note", "é&")]);
        assert_eq!(urlencoded, multipart);
    }

    #[test]
    fn takes_ascii_in_charsets_that_contain_it() {
        let multipart = |charset: &str, value: &[u8]| {
            let head = format!(
                "--x\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"
            );
            let body = [head.as_bytes(), value, b"\r\n--x--"].concat();
            parse_body("multipart/form-data; boundary=x", body.into())
        };
        let urlencoded = |charset: &str, value: &str| {
            let content_type = format!("application/x-www-form-urlencoded; charset={charset}");
            parse_body(&content_type, format!("a={value}").into())
        };
        for charset in ["ISO-8859-1", "US-ASCII", "\"iso-8859-1\""] {
            assert_eq!(parameters(&multipart(charset, b"STORE").unwrap()), [("a", "STORE")], "{charset}");
            assert!(matches!(multipart(charset, b"\xe9"), Err(FormError::NotUtf8)), "{charset}");
            assert!(matches!(multipart(charset, "é".as_bytes()), Err(FormError::NotUtf8)), "{charset}");
            assert_eq!(parameters(&urlencoded(charset, "STORE").unwrap()), [("a", "STORE")], "{charset}");
            assert!(matches!(urlencoded(charset, "%E9"), Err(FormError::NotUtf8)), "{charset}");
        }
        assert!(matches!(multipart("windows-1252", b"STORE"), Err(FormError::NotUtf8)));
    }

    #[test]
    fn rejects_bodies_that_are_not_forms() {
        fn form(content_type: &str, body: &'static [u8]) -> Result<UpdateForm, FormError> {
            parse_body(content_type, Bytes::from_static(body))
        }
        assert!(matches!(form("", b"a=b"), Err(FormError::NotAForm)));
        assert!(matches!(form("application/json", b"{}"), Err(FormError::NotAForm)));
        for charset in ["utf-16", "\"latin1\"", ""] {
            for media in ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
                let content_type = format!("{media}; Charset={charset}");
                assert!(matches!(form(&content_type, b"a=b"), Err(FormError::NotUtf8)), "{content_type}");
            }
        }
        let part = b"--x\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=utf-16\r\n\r\n0\r\n--x--";
        assert!(matches!(form("multipart/form-data; boundary=x", part), Err(FormError::NotUtf8)));
        assert!(matches!(form("multipart/form-data", b"--x--"), Err(FormError::NoBoundary)));
        assert!(matches!(form("multipart/form-data; boundary=x", b"--x\r\n"), Err(FormError::Malformed(_))));
        let nameless = b"--x\r\nContent-Disposition: form-data\r\n\r\n0\r\n--x--\r\n";
        assert!(matches!(form("multipart/form-data; boundary=x", nameless), Err(FormError::Nameless)));
        let urlencoded = "application/x-www-form-urlencoded";
        assert!(matches!(form(urlencoded, b"a=%ff"), Err(FormError::NotText(_))));
        assert!(matches!(form(urlencoded, b"a=%00"), Err(FormError::NotText(_))));
        let many: Vec<u8> = b"a=b&".repeat(MAX_PARAMETERS + 1);
        assert!(matches!(parse_body(urlencoded, many.into()), Err(FormError::TooMany)));
        let large = |text: &str, count| Bytes::from(text.repeat(count));
        assert!(parse_body(urlencoded, large("a", MAX_ID_BYTES)).is_ok());
        assert!(matches!(parse_body(urlencoded, large("a", MAX_ID_BYTES + 1)), Err(FormError::NameTooLong)));
        assert!(matches!(parse_body(urlencoded, large("a=1234567&", MAX_FORM_BYTES / 16)), Err(FormError::TooMany)));
        let values = |count| Bytes::from(format!("a={}", "v".repeat(count)));
        assert!(parse_body(urlencoded, values(MAX_FORM_BYTES - 1)).is_ok());
        assert!(matches!(parse_body(urlencoded, values(MAX_FORM_BYTES)), Err(FormError::TooLarge)));
    }

    #[test]
    fn groups_names_by_first_occurrence() {
        let form =
            UpdateForm::new([("a", "1"), ("b", "2"), ("a", "3"), ("a", "1")].map(|(n, v)| (n.into(), v.into())).into());
        assert_eq!(form.grouped(), [("a", vec!["1", "3"]), ("b", vec!["2"])]);
    }
}
