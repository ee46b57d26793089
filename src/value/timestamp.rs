//! Moments.

use std::borrow::Cow;

use time::format_description::well_known::Iso8601;
use time::{Date, OffsetDateTime, PrimitiveDateTime};

use crate::value::era::four_digit_year;
use crate::value::error::ParseValueError;

const MICROS_OF_DAY: i128 = 86_400_000_000;

/// A moment in microseconds since 2000-01-01T00:00:00Z, as PostgreSQL stores it: its extremes are `infinity` and `-infinity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Microseconds from 1970-01-01, the epoch of Unix.
    pub const UNIX_EPOCH: Self = Self(-946_684_800_000_000);

    /// The largest offset from UTC, as in `java.time`. The largest in use is +14:00.
    const MAX_OFFSET_SECONDS: i32 = 18 * 3600;

    /// The finite moments that PostgreSQL can store: from 4714-11-24 BC to the end of the year 294276.
    const FINITE: std::ops::Range<i64> = -211_813_488_000_000_000..9_223_371_331_200_000_000;

    /// Whether it is a moment, and not `infinity` or `-infinity`.
    pub fn is_finite(self) -> bool {
        !matches!(self.0, i64::MIN | i64::MAX)
    }

    /// Whether PostgreSQL can store it.
    pub fn is_storable(self) -> bool {
        !self.is_finite() || Self::FINITE.contains(&self.0)
    }

    /// Parses a date, which means midnight UTC, or a timestamp; one without an offset is in UTC. A year without four digits has a sign.
    /// Rejects anything else, offsets that no place on Earth has, and fractions of a microsecond, which could not be compared exactly.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        const NO_TIMESTAMP: ParseValueError = ParseValueError {
            expected: "a date (2026-05-01) or an ISO-8601 timestamp (2026-05-01T09:30:00Z) to the microsecond at most",
        };
        let (text, days) = four_digit_year(text).map_or((Cow::Borrowed(text), 0), |(text, days)| (text.into(), days));
        // The parser has another way of writing such years.
        if text.starts_with(['+', '-']) {
            return Err(NO_TIMESTAMP);
        }
        let has_time = text.contains(['T', 't']);
        let moment = if has_time {
            let text = text.to_ascii_uppercase();
            OffsetDateTime::parse(&text, &Iso8601::PARSING)
                .or_else(|_| PrimitiveDateTime::parse(&text, &Iso8601::PARSING).map(PrimitiveDateTime::assume_utc))
                .map_err(|_| NO_TIMESTAMP)?
        } else {
            Date::parse(&text, &Iso8601::PARSING).map_err(|_| NO_TIMESTAMP)?.midnight().assume_utc()
        };
        if moment.offset().whole_seconds().abs() > Self::MAX_OFFSET_SECONDS {
            return Err(ParseValueError { expected: "a timestamp with an offset between -18:00 and +18:00" });
        }
        let nanoseconds = moment.unix_timestamp_nanos();
        if nanoseconds % 1000 != 0 {
            return Err(NO_TIMESTAMP);
        }
        let micros = nanoseconds / 1000 + i128::from(Self::UNIX_EPOCH.0) + i128::from(days) * MICROS_OF_DAY;
        let micros = i64::try_from(micros).ok();
        micros.filter(|micros| Self::FINITE.contains(micros)).map(Self).ok_or(NO_TIMESTAMP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_as_midnight_utc() {
        assert_eq!(Timestamp::parse("2000-01-02"), Ok(Timestamp(86_400_000_000)));
        assert_eq!(Timestamp::parse("1970-01-01"), Ok(Timestamp::UNIX_EPOCH));
    }

    #[test]
    fn parses_timestamps_with_time_offset_and_microseconds() {
        assert_eq!(Timestamp::parse("2000-01-01T00:00:01.000001Z"), Ok(Timestamp(1_000_001)));
        assert_eq!(Timestamp::parse("2000-01-01T01:00:00+01:00"), Ok(Timestamp(0)));
        assert_eq!(Timestamp::parse("2000-01-01T00:00:01"), Ok(Timestamp(1_000_000)));
        assert_eq!(Timestamp::parse("2000-01-01t00:00:01z"), Ok(Timestamp(1_000_000)));
    }

    #[test]
    fn parses_every_moment_of_postgresql_as_it_is_written() {
        for (text, micros) in [
            ("-4713-11-24T00:00:00Z", -211_813_488_000_000_000),
            ("+294276-12-31T23:59:59.999999Z", 9_223_371_331_199_999_999),
            ("+10000-01-01", 252_455_616_000_000_000),
            ("-0001-12-31T23:59:59.999999Z", -63_113_904_000_000_001),
        ] {
            assert_eq!(Timestamp::parse(text), Ok(Timestamp(micros)), "{text}");
        }
        for text in
            ["-4713-11-23T23:59:59.999999Z", "+294277-01-01T00:00:00Z", "+002026-01-01", "+2026-01-01", "-000001-01-01"]
        {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rejects_other_texts() {
        for text in
            ["", "yesterday", "2026-02-30", "2026-05", "1970-01-01T00:00:00.0000001Z", "2026-05-01T25:00:00Z", "T"]
        {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
        let at = |offset: &str| Timestamp::parse(&format!("2026-05-01T00:00:00{offset}"));
        for offset in ["+18:00", "-18:00", "+14:00"] {
            assert!(at(offset).is_ok(), "{offset}");
        }
        for offset in ["+18:01", "-18:01", "+19:00", "+23:59"] {
            let expected = "a timestamp with an offset between -18:00 and +18:00";
            assert_eq!(at(offset), Err(ParseValueError { expected }), "{offset}");
        }
    }
}
