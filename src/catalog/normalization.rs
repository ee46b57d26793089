//! Normal forms of text that a search key compares, so that two ways of writing the same match. The column of such a key holds the
//! normal form; a value is brought into it before it is sent.

use crate::value::Value;

/// The name of each in a schema file.
const NAMES: [(&str, Normalization); 2] =
    [("LOWER_CASE", Normalization::LowerCase), ("LAST_DIGITS", Normalization::LastDigits)];

/// How many digits identify a telephone number. The digits before them are the country's code, and zeros that only some callers dial.
const DIGITS: usize = 9;

/// The normal form of a search key's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalization {
    /// Letters of ASCII in lower case, as `lower(column COLLATE "C")`.
    LowerCase,
    /// The last nine digits and nothing else, as `right(regexp_replace(column, '[^0-9]', '', 'g'), 9)`.
    LastDigits,
}

impl Normalization {
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, normalization)| *normalization)
    }

    /// The form in which values are compared, for the published description.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::LowerCase => "in upper or lower case",
            Self::LastDigits => "by the last nine digits",
        }
    }

    /// The normal form of a value. Fails with what it should be.
    pub fn apply(self, value: Value) -> Result<Value, &'static str> {
        let Value::Text(text) = value else { return Ok(value) };
        match self {
            Self::LowerCase => Ok(Value::Text(text.to_ascii_lowercase())),
            Self::LastDigits => {
                let digits: String = text.chars().filter(char::is_ascii_digit).collect();
                let last = &digits[digits.len().saturating_sub(DIGITS)..];
                if last.is_empty() { Err("a number with digits") } else { Ok(Value::Text(last.to_owned())) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_writing_the_same_have_one_form() {
        let form = |normalization: Normalization, text: &str| normalization.apply(Value::Text(text.to_owned()));
        let text = |text: &str| Ok(Value::Text(text.to_owned()));
        assert_eq!(form(Normalization::LowerCase, "Ann.É@Example.COM"), text("ann.É@example.com"));
        for number in ["+1(801)555-0100", "801.555.0100", "18015550100", "0801-5550100"] {
            assert_eq!(form(Normalization::LastDigits, number), text("015550100"), "{number}");
        }
        assert_eq!(form(Normalization::LastDigits, "555-0100"), text("5550100"));
        assert_eq!(form(Normalization::LastDigits, "none"), Err("a number with digits"));
    }
}
