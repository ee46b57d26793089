//! The PostgreSQL type as which statements return a column.

use std::fmt;

use crate::value::ScalarType;

/// The type as which statements return a column. The rows of one statement have these types in common, whatever columns they
/// come from, so there are few of them. A conversion to one of them loses nothing that a response can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResultType {
    /// Text of variable length, and truth values: as the database's texts, or as `true` and `false`.
    Text,
    /// Text of a fixed length. As `text` it would lose the spaces at its end.
    Char,
    /// A whole number.
    Int8,
    /// An exact decimal number.
    Numeric,
    /// A binary floating-point number.
    Float8,
    /// A moment.
    Timestamp,
    /// A day. Days have a larger range than moments.
    Date,
    /// A truth value that a statement computes.
    Boolean,
    /// A UUID.
    Uuid,
    /// A binary floating-point number of 32 bits. With 64 bits it would have more digits.
    Float4,
    /// A time of day.
    Time,
    /// A span of time.
    Interval,
    /// Any bytes, `bytea`.
    Bytes,
    /// JSON as text.
    Json,
    /// An array of another of these types.
    Array(&'static ResultType),
}

impl ResultType {
    /// The type of a column, as far as a schema file describes it. A whole number may be any number there.
    pub(super) fn of(scalar: ScalarType) -> Self {
        match scalar {
            ScalarType::Id | ScalarType::String | ScalarType::Boolean | ScalarType::Enum(_) => Self::Text,
            ScalarType::Int | ScalarType::Decimal => Self::Numeric,
            ScalarType::DateTime => Self::Timestamp,
            ScalarType::Float => Self::Float8,
            ScalarType::BigInt => Self::Int8,
            ScalarType::Date => Self::Date,
            ScalarType::Time => Self::Time,
            ScalarType::Interval => Self::Interval,
            ScalarType::Uuid => Self::Uuid,
            ScalarType::Bytes => Self::Bytes,
            ScalarType::Json => Self::Json,
        }
    }

    /// The type of a column of a scalar type that the database stores so.
    pub(super) fn refine(scalar: ScalarType, found: Self) -> Self {
        if scalar == ScalarType::Boolean && found != Self::Array(&Self::Boolean) { Self::of(scalar) } else { found }
    }

    /// The type of a column with an array, as far as a schema file describes it.
    pub(super) fn array(scalar: ScalarType) -> Self {
        Self::Array(match scalar {
            ScalarType::Id | ScalarType::String | ScalarType::Enum(_) => &Self::Text,
            ScalarType::Boolean => &Self::Boolean,
            ScalarType::Int | ScalarType::Decimal => &Self::Numeric,
            ScalarType::DateTime => &Self::Timestamp,
            ScalarType::Float => &Self::Float8,
            ScalarType::BigInt => &Self::Int8,
            ScalarType::Date => &Self::Date,
            ScalarType::Time => &Self::Time,
            ScalarType::Interval => &Self::Interval,
            ScalarType::Uuid => &Self::Uuid,
            ScalarType::Bytes => &Self::Bytes,
            ScalarType::Json => &Self::Json,
        })
    }

    /// The name in PostgreSQL, without brackets.
    fn name(self) -> &'static str {
        match self {
            Self::Array(element) => element.name(),
            Self::Text => "text",
            Self::Char => "bpchar",
            Self::Int8 => "int8",
            Self::Numeric => "numeric",
            Self::Float8 => "float8",
            Self::Timestamp => "timestamptz",
            Self::Date => "date",
            Self::Boolean => "bool",
            Self::Uuid => "uuid",
            Self::Float4 => "float4",
            Self::Time => "time",
            Self::Interval => "interval",
            Self::Bytes => "bytea",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for ResultType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        f.write_str(if matches!(self, Self::Array(_)) { "[]" } else { "" })
    }
}
