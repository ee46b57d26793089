//! Dates.

use time::Month;

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

    /// Parses a date of the years 0 to 9999, such as `2026-11-24`.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        Self::read(text).ok_or(ParseValueError { expected: "a date, such as 2026-11-24" })
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
    fn parses_dates_of_four_digit_years_alone() {
        for (text, days) in [
            ("2000-01-01", 0),
            ("1999-12-31", -1),
            ("2024-02-29", 8825),
            ("0000-01-01", -730_485),
            ("9999-12-31", 2_921_939),
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
