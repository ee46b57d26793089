//! PostgreSQL's binary values as JSON and as cursor keys.

use crate::cursor::Encoder;
use crate::database::column_format::ColumnFormat;
use crate::execute::encode;
use crate::value::ScalarType;

/// A column of a result: its type in the schema, and its type in PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its type in the schema.
    pub scalar: ScalarType,
    format: ColumnFormat,
}

const FORMATS: [ColumnFormat; 13] = [
    ColumnFormat::Text,
    ColumnFormat::Boolean,
    ColumnFormat::Int,
    ColumnFormat::Numeric,
    ColumnFormat::Float8,
    ColumnFormat::Timestamp,
    ColumnFormat::Date,
    ColumnFormat::Uuid,
    ColumnFormat::Float4,
    ColumnFormat::Time,
    ColumnFormat::Interval,
    ColumnFormat::Bytes,
    ColumnFormat::Json,
];

impl Column {
    /// Every column that the check at start admits.
    pub fn all() -> Vec<Self> {
        let of = |scalar: ScalarType| {
            let formats = FORMATS.into_iter().filter(move |format| format.can_be(scalar));
            formats.map(move |format| Self { scalar, format })
        };
        ScalarType::ALL.into_iter().flat_map(of).collect()
    }

    /// The name of the PostgreSQL type.
    pub fn stored(self) -> &'static str {
        match self.format {
            ColumnFormat::Text => "text",
            ColumnFormat::Boolean => "boolean",
            ColumnFormat::Int => "int",
            ColumnFormat::Numeric => "numeric",
            ColumnFormat::Float8 => "float8",
            ColumnFormat::Timestamp => "timestamp",
            ColumnFormat::Date => "date",
            ColumnFormat::Uuid => "uuid",
            ColumnFormat::Float4 => "float4",
            ColumnFormat::Time => "time",
            ColumnFormat::Interval => "interval",
            ColumnFormat::Bytes => "bytea",
            ColumnFormat::Json => "json",
            ColumnFormat::Array => "array",
        }
    }

    /// Appends a value as JSON. Returns `false`, and appends nothing, if its type cannot have the value.
    pub fn json(self, raw: &[u8], out: &mut Vec<u8>) -> bool {
        encode::json(self.scalar, self.format, raw, out)
    }

    /// Adds a value to a cursor.
    pub fn cursor_key(self, raw: Option<&[u8]>, cursor: &mut Encoder) {
        encode::cursor_key(self.scalar, self.format, raw, cursor);
    }
}
