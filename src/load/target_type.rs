//! The types of columns, as far as the loader checks values.

use tokio_postgres::types::Type;

use crate::relations::column::DescribedColumn;
use crate::relations::column_type::{ColumnType, ValueType};

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetType {
    /// Text with a maximum number of characters.
    Text {
        /// `None` is unlimited.
        width: Option<usize>,
    },
    /// A decimal number of any scale. PostgreSQL rounds it to the column's scale, as it does for OFBiz.
    Numeric,
    Integer {
        /// 2, 4 or 8.
        bytes: u8,
    },
    /// A binary floating-point number.
    Float,
    /// A timestamp. One without an offset is read as UTC.
    Timestamp {
        /// Whether the column has a time zone.
        zoned: bool,
    },
    Date,
    /// A time of day.
    Time,
    /// Bytes, in base64 in the file.
    Bytes,
    /// Any other type. PostgreSQL checks its values.
    Other,
}

impl TargetType {
    /// The type of a column.
    pub(crate) fn of(column: &DescribedColumn) -> Self {
        let ColumnType::Value(ValueType::BuiltIn(ty)) = &column.ty else { return Self::Other };
        match *ty {
            Type::TEXT | Type::VARCHAR | Type::BPCHAR => Self::Text { width: column.length() },
            Type::NUMERIC => Self::Numeric,
            Type::INT2 => Self::Integer { bytes: 2 },
            Type::INT4 => Self::Integer { bytes: 4 },
            Type::INT8 => Self::Integer { bytes: 8 },
            Type::FLOAT4 | Type::FLOAT8 => Self::Float,
            Type::TIMESTAMPTZ => Self::Timestamp { zoned: true },
            Type::TIMESTAMP => Self::Timestamp { zoned: false },
            Type::DATE => Self::Date,
            Type::TIME => Self::Time,
            Type::BYTEA => Self::Bytes,
            _ => Self::Other,
        }
    }

    /// The format of values in a file, for error messages.
    pub(crate) fn expected_format(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Numeric => "a decimal number such as 12.50",
            Self::Integer { .. } => "a whole number that fits its column",
            Self::Float => "a number",
            Self::Timestamp { .. } => "a timestamp such as 2009-08-10 09:05:00.5 (in UTC) or 2009-08-10T09:05:00+02:00",
            Self::Date => "a date: yyyy-mm-dd",
            Self::Time => "a time of day: hh:mm:ss",
            Self::Bytes => "base64",
            Self::Other => "a value of its column's type",
        }
    }
}
