//! Spans of time.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::value::error::ParseValueError;
use crate::value::time_of_day::millionths;

/// A span of time as PostgreSQL stores it. Its parts have signs of their own. As in PostgreSQL, it compares as if a month had 30 days
/// and a day 24 hours, so `P1M` and `P30D` are equal.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    /// Years are 12 months.
    pub months: i32,
    /// Weeks are 7 days.
    pub days: i32,
    /// Hours, minutes and seconds, in microseconds.
    pub micros: i64,
}

impl Interval {
    const INFINITY: Self = Self { months: i32::MAX, days: i32::MAX, micros: i64::MAX };
    const MINUS_INFINITY: Self = Self { months: i32::MIN, days: i32::MIN, micros: i64::MIN };

    /// Whether it is a span, and not `infinity` or `-infinity`, which PostgreSQL has from version 17 on.
    pub fn is_finite(self) -> bool {
        let binary = self.to_binary();
        binary != Self::INFINITY.to_binary() && binary != Self::MINUS_INFINITY.to_binary()
    }

    /// The number that is compared: microseconds.
    fn compared(self) -> i128 {
        (i128::from(self.months) * 30 + i128::from(self.days)) * 86_400_000_000 + i128::from(self.micros)
    }

    /// The interval with these bytes, in PostgreSQL's binary format: microseconds, days, months.
    pub fn from_binary(bytes: [u8; 16]) -> Self {
        Self {
            micros: i64::from_be_bytes(part(bytes, 0)),
            days: i32::from_be_bytes(part(bytes, 8)),
            months: i32::from_be_bytes(part(bytes, 12)),
        }
    }

    /// The bytes.
    pub fn to_binary(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.micros.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.days.to_be_bytes());
        bytes[12..].copy_from_slice(&self.months.to_be_bytes());
        bytes
    }

    /// Parses an ISO-8601 duration. Each number can have a sign, and the number of seconds a fraction.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        Self::read(text).ok_or(ParseValueError {
            expected: "an ISO-8601 duration, such as P1Y2M3DT4H5M6.5S, to the microsecond at most",
        })
    }

    fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix('P')?;
        let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
        if time.map_or(date.is_empty(), str::is_empty) {
            return None;
        }
        let [years, months, weeks, days] = amounts(date, ['Y', 'M', 'W', 'D'])?;
        let [hours, minutes, seconds] = amounts(time.unwrap_or_default(), ['H', 'M', 'S'])?;
        let whole = |amount: i128| if amount % MILLION == 0 { Some(amount / MILLION) } else { None };
        Some(Self {
            months: i32::try_from(12 * whole(years)? + whole(months)?).ok()?,
            days: i32::try_from(7 * whole(weeks)? + whole(days)?).ok()?,
            micros: i64::try_from((whole(hours)? * 3600 + whole(minutes)? * 60) * MILLION + seconds).ok()?,
        })
    }
}

fn part<const N: usize>(bytes: [u8; 16], start: usize) -> [u8; N] {
    std::array::from_fn(|index| bytes[start + index])
}

impl PartialEq for Interval {
    fn eq(&self, other: &Self) -> bool {
        self.compared() == other.compared()
    }
}

impl Eq for Interval {}

impl Hash for Interval {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.compared().hash(state);
    }
}

impl PartialOrd for Interval {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Interval {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compared().cmp(&other.compared())
    }
}

const MILLION: i128 = 1_000_000;

/// The numbers before these units in their order, in millionths. Each number can be left out.
fn amounts<const N: usize>(mut text: &str, units: [char; N]) -> Option<[i128; N]> {
    let mut amounts = [0; N];
    for (amount, unit) in amounts.iter_mut().zip(units) {
        if let Some((number, rest)) = text.split_once(unit) {
            (*amount, text) = (amount_of(number)?, rest);
        }
    }
    text.is_empty().then_some(amounts)
}

/// A number in millionths.
fn amount_of(number: &str) -> Option<i128> {
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => (-1, unsigned),
        None => (1, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(whole, rest)| (whole, Some(rest)));
    let is_number = matches!(whole.len(), 1..=19) && whole.bytes().all(|byte| byte.is_ascii_digit());
    let whole: i128 = whole.parse().ok().filter(|_| is_number)?;
    Some(sign * (whole * MILLION + i128::from(fraction.map_or(Some(0), millionths)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(months: i32, days: i32, micros: i64) -> Interval {
        Interval { months, days, micros }
    }

    #[test]
    fn parses_durations() {
        for (text, expected) in [
            ("P1Y2M3DT4H5M6.5S", interval(14, 3, 14_706_500_000)),
            ("PT0S", interval(0, 0, 0)),
            ("P2W", interval(0, 14, 0)),
            ("P-1Y2M", interval(-10, 0, 0)),
            ("PT-0.000001S", interval(0, 0, -1)),
            ("PT1M", interval(0, 0, 60_000_000)),
            ("P178956970Y7M", interval(i32::MAX, 0, 0)),
        ] {
            assert_eq!(Interval::parse(text).unwrap().to_binary(), expected.to_binary(), "{text}");
        }
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "1D",
            "P1D1Y",
            "P1H",
            "P1.5D",
            "PT1.1234567S",
            "P1",
            "PD",
            "p1d",
            "P 1D",
            "-P1D",
            "P178956970Y8M",
            "PT99999999999999999999S",
            "P1Y1Y",
            "infinity",
        ] {
            assert!(Interval::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn its_bytes_are_those_of_postgresql() {
        let some = interval(1, -2, 3);
        assert_eq!(some.to_binary(), [0, 0, 0, 0, 0, 0, 0, 3, 255, 255, 255, 254, 0, 0, 0, 1]);
        assert_eq!(Interval::from_binary(some.to_binary()).to_binary(), some.to_binary());
    }
}
