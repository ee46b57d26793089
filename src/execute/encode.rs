//! PostgreSQL's binary values to JSON and to cursor keys, without a value in between.

use std::io::Write;

use thiserror::Error;
use tokio_postgres::types::Type;

use crate::cursor::Encoder;
use crate::value::{ScalarType, Timestamp};

/// The binary form of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
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

impl Encoding {
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
pub fn json(scalar: ScalarType, encoding: Encoding, raw: &[u8], out: &mut Vec<u8>) -> bool {
    match (scalar, encoding) {
        (ScalarType::Int, Encoding::Int | Encoding::Numeric) => {
            whole(encoding, raw).is_some_and(|number| append(out, number))
        }
        (ScalarType::Boolean, _) => match truth(encoding, raw) {
            Some(truth) => append(out, truth),
            None => false,
        },
        (_, Encoding::Text) => match std::str::from_utf8(raw) {
            Ok(text) => {
                string(text, out);
                true
            }
            Err(_) => false,
        },
        (_, _) => quoted(out, |out| match encoding {
            Encoding::Numeric => numeric(raw, out),
            Encoding::Int => int(raw).is_some_and(|number| append(out, number)),
            Encoding::Float8 => raw.try_into().is_ok_and(|bytes| append(out, f64::from_be_bytes(bytes))),
            Encoding::Timestamp | Encoding::Date => moment(encoding, raw).is_some_and(|moment| timestamp(moment, out)),
            Encoding::Text | Encoding::Boolean => false,
        }),
    }
}

/// Adds a value to a cursor, exactly; what cannot be is a null there.
pub fn cursor_key(
    scalar: ScalarType,
    encoding: Encoding,
    raw: Option<&[u8]>,
    scratch: &mut Vec<u8>,
    cursor: &mut Encoder,
) {
    let Some(raw) = raw else { return cursor.null() };
    match scalar {
        ScalarType::Id | ScalarType::String if encoding == Encoding::Text => cursor.text(raw),
        ScalarType::Int if encoding == Encoding::Int => match int(raw) {
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
                Encoding::Numeric => numeric(raw, scratch),
                Encoding::Int => int(raw).is_some_and(|number| append(scratch, number)),
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

/// Appends a JSON string.
pub fn string(text: &str, out: &mut Vec<u8>) {
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

fn int(raw: &[u8]) -> Option<i64> {
    match *raw {
        [a, b] => Some(i16::from_be_bytes([a, b]).into()),
        [a, b, c, d] => Some(i32::from_be_bytes([a, b, c, d]).into()),
        _ => raw.try_into().ok().map(i64::from_be_bytes),
    }
}

/// A whole number of 32 bits, which is what GraphQL's `Int` holds.
fn whole(encoding: Encoding, raw: &[u8]) -> Option<i32> {
    if encoding == Encoding::Int {
        return i32::try_from(int(raw)?).ok();
    }
    let mut digits = Vec::new();
    let digits = numeric(raw, &mut digits).then_some(digits)?;
    let digits = std::str::from_utf8(&digits).ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    whole.parse().ok().filter(|_| fraction.bytes().all(|digit| digit == b'0'))
}

fn truth(encoding: Encoding, raw: &[u8]) -> Option<bool> {
    match (encoding, raw) {
        (Encoding::Boolean, [byte]) => Some(*byte != 0),
        (Encoding::Text, b"Y" | b"y" | b"true") => Some(true),
        (Encoding::Text, b"N" | b"n" | b"false") => Some(false),
        _ => None,
    }
}

fn moment(encoding: Encoding, raw: &[u8]) -> Option<Timestamp> {
    let since_2000 = match encoding {
        // The two extremes are PostgreSQL's infinities, which are no moments.
        Encoding::Timestamp => {
            let micros = raw.try_into().ok().map(i64::from_be_bytes)?;
            (micros != i64::MAX && micros != i64::MIN).then_some(micros)?
        }
        Encoding::Date => {
            let days = raw.try_into().ok().map(i32::from_be_bytes)?;
            (days != i32::MAX && days != i32::MIN).then(|| i64::from(days) * 86_400_000_000)?
        }
        _ => return None,
    };
    since_2000.checked_add(Timestamp::POSTGRES_EPOCH).map(Timestamp)
}

/// Appends a moment as ISO-8601 in UTC with a trailing Z; a fraction only where it is not zero, without trailing zeros.
fn timestamp(Timestamp(micros): Timestamp, out: &mut Vec<u8>) -> bool {
    const DAY: i64 = 86_400_000_000;
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (seconds, mut fraction) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let sign = match year {
        ..0 => "-",
        10_000.. => "+",
        _ => "",
    };
    let year = year.unsigned_abs();
    append(out, format_args!("{sign}{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"));
    if fraction != 0 {
        let mut digits = 6;
        while fraction % 10 == 0 {
            fraction /= 10;
            digits -= 1;
        }
        append(out, format_args!(".{fraction:0digits$}"));
    }
    out.push(b'Z');
    true
}

/// The date of a day since 1970 in the proleptic Gregorian calendar: Howard Hinnant's `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Appends a `numeric`, with its scale as stored. Its binary form: four 16-bit numbers (count of digits, weight of the
/// first, sign, digits behind the point), then the digits in base 10,000.
fn numeric(raw: &[u8], out: &mut Vec<u8>) -> bool {
    const NEGATIVE: u16 = 0x4000;
    let mut words = raw.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
    let (Some(count), Some(weight), Some(sign), Some(scale)) = (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    if sign & !NEGATIVE != 0 {
        return false; // not a number, or an infinity
    }
    let digits: &[u8] = raw.get(8..8 + 2 * usize::from(count)).unwrap_or(&[]);
    let digit = |place: i32| -> u16 {
        let bytes = usize::try_from(place).ok().and_then(|place| digits.get(2 * place..2 * place + 2));
        bytes.map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    if sign == NEGATIVE {
        out.push(b'-');
    }
    let weight = i32::from(weight.cast_signed());
    if weight < 0 {
        out.push(b'0');
    }
    for place in 0..=weight {
        match place {
            0 => append(out, digit(place)),
            _ => append(out, format_args!("{:04}", digit(place))),
        };
    }
    if scale > 0 {
        out.push(b'.');
        let mut left = usize::from(scale);
        let mut place = weight + 1;
        while left > 0 {
            let four = digit(place);
            let four = [four / 1000, four / 100 % 10, four / 10 % 10, four % 10];
            let taken = left.min(4);
            #[expect(clippy::cast_possible_truncation, reason = "single decimal digits")]
            out.extend(four[..taken].iter().map(|digit| b'0' + *digit as u8));
            left -= taken;
            place += 1;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::Decimal;
    use tokio_postgres::types::ToSql;

    use super::*;

    fn written(scalar: ScalarType, encoding: Encoding, raw: &[u8]) -> Option<String> {
        let mut out = b"~".to_vec();
        let is_written = json(scalar, encoding, raw, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(is_written || text == "~", "what is not written leaves nothing behind");
        is_written.then(|| text[1..].to_owned())
    }

    fn at(micros_since_1970: i64) -> Option<String> {
        let raw = (micros_since_1970 - Timestamp::POSTGRES_EPOCH).to_be_bytes();
        written(ScalarType::DateTime, Encoding::Timestamp, &raw)
    }

    proptest! {
        #[test]
        fn decimals_keep_every_digit(mantissa in any::<i64>(), scale in 0u32..=18) {
            let decimal = Decimal::from_i128_with_scale(mantissa.into(), scale);
            let mut raw = bytes::BytesMut::new();
            decimal.to_sql(&Type::NUMERIC, &mut raw).unwrap();
            let expected = format!("\"{decimal}\"");
            prop_assert_eq!(written(ScalarType::Decimal, Encoding::Numeric, &raw), Some(expected));
        }

        #[test]
        fn strings_are_json(text in ".*") {
            let json = written(ScalarType::String, Encoding::Text, text.as_bytes()).unwrap();
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
            numeric(&raw, &mut out);
            moment(Encoding::Timestamp, &raw);
        }
    }

    #[test]
    fn moments_have_a_fraction_only_where_it_is_not_zero() {
        assert_eq!(at(0).unwrap(), r#""1970-01-01T00:00:00Z""#);
        assert_eq!(at(1_500_000).unwrap(), r#""1970-01-01T00:00:01.5Z""#);
        assert_eq!(at(1_000_001).unwrap(), r#""1970-01-01T00:00:01.000001Z""#);
        assert_eq!(at(-1).unwrap(), r#""1969-12-31T23:59:59.999999Z""#);
        assert_eq!(written(ScalarType::DateTime, Encoding::Timestamp, &i64::MAX.to_be_bytes()), None);
    }

    #[test]
    fn an_int_out_of_a_numeric_is_whole_and_of_32_bits() {
        let int = |text: &str| {
            let mut raw = bytes::BytesMut::new();
            text.parse::<Decimal>().unwrap().to_sql(&Type::NUMERIC, &mut raw).unwrap();
            written(ScalarType::Int, Encoding::Numeric, &raw)
        };
        assert_eq!(int("-2147483648").as_deref(), Some("-2147483648"));
        assert_eq!(int("12.00").as_deref(), Some("12"));
        assert_eq!((int("2147483648"), int("0.5")), (None, None));
    }

    #[test]
    fn flags_and_numbers() {
        assert_eq!(written(ScalarType::Boolean, Encoding::Text, b"Y").unwrap(), "true");
        assert_eq!(written(ScalarType::Boolean, Encoding::Text, b"N").unwrap(), "false");
        assert_eq!(written(ScalarType::Boolean, Encoding::Text, b" "), None);
        assert_eq!(written(ScalarType::Int, Encoding::Int, &7i64.to_be_bytes()).unwrap(), "7");
        let edge = i64::from(i32::MAX);
        assert_eq!(written(ScalarType::Int, Encoding::Int, &edge.to_be_bytes()).unwrap(), "2147483647");
        assert_eq!(written(ScalarType::Int, Encoding::Int, &(edge + 1).to_be_bytes()), None);
        assert_eq!(written(ScalarType::Id, Encoding::Int, &7i32.to_be_bytes()).unwrap(), "\"7\"");
        assert_eq!(written(ScalarType::String, Encoding::Text, "\u{1}\"\\/é".as_bytes()).unwrap(), r#""\u0001\"\\/é""#);
    }
}
