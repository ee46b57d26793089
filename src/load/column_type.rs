//! The types of columns, as far as the loader checks values.

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
    /// The type of a column. `name` is PostgreSQL's name of the type without its modifier, `width` the width of a text type.
    pub(crate) fn new(name: &str, width: Option<i32>) -> Self {
        match name {
            "text" | "character varying" | "bpchar" | "character" => {
                Self::Text { width: width.and_then(|width| usize::try_from(width).ok()) }
            }
            "numeric" => Self::Numeric,
            "smallint" => Self::Integer { bytes: 2 },
            "integer" => Self::Integer { bytes: 4 },
            "bigint" => Self::Integer { bytes: 8 },
            "real" | "double precision" => Self::Float,
            "timestamp with time zone" => Self::Timestamp { zoned: true },
            "timestamp without time zone" => Self::Timestamp { zoned: false },
            "date" => Self::Date,
            "time without time zone" => Self::Time,
            "bytea" => Self::Bytes,
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
