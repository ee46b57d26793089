//! PostgreSQL's binary values to JSON and to cursor keys, without a value in between.

use std::io::Write;

use thiserror::Error;
use tokio_postgres::types::Type;

use crate::cursor::Encoder;
use crate::execute::digits;
use crate::value::{ScalarType, Timestamp};

/// The binary form of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnFormat {
    /// Text of any kind.
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
}

/// A column of a type that nothing is written from.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a column of type {0} cannot be answered")]
pub struct Unwritable(pub String);

impl ColumnFormat {
    /// The form of a PostgreSQL type.
    pub fn of(ty: &Type) -> Result<Self, Unwritable> {
        Ok(match *ty {
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => Self::Text,
            Type::BOOL => Self::Boolean,
            Type::INT2 | Type::INT4 | Type::INT8 => Self::Int,
            Type::NUMERIC => Self::Numeric,
            Type::FLOAT8 => Self::Float8,
            Type::TIMESTAMPTZ | Type::TIMESTAMP => Self::Timestamp,
            Type::DATE => Self::Date,
            _ => return Err(Unwritable(ty.name().to_owned())),
        })
    }

    /// Whether values of this form can be written as that scalar.
    pub fn can_be(self, scalar: ScalarType) -> bool {
        match scalar {
            ScalarType::Id | ScalarType::String => {
                matches!(self, Self::Text | Self::Int | Self::Numeric)
            }
            ScalarType::Int => matches!(self, Self::Int | Self::Numeric),
            ScalarType::Decimal => matches!(self, Self::Numeric | Self::Int | Self::Float8 | Self::Text),
            ScalarType::DateTime => matches!(self, Self::Timestamp | Self::Date),
            ScalarType::Boolean => matches!(self, Self::Boolean | Self::Text),
        }
    }
}

/// Appends a value as the JSON of its scalar type; `false` where it cannot be, and `null` is to be written.
pub fn json(scalar: ScalarType, encoding: ColumnFormat, raw: &[u8], out: &mut Vec<u8>) -> bool {
    match (scalar, encoding) {
        (ScalarType::Int, ColumnFormat::Int | ColumnFormat::Numeric) => {
            whole(encoding, raw).map(|number| digits::int(number.into(), out)).is_some()
        }
        (ScalarType::Boolean, _) => match truth(encoding, raw) {
            Some(truth) => {
                out.extend_from_slice(if truth { b"true" } else { b"false" });
                true
            }
            None => false,
        },
        (_, ColumnFormat::Text) => text(raw, out),
        (_, _) => quoted(out, |out| match encoding {
            ColumnFormat::Numeric => digits::numeric(raw, out),
            ColumnFormat::Int => whole_number(raw).map(|number| digits::int(number, out)).is_some(),
            ColumnFormat::Float8 => raw.try_into().is_ok_and(|bytes| append(out, f64::from_be_bytes(bytes))),
            ColumnFormat::Timestamp | ColumnFormat::Date => {
                moment(encoding, raw).map(|moment| digits::timestamp(moment, out)).is_some()
            }
            ColumnFormat::Text | ColumnFormat::Boolean => false,
        }),
    }
}

/// Adds a value to a cursor, exactly; what cannot be is a null there.
pub fn cursor_key(
    scalar: ScalarType,
    encoding: ColumnFormat,
    raw: Option<&[u8]>,
    scratch: &mut Vec<u8>,
    cursor: &mut Encoder,
) {
    let Some(raw) = raw else { return cursor.null() };
    match scalar {
        ScalarType::Id | ScalarType::String if encoding == ColumnFormat::Text => cursor.text(raw),
        ScalarType::Int if encoding == ColumnFormat::Int => match whole_number(raw) {
            Some(number) => cursor.int(number),
            None => cursor.null(),
        },
        ScalarType::DateTime => match moment(encoding, raw) {
            Some(moment) => cursor.timestamp(moment),
            None => cursor.null(),
        },
        ScalarType::Boolean => match truth(encoding, raw) {
            Some(truth) => cursor.boolean(truth),
            None => cursor.null(),
        },
        ScalarType::Id | ScalarType::String | ScalarType::Int | ScalarType::Decimal => {
            scratch.clear();
            let is_number = match encoding {
                ColumnFormat::Numeric => digits::numeric(raw, scratch),
                ColumnFormat::Int => whole_number(raw).map(|number| digits::int(number, scratch)).is_some(),
                _ => false,
            };
            match (std::str::from_utf8(scratch), scalar) {
                (Ok(digits), ScalarType::Decimal) if is_number => cursor.decimal(digits),
                (Ok(digits), ScalarType::Int) if is_number => match digits.parse() {
                    Ok(number) => cursor.int(number),
                    Err(_) => cursor.null(),
                },
                (Ok(digits), _) if is_number => cursor.text(digits.as_bytes()),
                _ => cursor.null(),
            }
        }
    }
}

