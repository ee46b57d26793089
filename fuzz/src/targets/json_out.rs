//! `json_out`: the first byte chooses a column; the rest is a value in PostgreSQL's binary format.
//!
//! - What is written is one JSON value, and reading it gives the value back.
//! - What cannot be written leaves nothing behind.
//! - The cursor of the value brings it back exactly.
//! - Memory grows with the number of digits at most.

use orderql::cursor::{Encoder, OrderingTag, decode};
use orderql::fuzzing::output::Column;
use orderql::value::{Date, Float, Interval, Numeric, ScalarType, TimeOfDay, Timestamp, Uuid, Value};
use serde_json::Value as Json;

use crate::support::allocation::{Allowance, within};
use crate::support::input::choice;

/// A `numeric` of eight bytes can have 147,455 digits.
const ALLOWANCE: Allowance = Allowance { per_byte: 64, constant: 1_500_000 };

const DAY: i64 = 86_400_000_000;

/// Runs the target.
pub fn run(data: &[u8]) {
    let (first, raw) = choice(data);
    let columns = Column::all();
    let column = columns[first % columns.len()];
    let mut out = b"before".to_vec();
    let is_written = within(ALLOWANCE, raw.len(), || column.json(raw, &mut out));
    let written = out.strip_prefix(b"before").expect("what was there before is left alone");
    if is_written {
        let json = serde_json::from_slice(written).unwrap_or_else(|error| panic!("{error}: {written:?}"));
        check_value(column, raw, &json);
    } else {
        assert_eq!(written, b"", "what cannot be written leaves something behind");
    }
    check_cursor(column, raw);
}

/// The JSON value says what the binary value does.
fn check_value(column: Column, raw: &[u8], json: &Json) {
    if column.scalar == ScalarType::Json {
        return assert_eq!(serde_json::from_slice::<Json>(raw).ok().as_ref(), Some(json));
    }
    if column.scalar == ScalarType::Float {
        let read = json.as_f64().expect("a number");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::float_cmp,
            reason = "the same number is meant, of 32 bits or 64"
        )]
        let is_same = match raw.try_into().map(f32::from_be_bytes) {
            Ok(single) => read as f32 == single,
            Err(_) => raw.try_into().is_ok_and(|bytes| read == f64::from_be_bytes(bytes)),
        };
        return assert!(is_same, "{json}");
    }
    let text = match json {
        Json::Bool(truth) => {
            assert_eq!(column.scalar, ScalarType::Boolean);
            let is_true = if column.stored() == "boolean" { raw != [0] } else { matches!(raw, b"Y" | b"y" | b"true") };
            return assert_eq!(*truth, is_true);
        }
        Json::Number(number) => {
            assert_eq!(column.scalar, ScalarType::Int);
            assert!(number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()), "{number} is no Int");
            number.to_string()
        }
        Json::String(text) => text.clone(),
        other => panic!("{other}"),
    };
    match column.stored() {
        "text" => assert_eq!(text.as_bytes(), raw),
        "int" => assert_eq!(text.parse::<i64>().ok(), int(raw)),
        "numeric" => check_numeric(column, raw, &text),
        "float8" => {
            let expected = f64::from_be_bytes(raw.try_into().expect("eight bytes"));
            let read: f64 = text.parse().expect("a number");
            assert!(read.to_bits() == expected.to_bits() || read.is_nan() && expected.is_nan(), "{text}");
        }
        "timestamp" => assert_eq!(Some(micros(&text)), raw.try_into().ok().map(i64::from_be_bytes), "{text}"),
        "date" if column.scalar == ScalarType::Date => {
            let days = raw.try_into().ok().map(i32::from_be_bytes).expect("four bytes");
            assert_eq!(micros(&format!("{text}T00:00:00Z")), i64::from(days) * DAY, "{text}");
        }
        "time" => assert_eq!(TimeOfDay::parse(&text).ok(), raw.try_into().ok().map(i64::from_be_bytes).map(TimeOfDay)),
        "interval" => assert_eq!(Interval::parse(&text).ok(), raw.try_into().ok().map(Interval::from_binary)),
        "bytea" => assert_eq!(text.len(), raw.len().div_ceil(3) * 4),
        "date" => {
            let days = raw.try_into().ok().map(i32::from_be_bytes).expect("four bytes");
            assert_eq!(micros(&text), i64::from(days) * DAY, "{text}");
        }
        "uuid" => assert_eq!(Uuid::parse(&text).ok(), raw.try_into().ok().map(u128::from_be_bytes).map(Uuid)),
        other => panic!("a string of {other}"),
    }
}

fn int(raw: &[u8]) -> Option<i64> {
    Some(match raw.len() {
        2 => i16::from_be_bytes(raw.try_into().ok()?).into(),
        4 => i32::from_be_bytes(raw.try_into().ok()?).into(),
        _ => i64::from_be_bytes(raw.try_into().ok()?),
    })
}

