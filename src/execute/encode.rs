//! PostgreSQL's binary values as JSON and as cursor keys, without an intermediate value.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::cursor::Encoder;
use crate::database::column_format::ColumnFormat;
use crate::execute::json_value::json_value;
use crate::execute::{decimal, interval, timestamp};
use crate::value::{Date, Float, Interval, ScalarType, TimeOfDay, Timestamp, Uuid};

/// Appends a value as the JSON of its scalar type. Returns `false`, and appends nothing, if the type cannot have the value.
pub(crate) fn json(scalar: ScalarType, format: ColumnFormat, raw: &[u8], out: &mut Vec<u8>) -> bool {
    match (scalar, format) {
        (ScalarType::Int, ColumnFormat::Int | ColumnFormat::Numeric) => {
            whole(format, raw).map(|number| decimal::int(number.into(), out)).is_some()
        }
        (ScalarType::Boolean, _) => match truth(format, raw) {
            Some(truth) => {
                out.extend_from_slice(if truth { b"true" } else { b"false" });
                true
            }
            None => false,
        },
        (ScalarType::Enum(enumeration), _) => match enumeration.name_of(raw) {
            Some(name) => quoted(out, |out| append(out, name)),
            None => false,
        },
        (_, ColumnFormat::Text) => text(raw, out),
        (ScalarType::Float, _) => number(format, raw, out),
        (_, ColumnFormat::Json) => json_value(raw, out),
        (_, _) => quoted(out, |out| match format {
            ColumnFormat::Numeric => decimal::numeric(raw, out),
            ColumnFormat::Int => whole_number(raw).map(|number| decimal::int(number, out)).is_some(),
            ColumnFormat::Float8 => raw.try_into().is_ok_and(|bytes| append(out, f64::from_be_bytes(bytes))),
            ColumnFormat::Date if scalar == ScalarType::Date => {
                let finite = date(raw).filter(|date| date.is_finite());
                finite.map(|date| timestamp::date(date, out)).is_some()
            }
            ColumnFormat::Timestamp | ColumnFormat::Date => {
                let finite = timestamp(format, raw).filter(|timestamp| timestamp.is_finite());
                finite.map(|timestamp| timestamp::iso_8601(timestamp, out)).is_some()
            }
            ColumnFormat::Uuid => uuid(raw).is_some_and(|uuid| append(out, uuid)),
            ColumnFormat::Time => time_of_day(raw).map(|time| timestamp::time_of_day(time, out)).is_some(),
            ColumnFormat::Interval => {
                let finite = span(raw).filter(|span| span.is_finite());
                finite.map(|span| interval::iso_8601(span, out)).is_some()
            }
            ColumnFormat::Bytes => base64(raw, out),
            ColumnFormat::Text
            | ColumnFormat::Boolean
            | ColumnFormat::Float4
            | ColumnFormat::Json
            | ColumnFormat::Array => false,
        }),
    }
}

/// Appends a moment with an offset from UTC, in seconds. Returns `false`, and appends nothing, if it is infinite.
pub(super) fn local_time(format: ColumnFormat, raw: &[u8], offset: Option<&[u8]>, out: &mut Vec<u8>) -> bool {
    let offset = offset.and_then(whole_number).and_then(|seconds| i32::try_from(seconds).ok());
    let finite = timestamp(format, raw).filter(|timestamp| timestamp.is_finite());
    quoted(out, |out| finite.map(|moment| timestamp::with_offset(moment, offset.unwrap_or(0), out)).is_some())
}

/// Adds a value to a cursor, exactly. The check at start rules out that a compared column has another format; a truth value
/// that is neither true nor false becomes a null.
pub(crate) fn cursor_key(scalar: ScalarType, format: ColumnFormat, raw: Option<&[u8]>, cursor: &mut Encoder) {
    let Some(raw) = raw else { return cursor.null() };
    let added = match (scalar, format) {
        (ScalarType::Boolean, _) => truth(format, raw).map(|truth| cursor.boolean(truth)),
        (ScalarType::Float, _) => float(format, raw).map(|number| cursor.float(number)),
        (ScalarType::Date, _) => date(raw).map(|date| cursor.date(date)),
        (_, ColumnFormat::Time) => time_of_day(raw).map(|time| cursor.time(time)),
        (_, ColumnFormat::Interval) => span(raw).map(|span| cursor.interval(span)),
        (_, ColumnFormat::Timestamp | ColumnFormat::Date) => timestamp(format, raw).map(|time| cursor.timestamp(time)),
        (_, ColumnFormat::Int) => whole_number(raw).map(|number| cursor.int(number)),
        (_, ColumnFormat::Numeric) => return cursor.numeric(raw),
        (_, ColumnFormat::Text) => return cursor.text(raw),
        (_, ColumnFormat::Bytes) => return cursor.bytes(raw),
        (_, ColumnFormat::Uuid) => uuid(raw).map(|uuid| cursor.uuid(uuid)),
        (
            _,
            ColumnFormat::Boolean
            | ColumnFormat::Float8
            | ColumnFormat::Float4
            | ColumnFormat::Json
            | ColumnFormat::Array,
        ) => None,
    };
    if added.is_none() {
        cursor.null();
    }
}

