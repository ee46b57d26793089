//! The scalar types, and values parsed from text.
//!
//! A [`Value`] comes from a client: an argument, a search term, a key in a cursor. Values from the database never
//! become one; they are converted from PostgreSQL's binary format to JSON directly.

use std::fmt;

use rust_decimal::Decimal;
use thiserror::Error;
use time::format_description::well_known::Iso8601;
use time::{Date, OffsetDateTime, PrimitiveDateTime};

/// The longest text that is a valid value, in bytes. No index contains longer ones, and a document can use one variable
/// hundreds of times.
const MAX_TEXT: usize = 4096;

/// The scalar types of columns, arguments and search keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// An entity's key.
    Id,
    /// Text.
    String,
    /// A whole number; 32 bits in GraphQL documents, 64 in the database.
    Int,
    /// Money or a quantity: an exact number, in JSON a string.
    Decimal,
    /// A moment in UTC, with microsecond precision.
    DateTime,
    /// True or false, which OFBiz stores as `'Y'` and `'N'`.
    Boolean,
}

impl ScalarType {
    /// Every scalar type, in the order in which the schema publishes them.
    pub const ALL: [Self; 6] = [Self::Id, Self::String, Self::Int, Self::Boolean, Self::Decimal, Self::DateTime];

    /// The name in SDL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "ID",
            Self::String => "String",
            Self::Int => "Int",
            Self::Decimal => "Decimal",
            Self::DateTime => "DateTime",
            Self::Boolean => "Boolean",
        }
    }

    /// The type with that name in SDL.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Parses a value of this type in the notation of search strings: dates as `2026-05-01` (midnight UTC) or a full
    /// ISO-8601 timestamp, decimals exactly, booleans as `true`, `false`, `Y` or `N`.
    pub fn parse(self, text: &str) -> Result<Value, ParseValueError> {
        let error = |expected| ParseValueError { expected };
        match self {
            Self::Id | Self::String => {
                if text.len() > MAX_TEXT {
                    return Err(error("text of at most 4096 bytes"));
                }
                if text.contains('\0') {
                    return Err(error("text without NUL characters"));
                }
                Ok(Value::Text(text.to_owned()))
            }
            Self::Int => text.parse().map(Value::Int).map_err(|_| error("a whole number of 64 bits")),
            Self::Decimal => Decimal::from_str_exact(text)
                .map(Value::Decimal)
                .map_err(|_| error("a decimal number of at most 28 digits, such as 12.50")),
            Self::DateTime => Timestamp::parse(text).map(Value::DateTime).ok_or(error(
                "a date (2026-05-01) or an ISO-8601 timestamp (2026-05-01T09:30:00Z) to the microsecond at most",
            )),
            Self::Boolean => match text {
                "true" | "Y" => Ok(Value::Boolean(true)),
                "false" | "N" => Ok(Value::Boolean(false)),
                _ => Err(error("true or false")),
            },
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is not a value of a scalar type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected {expected}")]
pub struct ParseValueError {
    /// What the type accepts.
    pub expected: &'static str,
}

/// A value from a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An [`ScalarType::Id`] or [`ScalarType::String`], without NUL characters, which PostgreSQL cannot store.
    Text(String),
    /// A whole number.
    Int(i64),
    /// An exact decimal.
    Decimal(Decimal),
    /// A moment.
    DateTime(Timestamp),
    /// True or false.
    Boolean(bool),
}

/// A moment in microseconds since 1970-01-01T00:00:00Z. PostgreSQL has the same resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Microseconds from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
    pub const POSTGRES_EPOCH: i64 = 946_684_800_000_000;

    /// The moments that are valid values: the years 0 to 9999, which every PostgreSQL can store.
    const RANGE: std::ops::RangeInclusive<i64> = -62_167_219_200_000_000..=253_402_300_799_999_999;

    /// Whether PostgreSQL can store the moment. Its earliest is the beginning of 4714-11-24 BC; its latest is later than any
    /// `Timestamp`.
    pub fn is_storable(self) -> bool {
        self.0 >= -210_866_803_200_000_000
    }

    /// Parses a date, which means midnight UTC, or a timestamp; one without an offset is in UTC. `None` for anything
    /// else, and for fractions of a microsecond, which could not be compared exactly.
    pub fn parse(text: &str) -> Option<Self> {
        let has_time = text.contains(['T', 't']);
        let moment = if has_time {
            let text = text.to_ascii_uppercase();
            OffsetDateTime::parse(&text, &Iso8601::PARSING)
                .or_else(|_| PrimitiveDateTime::parse(&text, &Iso8601::PARSING).map(PrimitiveDateTime::assume_utc))
                .ok()?
        } else {
            Date::parse(text, &Iso8601::PARSING).ok()?.midnight().assume_utc()
        };
        let nanoseconds = moment.unix_timestamp_nanos();
        if nanoseconds % 1000 != 0 {
            return None;
        }
        i64::try_from(nanoseconds / 1000).ok().filter(|micros| Self::RANGE.contains(micros)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_as_midnight_utc() {
        assert_eq!(Timestamp::parse("1970-01-02"), Some(Timestamp(86_400_000_000)));
        assert_eq!(Timestamp::parse("2000-01-01"), Some(Timestamp(Timestamp::POSTGRES_EPOCH)));
    }

    #[test]
    fn parses_timestamps_with_time_offset_and_microseconds() {
        assert_eq!(Timestamp::parse("1970-01-01T00:00:01.000001Z"), Some(Timestamp(1_000_001)));
        assert_eq!(Timestamp::parse("1970-01-01T01:00:00+01:00"), Some(Timestamp(0)));
        assert_eq!(Timestamp::parse("1970-01-01T00:00:01"), Some(Timestamp(1_000_000)));
        assert_eq!(Timestamp::parse("1970-01-01t00:00:01z"), Some(Timestamp(1_000_000)));
    }

    #[test]
    fn rejects_other_texts() {
        for text in
            ["", "yesterday", "2026-02-30", "2026-05", "1970-01-01T00:00:00.0000001Z", "2026-05-01T25:00:00Z", "T"]
        {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn parses_decimals_exactly_and_rejects_nul_and_long_texts() {
        assert_eq!(ScalarType::Decimal.parse("12.50").map(|v| format!("{v:?}")), Ok("Decimal(12.50)".to_owned()));
        assert!(ScalarType::Decimal.parse("1e5").is_err());
        assert!(ScalarType::Decimal.parse("0.00000000000000000000000000001").is_err());
        assert!(ScalarType::Id.parse("a\0b").is_err());
        assert!(ScalarType::Id.parse(&"a".repeat(MAX_TEXT)).is_ok());
        assert!(ScalarType::Id.parse(&"a".repeat(MAX_TEXT + 1)).is_err());
        assert!(ScalarType::Int.parse("1.5").is_err());
    }
}
