//! The binary format in which PostgreSQL sends the values of a column.

use tokio_postgres::types::{Kind, Type};

use crate::value::ScalarType;

/// The binary format of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnFormat {
    /// Text of any type.
    Text,
    /// One byte.
    Boolean,
    /// A whole number of 2, 4 or 8 bytes.
    Int,
    /// A decimal number in digits of base 10,000.
    Numeric,
    /// A binary floating-point number.
    Float8,
    /// Microseconds since 2000.
    Timestamp,
    /// Days since 2000.
    Date,
    /// The 16 bytes of a UUID.
    Uuid,
    /// A binary floating-point number of 32 bits.
    Float4,
    /// Microseconds since midnight.
    Time,
    /// Microseconds, days and months.
    Interval,
    /// Bytes as they are.
    Bytes,
    /// JSON as text. Statements return `jsonb` so, too.
    Json,
    /// An array, whose elements have a format of their own.
    Array,
}

impl ColumnFormat {
    /// The format of a PostgreSQL type; `None` if it cannot be written.
    pub(crate) fn of(ty: &Type) -> Option<Self> {
        Some(match *ty {
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => Self::Text,
            Type::BOOL => Self::Boolean,
            Type::INT2 | Type::INT4 | Type::INT8 => Self::Int,
            Type::NUMERIC => Self::Numeric,
            Type::FLOAT8 => Self::Float8,
            Type::TIMESTAMPTZ | Type::TIMESTAMP => Self::Timestamp,
            Type::DATE => Self::Date,
            Type::UUID => Self::Uuid,
            Type::FLOAT4 => Self::Float4,
            Type::TIME => Self::Time,
            Type::INTERVAL => Self::Interval,
            Type::BYTEA => Self::Bytes,
            Type::JSON | Type::JSONB => Self::Json,
            _ => match ty.kind() {
                Kind::Array(_) => Self::Array,
                _ => return None,
            },
        })
    }

    /// Whether values of this format can be written as that scalar.
    pub(crate) fn can_be(self, scalar: ScalarType) -> bool {
        match scalar {
            ScalarType::Id | ScalarType::String => {
                matches!(self, Self::Text | Self::Int | Self::Numeric | Self::Uuid)
            }
            ScalarType::Int => matches!(self, Self::Int | Self::Numeric),
            ScalarType::Decimal => matches!(self, Self::Numeric | Self::Int | Self::Float8 | Self::Text),
            ScalarType::DateTime => matches!(self, Self::Timestamp | Self::Date),
            ScalarType::Boolean => matches!(self, Self::Boolean | Self::Text),
            ScalarType::Enum(_) => self == Self::Text,
            ScalarType::Float => matches!(self, Self::Float4 | Self::Float8),
            ScalarType::BigInt => self == Self::Int,
            ScalarType::Date => self == Self::Date,
            ScalarType::Time => self == Self::Time,
            ScalarType::Interval => self == Self::Interval,
            ScalarType::Uuid => self == Self::Uuid,
            ScalarType::Bytes => self == Self::Bytes,
            ScalarType::Json => self == Self::Json,
        }
    }
}