/// The digits of a `numeric` that PostgreSQL can send, in groups of four around the point.
fn check_numeric(column: Column, raw: &[u8], text: &str) {
    if Numeric::from_binary(raw).is_none() {
        return;
    }
    let word = |index: usize| u16::from_be_bytes([raw[2 * index], raw[2 * index + 1]]);
    let (count, weight, scale) = (usize::from(word(0)), i32::from(word(1).cast_signed()), usize::from(word(3)));
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |unsigned| ("-", unsigned));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if column.scalar == ScalarType::Int {
        // Without a fraction, and without the sign of a zero.
        assert_eq!(fraction, "");
    } else {
        assert_eq!(sign == "-", word(2) == 0x4000);
        assert_eq!(fraction.len(), scale);
    }
    let padded = format!("{}{whole}", "0".repeat((4 - whole.len() % 4) % 4));
    let groups_before = i32::try_from(padded.len() / 4).expect("few digits");
    let digits = format!("{padded}{fraction}");
    for index in 0..count {
        // The position of the group, from the first one that is written.
        let position = groups_before - 1 - weight + i32::try_from(index).expect("few digits");
        let expected = format!("{:04}", word(4 + index));
        let Ok(start) = usize::try_from(4 * position) else { panic!("the digits {expected} are missing in {text}") };
        let found: String = digits.chars().chain(std::iter::repeat('0')).skip(start).take(4).collect();
        // PostgreSQL sends no digits behind the scale.
        let known = (padded.len() + scale).saturating_sub(start).min(4);
        assert_eq!(found[..known], expected[..known], "{text}");
    }
}

/// The microseconds since 2000 of a moment as it is written.
fn micros(text: &str) -> i64 {
    let (sign, unsigned) = match text.as_bytes()[0] {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let (date, clock) = unsigned.strip_suffix('Z').and_then(|text| text.split_once('T')).expect("a date and a time");
    let mut date = date.split('-').map(|part| part.parse::<i64>().expect("a number"));
    let (year, month, day) = (sign * date.next().unwrap(), date.next().unwrap(), date.next().unwrap());
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let seconds = clock.split(':').fold(0, |sum, part| 60 * sum + part.parse::<i64>().expect("a number"));
    let fraction: i64 = format!("{fraction:0<6}").parse().expect("a number");
    let days = days_from_civil(year, month, day) - days_from_civil(2000, 1, 1);
    // The sum may be in range where the first product is not.
    let sum = i128::from(days) * i128::from(DAY) + i128::from(seconds * 1_000_000 + fraction);
    i64::try_from(sum).expect("a moment")
}

/// The number of days before a date: years, then the months of a year that begins in March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = if month <= 2 { month + 9 } else { month - 3 };
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day - 1
}

/// A cursor of the value has the same value, if PostgreSQL can store it.
fn check_cursor(column: Column, raw: &[u8]) {
    let expected = match (column.scalar, column.stored()) {
        (ScalarType::Id | ScalarType::String, "text") => match String::from_utf8(raw.to_vec()) {
            Ok(text) if !text.contains('\0') && text.len() < 10_000 => Some(Value::Text(text)),
            _ => return,
        },
        (ScalarType::Id | ScalarType::Int | ScalarType::BigInt, "int") => int(raw).map(Value::Int),
        (ScalarType::Id | ScalarType::Int | ScalarType::Decimal, "numeric") if raw.len() < 10_000 => {
            let Some(number) = Numeric::from_binary(raw) else { return };
            Some(Value::Numeric(number))
        }
        (ScalarType::Id | ScalarType::Uuid, "uuid") => {
            raw.try_into().ok().map(u128::from_be_bytes).map(|bits| Value::Uuid(Uuid(bits)))
        }
        (ScalarType::Float, "float8") => {
            raw.try_into().ok().map(f64::from_be_bytes).map(|number| Value::Float(Float::new(number)))
        }
        (ScalarType::Float, "float4") => {
            raw.try_into().ok().map(f32::from_be_bytes).map(|number| Value::Float(Float::new(number.into())))
        }
        (ScalarType::Date, "date") => {
            let date = raw.try_into().ok().map(i32::from_be_bytes).map(Date);
            if date.is_some_and(|date| !date.is_storable()) {
                return;
            }
            date.map(Value::Date)
        }
        (ScalarType::Time, "time") => {
            let time = raw.try_into().ok().map(i64::from_be_bytes).map(TimeOfDay);
            time.filter(|time| time.is_storable()).map(Value::Time)
        }
        (ScalarType::Interval, "interval") => raw.try_into().ok().map(Interval::from_binary).map(Value::Interval),
        (ScalarType::DateTime, "timestamp") => {
            let timestamp = raw.try_into().ok().map(i64::from_be_bytes).map(Timestamp);
            if timestamp.is_some_and(|timestamp| !timestamp.is_storable()) {
                return;
            }
            timestamp.map(Value::DateTime)
        }
        (ScalarType::Boolean, "boolean") if raw.len() == 1 => Some(Value::Boolean(raw != [0])),
        _ => return,
    };
    let tag = OrderingTag::new("rows", "VALUE");
    let mut encoder = Encoder::default();
    encoder.begin(tag);
    column.cursor_key(Some(raw), &mut encoder);
    let mut out = Vec::new();
    encoder.finish(&mut out);
    let text = String::from_utf8(out).expect("cursors are ASCII");
    assert_eq!(decode(&text, tag, &[column.scalar]), Ok(vec![expected]));
}
