//! The numbers of PostgreSQL that no other type holds.

use rust_decimal::Decimal;

/// A `numeric` of PostgreSQL, in its binary format: with up to 147,455 digits, NaN or infinite. The format is four 16-bit
/// numbers (count of digits, weight of the first, sign, digits after the point), then the digits in base 10,000.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Numeric(Box<[u8]>);

impl Numeric {
    /// The signs of zero and positive numbers, negative numbers, NaN, infinity and -infinity.
    const SIGNS: [u16; 5] = [0, 0x4000, 0xc000, 0xd000, 0xf000];
    const MAX_SCALE: u16 = 0x3fff;

    /// The number with these bytes; `None` if PostgreSQL never sends them.
    pub fn from_binary(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<2>() else { return None };
        let mut words = words.iter().copied().map(u16::from_be_bytes);
        let (count, _weight, sign, scale) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let is_finite = sign & 0x8000 == 0;
        let is_valid = Self::SIGNS.contains(&sign)
            && scale <= Self::MAX_SCALE
            && words.len() == usize::from(count)
            && (is_finite || count == 0)
            && words.clone().all(|digit| digit < 10_000)
            && words.next() != Some(0);
        is_valid.then(|| Self(bytes.into()))
    }

    /// The most digits of a column that declares their number.
    pub const MAX_DIGITS: usize = 1000;

    /// The whole number that a text has in decimal digits, as many as a column can declare, with an optional sign.
    pub fn parse_whole(text: &str) -> Option<Self> {
        let (sign, digits) = text.strip_prefix('-').map_or((0, text), |digits| (Self::SIGNS[1], digits));
        if digits.is_empty() || digits.len() > Self::MAX_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        let words = digits.as_bytes().rchunks(4).rev();
        let word = |digits: &[u8]| digits.iter().fold(0, |word: u16, digit| word * 10 + u16::from(digit - b'0'));
        let mut words: Vec<u16> = words.map(word).collect();
        // PostgreSQL keeps no zeros at the end. Their number follows from the weight.
        let weight = u16::try_from(words.len().saturating_sub(1)).ok()?;
        while words.last() == Some(&0) {
            words.pop();
        }
        let sign = if words.is_empty() { 0 } else { sign };
        let head = [u16::try_from(words.len()).ok()?, weight, sign, 0];
        Some(Self(head.into_iter().chain(words).flat_map(u16::to_be_bytes).collect()))
    }

    /// The bytes.
    pub fn as_binary(&self) -> &[u8] {
        &self.0
    }

    /// The number, if it is one of at most 28 digits.
    pub(super) fn to_decimal(&self) -> Option<Decimal> {
        let ([_, weight, sign, _, digits @ ..], _) = self.0.as_chunks::<2>() else { return None };
        let number = digits.iter().try_fold(0_i128, |number, digit| {
            number.checked_mul(10_000)?.checked_add(u16::from_be_bytes(*digit).into())
        })?;
        let mut number = match u16::from_be_bytes(*sign) {
            0 => number,
            0x4000 => -number,
            _ => return None,
        };
        // How many decimal places the last digit has. It may end with zeros.
        let places = i32::try_from(digits.len()).ok()? - 1 - i32::from(i16::from_be_bytes(*weight));
        let Ok(mut places) = u32::try_from(4 * places) else {
            let zeros = 10_i128.checked_pow(places.unsigned_abs() * 4)?;
            return Decimal::try_from_i128_with_scale(number.checked_mul(zeros)?, 0).ok();
        };
        while places > 0 && number % 10 == 0 {
            (number, places) = (number / 10, places - 1);
        }
        Decimal::try_from_i128_with_scale(number, places).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_numbers_of_any_length_as_postgresql_stores_them() {
        let words = |text: &str| {
            let number = Numeric::parse_whole(text)?;
            assert_eq!(Numeric::from_binary(number.as_binary()).as_ref(), Some(&number), "{text}");
            let (words, _) = number.as_binary().as_chunks::<2>();
            Some(words.iter().map(|word| u16::from_be_bytes(*word)).collect::<Vec<_>>())
        };
        for (text, expected) in [
            ("0", Some(vec![0, 0, 0, 0])),
            ("-000", Some(vec![0, 0, 0, 0])),
            ("7", Some(vec![1, 0, 0, 0, 7])),
            ("-12345", Some(vec![2, 1, 0x4000, 0, 1, 2345])),
            ("00120000", Some(vec![1, 1, 0, 0, 12])),
            ("", None),
            ("-", None),
            ("+1", None),
            ("1_0", None),
            ("1.0", None),
            ("é", None),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert!(words(&"9".repeat(1000)).is_some() && words(&"9".repeat(1001)).is_none());
    }
}