/// Appends a JSON string. Returns `false` if the bytes are not UTF-8.
#[inline]
pub(crate) fn text(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    // Most texts are ASCII without anything to escape.
    if is_plain(bytes) {
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
        return true;
    }
    str::from_utf8(bytes).map(|text| escaped(text, out)).is_ok()
}

/// Whether a JSON string has the bytes as they are: ASCII but for control characters, quotes and backslashes. Eight bytes are examined at
/// once. If fewer are left, the last eight are, some of them for the second time.
fn is_plain(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<8>() {
        let (words, _) = bytes.as_chunks::<8>();
        let found = special(u64::from_le_bytes(*last));
        return words.iter().fold(found, |found, word| found | special(u64::from_le_bytes(*word))) == 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let [first, last] = [*first, *last].map(|half| u64::from(u32::from_le_bytes(half)));
        return special((first << 32) | last) == 0;
    }
    bytes.iter().all(|byte| special(each(*byte)) == 0)
}

/// Not zero if one of the eight bytes of a word is not ASCII, or has to be escaped in a JSON string. Where all are ASCII, a subtraction sets
/// the highest bit of a byte only if the byte is smaller, or a smaller one before it has borrowed from it.
fn special(word: u64) -> u64 {
    let control = word.wrapping_sub(each(b' '));
    let quote = (word ^ each(b'"')).wrapping_sub(each(1));
    let backslash = (word ^ each(b'\\')).wrapping_sub(each(1));
    (control | quote | backslash | word) & each(0x80)
}

/// A word of eight such bytes.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Appends a JSON string with escapes.
#[cold]
fn escaped(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0..0x20 => {
                out.extend_from_slice(&bytes[plain..index]);
                append(out, format_args!("\\u{byte:04x}"));
                plain = index + 1;
                continue;
            }
            _ => continue,
        };
        out.extend_from_slice(&bytes[plain..index]);
        out.extend_from_slice(escape);
        plain = index + 1;
    }
    out.extend_from_slice(&bytes[plain..]);
    out.push(b'"');
}