/// Appends a JSON string; `false` where the bytes are no text.
fn text(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    // Looked at without a branch, most texts are done in a few steps: they are in ASCII and have nothing to escape.
    if bytes.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b'\\')) {
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
        return true;
    }
    str::from_utf8(bytes).map(|text| escaped(text, out)).is_ok()
}

/// Appends a JSON string, with what JSON wants escaped.
fn escaped(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain = 0;
    for (place, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..0x20 => {
                out.extend_from_slice(&bytes[plain..place]);
                append(out, format_args!("\\u{byte:04x}"));
                plain = place + 1;
                continue;
            }
            _ => continue,
        };
        out.extend_from_slice(&bytes[plain..place]);
        out.extend_from_slice(escape);
        plain = place + 1;
    }
    out.extend_from_slice(&bytes[plain..]);
    out.push(b'"');
}

/// Appends something that is written without escapes. Writing to memory cannot fail.
fn append(out: &mut Vec<u8>, thing: impl std::fmt::Display) -> bool {
    write!(out, "{thing}").is_ok()
}

/// Writes between quotes, or nothing at all.
fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
    let start = out.len();
    out.push(b'"');
    let written = write(out);
    if written {
        out.push(b'"');
    } else {
        out.truncate(start);
    }
    written
}

fn whole_number(raw: &[u8]) -> Option<i64> {
    match *raw {
        [a, b] => Some(i16::from_be_bytes([a, b]).into()),
        [a, b, c, d] => Some(i32::from_be_bytes([a, b, c, d]).into()),
        _ => raw.try_into().ok().map(i64::from_be_bytes),
    }
}

