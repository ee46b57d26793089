//! UUIDs.

use std::fmt;

use crate::value::error::ParseValueError;

/// A UUID. Its `Display` is the usual notation, in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub u128);

impl Uuid {
    /// Parses 32 hexadecimal digits with hyphens after the 8th, 12th, 16th and 20th.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        Self::read(text).ok_or(ParseValueError { expected: "a UUID, such as a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11" })
    }

    fn read(text: &str) -> Option<Self> {
        let is_expected = |(index, byte): (usize, u8)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        };
        if text.len() != 36 || !text.bytes().enumerate().all(is_expected) {
            return None;
        }
        u128::from_str_radix(&text.replace('-', ""), 16).ok().map(Self)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", self.0);
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        f.write_str(&parts.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_uuids_in_their_usual_notation_alone() {
        let text = "a0eebc99-9c0b-4ef8-BB6D-6bb9bd380a11";
        let uuid = Uuid::parse(text).unwrap();
        assert_eq!(uuid, Uuid(0xa0ee_bc99_9c0b_4ef8_bb6d_6bb9_bd38_0a11));
        assert_eq!(uuid.to_string(), text.to_lowercase());
        for other in
            ["", &text.replace('-', ""), &text.replace('b', "g"), &format!("{{{text}}}"), &text.replace('a', "é")]
        {
            assert!(Uuid::parse(other).is_err(), "{other}");
        }
    }
}