/// Appends a value that needs no escapes. Writing to memory cannot fail.
fn append(out: &mut Vec<u8>, value: impl std::fmt::Display) -> bool {
    write!(out, "{value}").is_ok()
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

fn uuid(raw: &[u8]) -> Option<Uuid> {
    raw.try_into().ok().map(u128::from_be_bytes).map(Uuid)
}

fn date(raw: &[u8]) -> Option<Date> {
    raw.try_into().ok().map(i32::from_be_bytes).map(Date)
}

fn time_of_day(raw: &[u8]) -> Option<TimeOfDay> {
    raw.try_into().ok().map(i64::from_be_bytes).map(TimeOfDay).filter(|time| time.is_storable())
}

fn span(raw: &[u8]) -> Option<Interval> {
    raw.try_into().ok().map(Interval::from_binary)
}

fn float(format: ColumnFormat, raw: &[u8]) -> Option<Float> {
    match format {
        ColumnFormat::Float8 => raw.try_into().ok().map(f64::from_be_bytes).map(Float::new),
        ColumnFormat::Float4 => raw.try_into().ok().map(f32::from_be_bytes).map(|single| Float::new(single.into())),
        _ => None,
    }
}

/// Appends a finite number with the fewest digits that read as the same number of its size.
fn number(format: ColumnFormat, raw: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(number) = float(format, raw).filter(|number| number.get().is_finite()) else { return false };
    let written = if format == ColumnFormat::Float4 {
        serde_json::to_writer(out, &number.to_single())
    } else {
        serde_json::to_writer(out, &number.get())
    };
    // Writing to memory cannot fail.
    written.is_ok()
}

/// Appends bytes in base64.
fn base64(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.resize(start + raw.len().div_ceil(3) * 4, 0);
    STANDARD.encode_slice(raw, &mut out[start..]).is_ok()
}

fn whole_number(raw: &[u8]) -> Option<i64> {
    match *raw {
        [a, b] => Some(i16::from_be_bytes([a, b]).into()),
        [a, b, c, d] => Some(i32::from_be_bytes([a, b, c, d]).into()),
        _ => raw.try_into().ok().map(i64::from_be_bytes),
    }
}

/// A whole number of 32 bits, the range of GraphQL's `Int`.
fn whole(format: ColumnFormat, raw: &[u8]) -> Option<i32> {
    if format == ColumnFormat::Int {
        return i32::try_from(whole_number(raw)?).ok();
    }
    let mut text = Vec::new();
    let text = decimal::numeric(raw, &mut text).then_some(text)?;
    let text = std::str::from_utf8(&text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    whole.parse().ok().filter(|_| fraction.bytes().all(|digit| digit == b'0'))
}

fn truth(format: ColumnFormat, raw: &[u8]) -> Option<bool> {
    match (format, raw) {
        (ColumnFormat::Boolean, [byte]) => Some(*byte != 0),
        (ColumnFormat::Text, b"Y" | b"y" | b"true") => Some(true),
        (ColumnFormat::Text, b"N" | b"n" | b"false") => Some(false),
        _ => None,
    }
}

fn timestamp(format: ColumnFormat, raw: &[u8]) -> Option<Timestamp> {
    match format {
        ColumnFormat::Timestamp => raw.try_into().ok().map(i64::from_be_bytes).map(Timestamp),
        ColumnFormat::Date => {
            let days = raw.try_into().ok().map(i32::from_be_bytes)?;
            // PostgreSQL's infinities are the two extremes, of dates too. Its dates reach twenty times as far as its moments.
            match days {
                i32::MIN => Some(Timestamp(i64::MIN)),
                i32::MAX => Some(Timestamp(i64::MAX)),
                days => i64::from(days).checked_mul(86_400_000_000).map(Timestamp),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::Decimal;
    use tokio_postgres::types::{ToSql, Type};

    use super::*;

    fn written(scalar: ScalarType, format: ColumnFormat, raw: &[u8]) -> Option<String> {
        let mut out = b"~".to_vec();
        let is_written = json(scalar, format, raw, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(is_written || text == "~", "a value that cannot be written appends nothing");
        is_written.then(|| text[1..].to_owned())
    }

    fn at(micros_since_2000: i64) -> Option<String> {
        written(ScalarType::DateTime, ColumnFormat::Timestamp, &micros_since_2000.to_be_bytes())
    }

    proptest! {
        #[test]
        fn writes_every_digit_of_a_decimal(mantissa in any::<i64>(), scale in 0u32..=18) {
            let decimal = Decimal::from_i128_with_scale(mantissa.into(), scale);
            let mut raw = bytes::BytesMut::new();
            decimal.to_sql(&Type::NUMERIC, &mut raw).unwrap();
            let expected = format!("\"{decimal}\"");
            prop_assert_eq!(written(ScalarType::Decimal, ColumnFormat::Numeric, &raw), Some(expected));
        }

        #[test]
        fn writes_any_text_as_json(text in ".*") {
            let json = written(ScalarType::String, ColumnFormat::Text, text.as_bytes()).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn writes_timestamps_that_parse_to_the_same(micros in -63_113_904_000_000_000i64..252_455_616_000_000_000) {
            let text = at(micros).unwrap();
            prop_assert_eq!(Timestamp::parse(text.trim_matches('"')), Ok(Timestamp(micros)));
        }

        #[test]
        fn reads_any_bytes_without_panicking(raw in proptest::collection::vec(any::<u8>(), 0..24)) {
            let mut out = Vec::new();
            decimal::numeric(&raw, &mut out);
            timestamp(ColumnFormat::Timestamp, &raw);
        }
    }

    #[test]
    fn finds_every_byte_that_a_json_string_cannot_have_as_it_is() {
        for (byte, length) in (0..=u8::MAX).flat_map(|byte| (1..20).map(move |length| (byte, length))) {
            let is_special =
                !byte.is_ascii() || byte.is_ascii_control() && byte != 0x7f || matches!(byte, b'"' | b'\\');
            for place in 0..length {
                let mut bytes = vec![b'~'; length];
                bytes[place] = byte;
                assert_eq!(is_plain(&bytes), !is_special, "{byte:#x} at {place} of {length}");
            }
        }
    }

    #[test]
    fn writes_a_fraction_of_a_second_only_if_it_is_not_zero() {
        assert_eq!(at(0).unwrap(), r#""2000-01-01T00:00:00Z""#);
        assert_eq!(at(1_500_000).unwrap(), r#""2000-01-01T00:00:01.5Z""#);
        assert_eq!(at(1_000_001).unwrap(), r#""2000-01-01T00:00:01.000001Z""#);
        assert_eq!(at(-1).unwrap(), r#""1999-12-31T23:59:59.999999Z""#);
        assert_eq!((at(i64::MIN), at(i64::MAX)), (None, None));
        // The first and the last moment of PostgreSQL.
        assert_eq!(at(-211_813_488_000_000_000).unwrap(), r#""-4713-11-24T00:00:00Z""#);
        assert_eq!(at(9_223_371_331_199_999_999).unwrap(), r#""+294276-12-31T23:59:59.999999Z""#);
    }

    #[test]
    fn writes_dates_as_far_as_there_are_moments() {
        let at = |days: i32| written(ScalarType::DateTime, ColumnFormat::Date, &days.to_be_bytes());
        assert_eq!(at(-1).unwrap(), r#""1999-12-31T00:00:00Z""#);
        assert_eq!(at(106_751_991).unwrap(), r#""+294277-01-09T00:00:00Z""#);
        assert_eq!((at(106_751_992), at(2_000_000_000)), (None, None));
    }

    #[test]
    fn writes_a_numeric_as_an_int_only_if_it_is_whole_and_of_32_bits() {
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
    fn writes_dates_times_floats_and_bytes() {
        let date = |days: i32| written(ScalarType::Date, ColumnFormat::Date, &days.to_be_bytes());
        assert_eq!(date(-1).as_deref(), Some(r#""1999-12-31""#));
        assert_eq!(date(-2_451_545).as_deref(), Some(r#""-4713-11-24""#));
        assert_eq!(date(2_145_031_948).as_deref(), Some(r#""+5874897-12-31""#));
        assert_eq!((date(i32::MIN), date(i32::MAX)), (None, None));
        let time = |micros: i64| written(ScalarType::Time, ColumnFormat::Time, &micros.to_be_bytes());
        assert_eq!(time(0).as_deref(), Some(r#""00:00:00""#));
        assert_eq!(time(86_399_500_000).as_deref(), Some(r#""23:59:59.5""#));
        assert_eq!(time(86_400_000_000).as_deref(), Some(r#""24:00:00""#));
        assert_eq!((time(-1), time(86_400_000_001)), (None, None));
        let double = |number: f64| written(ScalarType::Float, ColumnFormat::Float8, &number.to_be_bytes());
        let single = |number: f32| written(ScalarType::Float, ColumnFormat::Float4, &number.to_be_bytes());
        assert_eq!((double(0.1).unwrap(), single(0.1).unwrap()), ("0.1".to_owned(), "0.1".to_owned()));
        assert_eq!(double(0.1_f32.into()).as_deref(), Some("0.10000000149011612"));
        assert!(double(1e300).unwrap().len() < 8 && double(-0.0).unwrap() == "0.0");
        assert_eq!((double(f64::NAN), single(f32::INFINITY)), (None, None));
        let big = written(ScalarType::BigInt, ColumnFormat::Int, &i64::MIN.to_be_bytes());
        assert_eq!(big.as_deref(), Some(r#""-9223372036854775808""#));
        let bytes = |raw: &[u8]| written(ScalarType::Bytes, ColumnFormat::Bytes, raw);
        assert_eq!((bytes(&[0, 255, 7, 1]).as_deref(), bytes(&[]).as_deref()), (Some(r#""AP8HAQ==""#), Some("\"\"")));
        assert_eq!(written(ScalarType::Json, ColumnFormat::Json, b" {\n}").as_deref(), Some(" { }"));
    }

    #[test]
    fn writes_booleans_numbers_and_escapes() {
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
