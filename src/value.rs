//! The scalar types, and values parsed from text.
//!
//! A [`Value`] comes from a client: an argument, a search term, a key in a cursor. Values from the database never
//! become one; they are converted from PostgreSQL's binary format to JSON directly. A cursor contains a value of the
//! database, so a [`Value`] can be any that PostgreSQL can store.

mod enumeration;

pub use enumeration::Enumeration;

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
    /// A value of an enum of the schema file.
    Enum(Enumeration),
}

impl ScalarType {
    /// Every scalar type of GraphQL, in the order in which the schema publishes them.
    pub const ALL: [Self; 6] = [Self::Id, Self::String, Self::Int, Self::Boolean, Self::Decimal, Self::DateTime];

    /// The name in SDL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Id => "ID",
            Self::String => "String",
            Self::Int => "Int",
            Self::Decimal => "Decimal",
            Self::DateTime => "DateTime",
            Self::Boolean => "Boolean",
            Self::Enum(enumeration) => enumeration.name(),
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
            Self::DateTime => Timestamp::parse(text).map(Value::DateTime),
            Self::Boolean => match text {
                "true" | "Y" => Ok(Value::Boolean(true)),
                "false" | "N" => Ok(Value::Boolean(false)),
                _ => Err(error("true or false")),
            },
            Self::Enum(enumeration) => {
                let text = enumeration.text(text).ok_or(error("the name of a value of its enum"))?;
                Ok(Value::Text(text.to_owned()))
            }
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
    /// A number that PostgreSQL stores as `numeric`. Only cursors have such values.
    Numeric(Numeric),
    /// A moment.
    DateTime(Timestamp),
    /// True or false.
    Boolean(bool),
    /// A [`ScalarType::Id`] that the database stores as a UUID.
    Uuid(Uuid),
}

impl Value {
    /// Whether PostgreSQL holds both to be the same value, of columns that it compares with one another. Trailing spaces, which
    /// a column of the type `char` adds, make no difference.
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.trim_end_matches(' ') == other.trim_end_matches(' '),
            _ => self == other || self.number().is_some_and(|number| other.number() == Some(number)),
        }
    }

    /// The number, if it is one of at most 28 digits.
    fn number(&self) -> Option<Decimal> {
        match self {
            Self::Int(number) => Some(Decimal::from(*number)),
            Self::Decimal(number) => Some(*number),
            Self::Numeric(number) => number.to_decimal(),
            Self::Text(_) | Self::DateTime(_) | Self::Boolean(_) | Self::Uuid(_) => None,
        }
    }
}

/// A UUID. Its `Display` is the usual notation, in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub u128);

impl Uuid {
    /// Parses 32 hexadecimal digits with hyphens after the 8th, 12th, 16th and 20th.
    pub fn parse(text: &str) -> Option<Self> {
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
    fn to_decimal(&self) -> Option<Decimal> {
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

/// A moment in microseconds since 2000-01-01T00:00:00Z, as PostgreSQL stores it: its extremes are `infinity` and `-infinity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Microseconds from 1970-01-01, the epoch of Unix.
    pub const UNIX_EPOCH: Self = Self(-946_684_800_000_000);

    /// The moments that can be written: the years 0 to 9999, which every PostgreSQL can store.
    const RANGE: std::ops::RangeInclusive<i64> = -63_113_904_000_000_000..=252_455_615_999_999_999;

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

    /// Microseconds since 1970.
    pub fn unix_micros(self) -> i128 {
        i128::from(self.0) - i128::from(Self::UNIX_EPOCH.0)
    }

    /// Parses a date, which means midnight UTC, or a timestamp; one without an offset is in UTC. Rejects anything else,
    /// offsets that no place on Earth has, and fractions of a microsecond, which could not be compared exactly.
    pub fn parse(text: &str) -> Result<Self, ParseValueError> {
        const NO_TIMESTAMP: ParseValueError = ParseValueError {
            expected: "a date (2026-05-01) or an ISO-8601 timestamp (2026-05-01T09:30:00Z) to the microsecond at most",
        };
        let has_time = text.contains(['T', 't']);
        let moment = if has_time {
            let text = text.to_ascii_uppercase();
            OffsetDateTime::parse(&text, &Iso8601::PARSING)
                .or_else(|_| PrimitiveDateTime::parse(&text, &Iso8601::PARSING).map(PrimitiveDateTime::assume_utc))
                .map_err(|_| NO_TIMESTAMP)?
        } else {
            Date::parse(text, &Iso8601::PARSING).map_err(|_| NO_TIMESTAMP)?.midnight().assume_utc()
        };
        if moment.offset().whole_seconds().abs() > Self::MAX_OFFSET_SECONDS {
            return Err(ParseValueError { expected: "a timestamp with an offset between -18:00 and +18:00" });
        }
        let nanoseconds = moment.unix_timestamp_nanos();
        if nanoseconds % 1000 != 0 {
            return Err(NO_TIMESTAMP);
        }
        let micros = i64::try_from(nanoseconds / 1000 + i128::from(Self::UNIX_EPOCH.0)).ok();
        micros.filter(|micros| Self::RANGE.contains(micros)).map(Self).ok_or(NO_TIMESTAMP)
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
            assert_eq!(Uuid::parse(other), None, "{other}");
        }
    }

    #[test]
    fn compares_values_of_columns_that_are_stored_differently() {
        let numeric = |words: &[u16]| {
            let bytes: Vec<_> = words.iter().copied().flat_map(u16::to_be_bytes).collect();
            Value::Numeric(Numeric::from_binary(&bytes).unwrap())
        };
        let decimal = |text| ScalarType::Decimal.parse(text).unwrap();
        for (stored, text) in [
            (numeric(&[0, 0, 0, 0]), "0"),
            (numeric(&[0, 0, 0, 2]), "0.00"),
            (numeric(&[1, 0, 0, 0, 7]), "7"),
            (numeric(&[2, 0, 0x4000, 1, 12, 5000]), "-12.50"),
            (numeric(&[1, 2, 0, 0, 3]), "300000000"),
            (numeric(&[1, 0xffff, 0, 4, 50]), "0.005"),
            (numeric(&[7, 6, 0, 0, 1234, 5678, 9012, 3456, 7890, 1234, 5678]), "1234567890123456789012345678"),
        ] {
            assert!(decimal(text).equals(&stored) && stored.equals(&decimal(text)), "{text}");
            assert!(!decimal("1").equals(&stored), "{text}");
            assert_eq!(stored.equals(&Value::Int(7)), text == "7");
        }
        let nan = numeric(&[0, 0, 0xc000, 0]);
        assert!(nan.equals(&nan.clone()) && !nan.equals(&decimal("0")));
        let text = |text: &str| Value::Text(text.to_owned());
        assert!(
            text("O1").equals(&text("O1  ")) && !text("O1").equals(&text("o1")) && !text("1").equals(&Value::Int(1))
        );
    }

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
