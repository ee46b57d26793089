//! The body of an order update: urlencoded or multipart, read into parameters in the order in which they were sent.

use bytes::Bytes;
use thiserror::Error;

/// The most parameters of one request.
const MOST_PARAMETERS: usize = 5000;

/// The parameters of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateForm {
    parameters: Vec<(String, String)>,
}

/// Why a body is no form.
#[derive(Debug, Error)]
pub enum FormError {
    /// Another media type, or none.
    #[error("send the form as application/x-www-form-urlencoded or multipart/form-data")]
    NotAForm,
    /// Multipart that is not of its format.
    #[error("the multipart form cannot be read: {0}")]
    Malformed(#[from] multer::Error),
    /// Bytes that are no text.
    #[error("the parameter {0:?} is not UTF-8 text without NUL characters")]
    NotText(String),
    /// A part of a multipart form that does not say which parameter it is.
    #[error("a part of the multipart form has no name")]
    Nameless,
    /// More parameters than are taken.
    #[error("the form has more than {MOST_PARAMETERS} parameters")]
    TooMany,
}

/// Reads a body, whose length the door has bounded.
pub async fn read(content_type: Option<&str>, body: Bytes) -> Result<UpdateForm, FormError> {
    let content_type = content_type.unwrap_or_default();
    let media = content_type.split(';').next().unwrap_or_default().trim();
    let form = if media.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        UpdateForm { parameters: form_urlencoded::parse(&body).into_owned().take(MOST_PARAMETERS + 1).collect() }
    } else if media.eq_ignore_ascii_case("multipart/form-data") {
        multipart(multer::parse_boundary(content_type)?, body).await?
    } else {
        return Err(FormError::NotAForm);
    };
    if form.parameters.len() > MOST_PARAMETERS {
        return Err(FormError::TooMany);
    }
    // Decoding puts the replacement character where bytes are no text.
    let bad = |text: &str| text.contains(['\0', char::REPLACEMENT_CHARACTER]);
    match form.parameters.iter().find(|(name, value)| bad(name) || bad(value)) {
        Some((name, _)) => Err(FormError::NotText(name.clone())),
        None => Ok(form),
    }
}

async fn multipart(boundary: String, body: Bytes) -> Result<UpdateForm, FormError> {
    let stream = futures_util::stream::iter([Ok::<_, std::convert::Infallible>(body)]);
    let mut fields = multer::Multipart::new(stream, boundary);
    let mut form = UpdateForm::default();
    while let Some(field) = fields.next_field().await? {
        let name = field.name().ok_or(FormError::Nameless)?.to_owned();
        let bytes = field.bytes().await?;
        let value = String::from_utf8(bytes.into()).map_err(|_| FormError::NotText(name.clone()))?;
        form.parameters.push((name, value));
        if form.parameters.len() > MOST_PARAMETERS {
            return Err(FormError::TooMany);
        }
    }
    Ok(form)
}

impl UpdateForm {
    /// A form of these parameters.
    pub fn new(parameters: Vec<(String, String)>) -> Self {
        Self { parameters }
    }

    /// The parameters, in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Each name once, in the order in which they first came, with its different values.
    pub fn grouped(&self) -> Vec<(&str, Vec<&str>)> {
        let mut places = std::collections::HashMap::new();
        let mut grouped: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, value) in self.iter() {
            let place = *places.entry(name).or_insert_with(|| {
                grouped.push((name, Vec::new()));
                grouped.len() - 1
            });
            let values = &mut grouped[place].1;
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

    #[tokio::test]
    async fn both_encodings_come_to_the_same() {
        let urlencoded = read(
            Some("application/x-www-form-urlencoded; charset=UTF-8"),
            Bytes::from_static(b"facilityId=STORE+1&0_box_rowSubmit=0&note=%C3%A9%26"),
        );
        let body = "--x\r\nContent-Disposition: form-data; name=\"facilityId\"\r\n\r\nSTORE 1\r\n\
                    --x\r\nContent-Disposition: form-data; name=\"0_box_rowSubmit\"\r\n\r\n0\r\n\
                    --x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\né&\r\n--x--\r\n";
        let multipart = read(Some("multipart/form-data; boundary=x"), Bytes::from(body));
        let (urlencoded, multipart) = (urlencoded.await.unwrap(), multipart.await.unwrap());
        assert_eq!(parameters(&urlencoded), [("facilityId", "STORE 1"), ("0_box_rowSubmit", "0"), ("note", "é&")]);
        assert_eq!(urlencoded, multipart);
    }

    #[tokio::test]
    async fn what_is_no_form_is_refused() {
        let form = |content_type, body: &'static [u8]| read(content_type, Bytes::from_static(body));
        assert!(matches!(form(None, b"a=b").await, Err(FormError::NotAForm)));
        assert!(matches!(form(Some("application/json"), b"{}").await, Err(FormError::NotAForm)));
        assert!(matches!(form(Some("multipart/form-data"), b"--x--").await, Err(FormError::Malformed(_))));
        assert!(matches!(
            form(Some("multipart/form-data; boundary=x"), b"--x\r\n").await,
            Err(FormError::Malformed(_))
        ));
        let nameless = b"--x\r\nContent-Disposition: form-data\r\n\r\n0\r\n--x--\r\n";
        assert!(matches!(form(Some("multipart/form-data; boundary=x"), nameless).await, Err(FormError::Nameless)));
        let urlencoded = Some("application/x-www-form-urlencoded");
        assert!(matches!(form(urlencoded, b"a=%ff").await, Err(FormError::NotText(_))));
        assert!(matches!(form(urlencoded, b"a=%00").await, Err(FormError::NotText(_))));
        let many: Vec<u8> = b"a=b&".repeat(MOST_PARAMETERS + 1);
        assert!(matches!(read(urlencoded, many.into()).await, Err(FormError::TooMany)));
    }

    #[test]
    fn a_name_is_grouped_where_it_first_came() {
        let form =
            UpdateForm::new([("a", "1"), ("b", "2"), ("a", "3"), ("a", "1")].map(|(n, v)| (n.into(), v.into())).into());
        assert_eq!(form.grouped(), [("a", vec!["1", "3"]), ("b", vec!["2"])]);
    }
}
