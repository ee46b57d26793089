//! Times of day.

use crate::value::error::ParseValueError;

/// A time of day in microseconds since midnight, as PostgreSQL stores it: 24:00:00 is the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimeOfDay(pub i64);

impl TimeOfDay {
    const LAST: i64 = 86_400_000_000;

    /// Whether PostgreSQL can store it.
    pub fn is_storable(self) -> bool {
        (0..=Self::LAST).contains(&self.0)
    }

    /// Parses a time without an offset, such as `09:30`, `09:30:00` or `09:30:00.123456`.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        Self::read(text)
            .filter(|time| time.is_storable())
            .ok_or(ParseValueError { expected: "a time, such as 09:30:00, to the microsecond at most" })
    }

    fn read(text: &str) -> Option<Self> {
        let (clock, fraction) = text.split_once('.').map_or((text, None), |(clock, rest)| (clock, Some(rest)));
        let parts = clock.split(':').map(two_digits).collect::<Option<Vec<_>>>()?;
        let (hour, minute, second) = match parts[..] {
            [hour, minute] if fraction.is_none() => (hour, minute, 0),
            [hour, minute, second] => (hour, minute, second),
            _ => return None,
        };
        let micros = fraction.map_or(Some(0), millionths)?;
        (minute < 60 && second < 60).then_some(Self(((hour * 60 + minute) * 60 + second) * 1_000_000 + micros))
    }
}

fn two_digits(text: &str) -> Option<i64> {
    let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// The digits after a point, six at most, in millionths.
pub(super) fn millionths(digits: &str) -> Option<i64> {
    let is_fraction = matches!(digits.len(), 1..=6) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_fraction { format!("{digits:0<6}").parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_times_to_the_microsecond() {
        for (text, micros) in [
            ("00:00", 0),
            ("09:30:00", 34_200_000_000),
            ("23:59:59.999999", 86_399_999_999),
            ("00:00:00.5", 500_000),
            ("24:00:00", 86_400_000_000),
        ] {
            assert_eq!(TimeOfDay::parse(text), Ok(TimeOfDay(micros)), "{text}");
        }
        for text in [
            "",
            "9:30",
            "09",
            "09:60",
            "09:30:60",
            "24:00:01",
            "09:30.5",
            "09:30:00.",
            "09:30:00.1234567",
            "09:30:00Z",
            "09:30:00:00",
            "+9:30",
            "-1:00",
        ] {
            assert!(TimeOfDay::parse(text).is_err(), "{text}");
        }
    }
}
