//! The parameters of a statement as PostgreSQL reads them in a text.

use std::fmt::Write as _;

use crate::catalog::characters::Characters;
use crate::execute::{decimal, interval, timestamp};
use crate::plan::parameters::ParameterValue;
use crate::plan::request_plan::Plan;
use crate::value::{Date, Interval, Numeric, Timestamp, Value};

/// The arguments with which `EXECUTE` runs the prepared statement of a plan.
pub fn arguments(plan: &Plan) -> String {
    let arguments: Vec<_> = plan.parameters().map(|parameter| literal(plan.characters(), parameter)).collect();
    if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) }
}

/// A literal without a type, which PostgreSQL reads as one of the parameter's.
fn literal(characters: &Characters, parameter: ParameterValue<'_>) -> String {
    match parameter {
        ParameterValue::Value(value) => value
            .and_then(|value| characters.sent(value))
            .map_or_else(|| "NULL".to_owned(), |value| quoted(&text(value))),
        ParameterValue::Values(values) => {
            let element = |value| format!("\"{}\"", text(value).replace('\\', "\\\\").replace('"', "\\\""));
            let element = |value| characters.sent(value).map_or_else(|| "NULL".to_owned(), element);
            let elements: Vec<_> = values.iter().map(element).collect();
            quoted(&format!("{{{}}}", elements.join(",")))
        }
        ParameterValue::Limit(rows) => rows.to_string(),
    }
}

/// Text with its escapes, whatever `standard_conforming_strings` is.
fn quoted(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A value as PostgreSQL writes it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Numeric(number) => numeric(number),
        Value::Boolean(truth) => if *truth { "Y" } else { "N" }.to_owned(),
        Value::DateTime(moment) => timestamp(*moment),
        Value::Uuid(uuid) => uuid.to_string(),
        Value::Float(number) => number.get().to_string(),
        Value::Date(day) => date(*day),
        Value::Time(time) => written(|out| timestamp::time_of_day(*time, out)),
        Value::Interval(interval) => span(*interval),
        Value::Bytes(bytes) => bytes.iter().fold("\\x".to_owned(), |text, byte| format!("{text}{byte:02x}")),
    }
}

fn numeric(number: &Numeric) -> String {
    let mut text = Vec::new();
    if decimal::numeric(number.as_binary(), &mut text) {
        return String::from_utf8_lossy(&text).into_owned();
    }
    // The upper byte of the sign.
    match number.as_binary().get(4) {
        Some(0xd0) => "Infinity",
        Some(0xf0) => "-Infinity",
        _ => "NaN",
    }
    .to_owned()
}

fn timestamp(moment: Timestamp) -> String {
    if !moment.is_finite() {
        return infinite(moment.0 > 0);
    }
    in_era(&written(|out| timestamp::iso_8601(moment, out)))
}

fn date(day: Date) -> String {
    if day.is_finite() { in_era(&written(|out| timestamp::date(day, out))) } else { infinite(day.0 > 0) }
}

fn span(span: Interval) -> String {
    if span.is_finite() { written(|out| interval::iso_8601(span, out)) } else { infinite(span.months > 0) }
}

fn infinite(is_positive: bool) -> String {
    if is_positive { "infinity" } else { "-infinity" }.to_owned()
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut text = Vec::new();
    write(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A date or timestamp of ISO-8601 as PostgreSQL reads it.
fn in_era(iso: &str) -> String {
    let positive = iso.trim_start_matches(['+', '-']);
    let (year, rest) = positive.split_once('-').unwrap_or((positive, ""));
    let mut text = String::new();
    // ISO-8601 has a year 0, and PostgreSQL has none. Writing to memory cannot fail.
    let _ = match year.parse::<u32>() {
        Ok(year) if year == 0 || iso.starts_with('-') => write!(text, "{:04}-{rest} BC", year + 1),
        _ => write!(text, "{positive}"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_end_no_literal() {
        let hostile = Value::Text("a'b\\'c\"d".to_owned());
        assert_eq!(literal(&Characters::All, ParameterValue::Value(Some(&hostile))), r#"E'a''b\\''c"d'"#);
        assert_eq!(
            literal(&Characters::All, ParameterValue::Values(&[hostile, Value::Int(7)])),
            r#"E'{"a''b\\\\''c\\"d","7"}'"#
        );
        assert_eq!(
            (
                literal(&Characters::All, ParameterValue::Value(None)),
                literal(&Characters::All, ParameterValue::Limit(11))
            ),
            ("NULL".into(), "11".into())
        );
    }

    #[test]
    fn years_before_the_first_are_counted_backward() {
        for (micros, expected) in [
            (0, "2000-01-01T00:00:00Z"),
            (-211_813_488_000_000_000, "4714-11-24T00:00:00Z BC"),
            (-63_113_904_000_000_000, "0001-01-01T00:00:00Z BC"),
            (9_223_371_331_199_999_999, "294276-12-31T23:59:59.999999Z"),
            (i64::MIN, "-infinity"),
        ] {
            assert_eq!(text(&Value::DateTime(Timestamp(micros))), expected);
        }
        for (days, expected) in
            [(0, "2000-01-01"), (-2_451_545, "4714-11-24 BC"), (2_145_031_948, "5874897-12-31"), (i32::MAX, "infinity")]
        {
            assert_eq!(text(&Value::Date(Date(days))), expected);
        }
    }

    #[test]
    fn numbers_that_are_none_have_their_names() {
        for (sign, expected) in [(0xc0, "NaN"), (0xd0, "Infinity"), (0xf0, "-Infinity")] {
            let number = Numeric::from_binary(&[0, 0, 0, 0, sign, 0, 0, 0]).unwrap();
            assert_eq!(text(&Value::Numeric(number)), expected);
        }
    }
}