/// A whole number of 32 bits, which is what GraphQL's `Int` holds.
fn whole(encoding: ColumnFormat, raw: &[u8]) -> Option<i32> {
    if encoding == ColumnFormat::Int {
        return i32::try_from(whole_number(raw)?).ok();
    }
    let mut text = Vec::new();
    let text = digits::numeric(raw, &mut text).then_some(text)?;
    let text = std::str::from_utf8(&text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    whole.parse().ok().filter(|_| fraction.bytes().all(|digit| digit == b'0'))
}

fn truth(encoding: ColumnFormat, raw: &[u8]) -> Option<bool> {
    match (encoding, raw) {
        (ColumnFormat::Boolean, [byte]) => Some(*byte != 0),
        (ColumnFormat::Text, b"Y" | b"y" | b"true") => Some(true),
        (ColumnFormat::Text, b"N" | b"n" | b"false") => Some(false),
        _ => None,
    }
}

fn moment(encoding: ColumnFormat, raw: &[u8]) -> Option<Timestamp> {
    let since_2000 = match encoding {
        // The two extremes are PostgreSQL's infinities, which are no moments.
        ColumnFormat::Timestamp => {
            let micros = raw.try_into().ok().map(i64::from_be_bytes)?;
            (micros != i64::MAX && micros != i64::MIN).then_some(micros)?
        }
        ColumnFormat::Date => {
            let days = raw.try_into().ok().map(i32::from_be_bytes)?;
            (days != i32::MAX && days != i32::MIN).then(|| i64::from(days) * 86_400_000_000)?
        }
        _ => return None,
    };
    since_2000.checked_add(Timestamp::POSTGRES_EPOCH).map(Timestamp)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::Decimal;
    use tokio_postgres::types::ToSql;

    use super::*;

    fn written(scalar: ScalarType, encoding: ColumnFormat, raw: &[u8]) -> Option<String> {
        let mut out = b"~".to_vec();
        let is_written = json(scalar, encoding, raw, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(is_written || text == "~", "what is not written leaves nothing behind");
        is_written.then(|| text[1..].to_owned())
    }

    fn at(micros_since_1970: i64) -> Option<String> {
        let raw = (micros_since_1970 - Timestamp::POSTGRES_EPOCH).to_be_bytes();
        written(ScalarType::DateTime, ColumnFormat::Timestamp, &raw)
    }

    proptest! {
        #[test]
        fn decimals_keep_every_digit(mantissa in any::<i64>(), scale in 0u32..=18) {
            let decimal = Decimal::from_i128_with_scale(mantissa.into(), scale);
            let mut raw = bytes::BytesMut::new();
            decimal.to_sql(&Type::NUMERIC, &mut raw).unwrap();
            let expected = format!("\"{decimal}\"");
            prop_assert_eq!(written(ScalarType::Decimal, ColumnFormat::Numeric, &raw), Some(expected));
        }

        #[test]
        fn strings_are_json(text in ".*") {
            let json = written(ScalarType::String, ColumnFormat::Text, text.as_bytes()).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn moments_are_read_back(micros in -62_135_596_800_000_000i64..253_402_300_800_000_000) {
            let text = at(micros).unwrap();
            prop_assert_eq!(Timestamp::parse(text.trim_matches('"')), Some(Timestamp(micros)));
        }

        #[test]
        fn no_bytes_break_a_number(raw in proptest::collection::vec(any::<u8>(), 0..24)) {
            let mut out = Vec::new();
            digits::numeric(&raw, &mut out);
            moment(ColumnFormat::Timestamp, &raw);
        }
    }

    #[test]
    fn moments_have_a_fraction_only_where_it_is_not_zero() {
        assert_eq!(at(0).unwrap(), r#""1970-01-01T00:00:00Z""#);
        assert_eq!(at(1_500_000).unwrap(), r#""1970-01-01T00:00:01.5Z""#);
        assert_eq!(at(1_000_001).unwrap(), r#""1970-01-01T00:00:01.000001Z""#);
        assert_eq!(at(-1).unwrap(), r#""1969-12-31T23:59:59.999999Z""#);
        assert_eq!(written(ScalarType::DateTime, ColumnFormat::Timestamp, &i64::MAX.to_be_bytes()), None);
    }

    #[test]
    fn an_int_out_of_a_numeric_is_whole_and_of_32_bits() {
        let int = |text: &str| {
            let mut raw = bytes::BytesMut::new();
            text.parse::<Decimal>().unwrap().to_sql(&Type::NUMERIC, &mut raw).unwrap();
            written(ScalarType::Int, ColumnFormat::Numeric, &raw)
        };
        assert_eq!(int("-2147483648").as_deref(), Some("-2147483648"));
        assert_eq!(int("12.00").as_deref(), Some("12"));
        assert_eq!((int("2147483648"), int("0.5")), (None, None));
    }

    #[test]
    fn flags_and_numbers() {
        assert_eq!(written(ScalarType::Boolean, ColumnFormat::Text, b"Y").unwrap(), "true");
        assert_eq!(written(ScalarType::Boolean, ColumnFormat::Text, b"N").unwrap(), "false");
        assert_eq!(written(ScalarType::Boolean, ColumnFormat::Text, b" "), None);
        assert_eq!(written(ScalarType::Int, ColumnFormat::Int, &7i64.to_be_bytes()).unwrap(), "7");
        let edge = i64::from(i32::MAX);
        assert_eq!(written(ScalarType::Int, ColumnFormat::Int, &edge.to_be_bytes()).unwrap(), "2147483647");
        assert_eq!(written(ScalarType::Int, ColumnFormat::Int, &(edge + 1).to_be_bytes()), None);
        assert_eq!(written(ScalarType::Id, ColumnFormat::Int, &7i32.to_be_bytes()).unwrap(), "\"7\"");
        assert_eq!(
            written(ScalarType::String, ColumnFormat::Text, "\u{1}\"\\/é".as_bytes()).unwrap(),
            r#""\u0001\"\\/é""#
        );
    }
}
