//! Dates.

use time::Month;

use crate::value::era::four_digit_year;
use crate::value::error::ParseValueError;

/// A date in days since 2000-01-01, as PostgreSQL stores it: its extremes are `infinity` and `-infinity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date(pub i32);

impl Date {
    /// 2000-01-01 in days of the Julian period, which begins with PostgreSQL's first date.
    const EPOCH: i32 = 2_451_545;

    /// The finite dates that PostgreSQL can store: from 4714-11-24 BC to the end of the year 5874897.
    const FINITE: std::ops::Range<i32> = -Self::EPOCH..2_145_031_949;

    /// Whether it is a date, and not `infinity` or `-infinity`.
    pub fn is_finite(self) -> bool {
        !matches!(self.0, i32::MIN | i32::MAX)
    }

    /// Whether PostgreSQL can store it.
    pub fn is_storable(self) -> bool {
        !self.is_finite() || Self::FINITE.contains(&self.0)
    }

    /// Parses a date as it is written in responses, such as `2026-11-24`. A year without four digits has a sign.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        let read = match four_digit_year(text) {
            None => Self::read(text),
            Some((text, days)) => {
                Self::read(&text).and_then(|date| i32::try_from(i64::from(date.0) + days).ok().map(Self))
            }
        };
        let date = read.filter(|date| date.is_finite() && date.is_storable());
        date.ok_or(ParseValueError { expected: "a date, such as 2026-11-24" })
    }

    fn read(text: &str) -> Option<Self> {
        let is_expected = |(index, byte): (usize, u8)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if text.len() != 10 || !text.bytes().enumerate().all(is_expected) {
            return None;
        }
        let month = Month::try_from(text[5..7].parse::<u8>().ok()?).ok()?;
        let date = time::Date::from_calendar_date(text[..4].parse().ok()?, month, text[8..].parse().ok()?).ok()?;
        Some(Self(date.to_julian_day() - Self::EPOCH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_as_they_are_written() {
        for (text, days) in [
            ("2000-01-01", 0),
            ("1999-12-31", -1),
            ("2024-02-29", 8825),
            ("0000-01-01", -730_485),
            ("9999-12-31", 2_921_939),
            ("+10000-01-01", 2_921_940),
            ("-0001-12-31", -730_486),
            ("-4713-11-24", -2_451_545),
            ("+5874897-12-31", 2_145_031_948),
        ] {
            assert_eq!(Date::parse(text), Ok(Date(days)), "{text}");
        }
        for text in [
            "",
            "2026-2-01",
            "2026-02-30",
            "2026-13-01",
            "20260201",
            "+2026-02-01",
            "-4713-11-23",
            "+5874898-01-01",
            "-0001-02-29",
            "2026-02-01T00:00:00Z",
            "2026-W01-1",
            "infinity",
            "é026-02-1",
        ] {
            assert!(Date::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn stores_what_postgresql_does() {
        for (days, is_storable) in [
            (-2_451_545, true),
            (-2_451_546, false),
            (2_145_031_948, true),
            (2_145_031_949, false),
            (i32::MIN, true),
            (i32::MAX, true),
        ] {
            assert_eq!(Date(days).is_storable(), is_storable, "{days}");
        }
    }
}
