//! Header values that list alternatives, such as `Accept` and `Accept-Encoding`: their elements, the parameters of an
//! element, and its quality value (RFC 9110, sections 5.6.1, 5.6.6 and 12.4.2).
//!
//! ```text
//! weight = OWS ";" OWS "q=" qvalue
//! qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )
//! ```

/// A quality value, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quality(u16);

impl Quality {
    /// Not acceptable.
    pub(crate) const NONE: Self = Self(0);
    /// The quality of an element without one.
    pub(crate) const MAX: Self = Self(1000);

    /// Parses the value of a parameter `q`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let thousandths = fraction.bytes().zip([100, 10, 1]).map(|(digit, unit)| u16::from(digit - b'0') * unit).sum();
        match (whole, thousandths) {
            ("0", _) => Some(Self(thousandths)),
            ("1", 0) => Some(Self::MAX),
            _ => None,
        }
    }

    /// Whether the element is acceptable at all.
    pub(crate) fn is_acceptable(self) -> bool {
        self > Self::NONE
    }
}

/// The elements of a list, separated by commas. Some may be empty.
pub(crate) fn elements(list: &str) -> impl Iterator<Item = &str> {
    split_outside_quotes(list, ',')
}

/// An element without its parameters, and the names and values of its parameters. Values have no quotes around them; there
/// is none without a `=`.
pub(crate) fn parameters(element: &str) -> (&str, impl Iterator<Item = (&str, Option<&str>)>) {
    let mut parts = split_outside_quotes(element, ';').map(str::trim);
    let value = parts.next().unwrap_or_default();
    let parameters = parts.map(|part| match part.split_once('=') {
        Some((name, value)) => (name.trim_end(), Some(value.trim_start().trim_matches('"'))),
        None => (part, None),
    });
    (value, parameters)
}

fn split_outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |character| {
        quoted ^= character == '"';
        character == separator && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_weights_of_three_digits_and_nothing_else() {
        let parsed: Vec<_> = ["1", "1.000", "0.5", "0.001", "0.25", "0", "0."].map(Quality::parse).to_vec();
        assert_eq!(parsed, [1000, 1000, 500, 1, 250, 0, 0].map(|thousandths| Some(Quality(thousandths))));
        for malformed in ["", "2", "1.1", "0.1234", "-1", "0,5", "a", "+1", ".5", "0.+1"] {
            assert_eq!(Quality::parse(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn splits_lists_and_parameters_outside_of_quotes() {
        let list = "text/html ; x=\"a,b;q=1\" ;Q = 0.5,, */*;flag";
        let split: Vec<_> =
            elements(list).map(|element| (parameters(element).0, parameters(element).1.collect())).collect();
        let expected: [(&str, Vec<_>); 3] = [
            ("text/html", vec![("x", Some("a,b;q=1")), ("Q", Some("0.5"))]),
            ("", Vec::new()),
            ("*/*", vec![("flag", None)]),
        ];
        assert_eq!(split, expected);
    }
}
