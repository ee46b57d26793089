//! The scalar types.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rust_decimal::Decimal;

use crate::value::any_value::Value;
use crate::value::date::Date;
use crate::value::enumeration::Enumeration;
use crate::value::error::ParseValueError;
use crate::value::float::Float;
use crate::value::interval::Interval;
use crate::value::time_of_day::TimeOfDay;
use crate::value::timestamp::Timestamp;
use crate::value::uuid::Uuid;

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
    /// A binary floating-point number of 32 or 64 bits.
    Float,
    /// A whole number of 64 bits, in JSON a string.
    BigInt,
    /// A day.
    Date,
    /// A time of day without an offset, with microsecond precision.
    Time,
    /// A span of time.
    Interval,
    /// A UUID.
    Uuid,
    /// Bytes, in JSON a string in base64.
    Bytes,
    /// Any JSON value.
    Json,
    /// A value of an enum of the schema file.
    Enum(Enumeration),
}

impl ScalarType {
    /// Every scalar type of GraphQL, in the order in which the schema publishes them.
    pub const ALL: [Self; 14] = [
        Self::Id,
        Self::String,
        Self::Int,
        Self::Boolean,
        Self::Decimal,
        Self::DateTime,
        Self::Float,
        Self::BigInt,
        Self::Date,
        Self::Time,
        Self::Interval,
        Self::Uuid,
        Self::Bytes,
        Self::Json,
    ];

    /// The name in SDL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Id => "ID",
            Self::String => "String",
            Self::Int => "Int",
            Self::Decimal => "Decimal",
            Self::DateTime => "DateTime",
            Self::Boolean => "Boolean",
            Self::Float => "Float",
            Self::BigInt => "BigInt",
            Self::Date => "Date",
            Self::Time => "Time",
            Self::Interval => "Interval",
            Self::Uuid => "UUID",
            Self::Bytes => "Bytes",
            Self::Json => "JSON",
            Self::Enum(enumeration) => enumeration.name(),
        }
    }

    /// The type with that name in SDL.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// Whether every schema has the type. The others are in the schemas that use them.
    pub fn is_in_every_schema(self) -> bool {
        use ScalarType::{Boolean, DateTime, Decimal, Id, Int, String};
        matches!(self, Id | String | Int | Boolean | Decimal | DateTime)
    }

    /// Whether statements compare values of this type.
    pub fn is_compared(self) -> bool {
        self != Self::Json
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
            Self::Int | Self::BigInt => text.parse().map(Value::Int).map_err(|_| error("a whole number of 64 bits")),
            // The parser skips underscores, which no number has that is written.
            Self::Decimal => Some(text)
                .filter(|text| !text.contains('_'))
                .and_then(|text| Decimal::from_str_exact(text).ok())
                .map(Value::Decimal)
                .ok_or(error("a decimal number of at most 28 digits, such as 12.50")),
            Self::DateTime => Timestamp::parse(text).map(Value::DateTime),
            Self::Boolean => match text {
                "true" | "Y" => Ok(Value::Boolean(true)),
                "false" | "N" => Ok(Value::Boolean(false)),
                _ => Err(error("true or false")),
            },
            Self::Float => Float::parse(text).map(Value::Float),
            Self::Date => Date::parse(text).map(Value::Date),
            Self::Time => TimeOfDay::parse(text).map(Value::Time),
            Self::Interval => Interval::parse(text).map(Value::Interval),
            Self::Uuid => Uuid::parse(text).map(Value::Uuid),
            Self::Enum(enumeration) => {
                let text = enumeration.text(text).ok_or(error("the name of a value of its enum"))?;
                Ok(Value::Text(text.to_owned()))
            }
            Self::Bytes => Some(text)
                .filter(|text| text.len() <= MAX_TEXT)
                .and_then(|text| STANDARD.decode(text).ok())
                .map(Value::Bytes)
                .ok_or(error("at most 3072 bytes in base64, such as AP8=")),
            Self::Json => Err(error("no value, since there is none to compare with")),
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_decimals_exactly_and_rejects_nul_and_long_texts() {
        assert_eq!(ScalarType::Decimal.parse("12.50").map(|v| format!("{v:?}")), Ok("Decimal(12.50)".to_owned()));
        for text in ["1e5", "1_", "1_000", "_1"] {
            assert!(ScalarType::Decimal.parse(text).is_err(), "{text}");
        }
        assert!(ScalarType::Decimal.parse("0.00000000000000000000000000001").is_err());
        assert!(ScalarType::Id.parse("a\0b").is_err());
        assert!(ScalarType::Id.parse(&"a".repeat(MAX_TEXT)).is_ok());
        assert!(ScalarType::Id.parse(&"a".repeat(MAX_TEXT + 1)).is_err());
        assert!(ScalarType::Int.parse("1.5").is_err());
    }
}
