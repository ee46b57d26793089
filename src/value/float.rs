//! Binary floating-point numbers.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::value::error::ParseValueError;

/// A number of 64 bits in PostgreSQL's order: -0 is 0, and NaN equals itself and is greater than infinity. A number of 32 bits is the
/// same number of 64 bits.
#[derive(Debug, Clone, Copy)]
pub struct Float(f64);

impl Float {
    /// The number.
    pub fn new(number: f64) -> Self {
        // Each value has one form.
        Self(if number.is_nan() { f64::NAN } else { number + 0.0 })
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The nearest number of 32 bits.
    pub fn to_single(self) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "rounds")]
        let single = self.0 as f32;
        single
    }

    /// Whether it is a number of 32 bits.
    pub fn is_single(self) -> bool {
        Self::new(self.to_single().into()) == self
    }

    /// Parses a finite decimal number, with or without an exponent, as the nearest number of 64 bits.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        let number: Option<f64> = text.parse().ok().filter(|number: &f64| is_decimal(text) && number.is_finite());
        number.map(Self::new).ok_or(ParseValueError { expected: "a finite number, such as 12.5 or 1e-3" })
    }

    /// Parses such a number as the nearest one of 32 bits.
    pub fn parse_single(text: &str) -> Result<Self, ParseValueError> {
        let number: Option<f32> = text.parse().ok().filter(|number: &f32| is_decimal(text) && number.is_finite());
        let number = number.map(|number| Self::new(number.into()));
        number.ok_or(ParseValueError { expected: "a finite number of 32 bits, such as 12.5 or 1e-3" })
    }
}

/// Whether a number that Rust reads is no name of NaN or an infinity.
fn is_decimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Float {}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_order_of_postgresql() {
        let numbers = [f64::NEG_INFINITY, -1.5, 0.0, f64::MIN_POSITIVE, 1e300, f64::INFINITY, f64::NAN].map(Float::new);
        assert!(numbers.is_sorted() && numbers.iter().all(|number| number == number));
        assert_eq!(Float::new(-0.0).get().to_bits(), 0);
        assert_eq!(Float::new(-f64::NAN), Float::new(f64::NAN));
    }

    #[test]
    fn parses_finite_numbers_alone() {
        for (text, expected) in
            [("12.5", 12.5), ("-1e-3", -0.001), ("1E300", 1e300), (".5", 0.5), ("-0", 0.0), ("1e-999", 0.0)]
        {
            assert_eq!(Float::parse(text).map(Float::get), Ok(expected), "{text}");
        }
        for text in ["", "NaN", "inf", "-infinity", "1e999", "1,5", "0x1", "e5", "1 "] {
            assert!(Float::parse(text).is_err() && Float::parse_single(text).is_err(), "{text}");
        }
        assert_eq!(Float::parse_single("0.1").map(Float::to_single), Ok(0.1));
        assert!(Float::parse_single("1e39").is_err());
        assert!(Float::parse_single("0.1").unwrap().is_single() && !Float::parse("0.1").unwrap().is_single());
        assert!(Float::new(f64::NAN).is_single() && Float::new(f64::INFINITY).is_single());
    }
}
