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
