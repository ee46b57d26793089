//! Checks a field's text against its column's type and converts it to PostgreSQL's text format.

use base64::Engine as _;
use time::{Date, Month, Time};

use crate::load::column_type::ColumnType;
use crate::load::error::ValueError;

/// Checks a value and converts it to its canonical form, so that equal keys have equal texts.
///
/// Returns `None` for NULL: in columns other than text, the words `null` and `[null-field]` mean NULL.
pub(crate) fn canonical(column_type: &ColumnType, text: String) -> Result<Option<String>, ValueError> {
    if let ColumnType::Text { width } = column_type {
        if text.contains('\0') {
            return Err(ValueError::Nul);
        }
        // A text has at least as many bytes as characters, so comparing bytes suffices for most values.
        if let Some(width) = *width
            && text.len() > width
            && text.chars().count() > width
        {
            return Err(ValueError::TooLong { length: text.chars().count(), width });
        }
        return Ok(Some(text));
    }
    let value = text.trim();
    if value == "null" || value == "[null-field]" {
        return Ok(None);
    }
    let converted = match column_type {
        ColumnType::Text { .. } | ColumnType::Other => (!value.contains('\0')).then(|| value.to_owned()),
        ColumnType::Numeric => decimal(value),
        ColumnType::Integer { bytes } => integer(value, *bytes),
        ColumnType::Float => value.parse::<f64>().ok().map(|_| value.to_owned()),
        ColumnType::Timestamp { zoned } => timestamp(value, *zoned),
        ColumnType::Date => date(value).map(|_| value.to_owned()),
        ColumnType::Time => time(value),
        ColumnType::Bytes => bytes(value),
    };
    converted
        .map(Some)
        .ok_or_else(|| ValueError::WrongType { value: truncated(value), expected: column_type.expected_format() })
}

/// `-012.50` → `-12.5`: a sign, digits and at most one point.
fn decimal(value: &str) -> Option<String> {
    let (sign, unsigned) = match value.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", value.strip_prefix('+').unwrap_or(value)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    Some(match (whole, fraction) {
        ("", "") => "0".to_owned(),
        (whole, "") => format!("{sign}{whole}"),
        ("", fraction) => format!("{sign}0.{fraction}"),
        (whole, fraction) => format!("{sign}{whole}.{fraction}"),
    })
}

fn integer(value: &str, bytes: u8) -> Option<String> {
    let number: i64 = value.parse().ok()?;
    let fits = match bytes {
        2 => i16::try_from(number).is_ok(),
        4 => i32::try_from(number).is_ok(),
        _ => true,
    };
    fits.then(|| number.to_string())
}

/// `2009-08-10 09:05:00.5` → `2009-08-10 09:05:00.5+00`. A date without a time means midnight, as in OFBiz.
fn timestamp(value: &str, zoned: bool) -> Option<String> {
    let (day, clock) = value.split_once(' ').unwrap_or((value, "00:00:00"));
    date(day)?;
    let clock = time(clock)?;
    Some(format!("{day} {clock}{}", if zoned { "+00" } else { "" }))
}

fn date(value: &str) -> Option<Date> {
    let mut parts = value.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let year: u16 = number(year)?;
    let month = Month::try_from(number::<u8>(month)?).ok()?;
    // PostgreSQL has no year 0.
    if year == 0 { None } else { Date::from_calendar_date(i32::from(year), month, number(day)?).ok() }
}

/// `09:05:00.500` → `09:05:00.5`, with at most nine digits of fraction.
fn time(value: &str) -> Option<String> {
    let (clock, fraction) = match value.split_once('.') {
        Some((clock, fraction)) if (1..=9).contains(&fraction.len()) => (clock, fraction),
        Some(_) => return None,
        None => (value, ""),
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || [hour, minute, second].iter().any(|part| part.len() != 2) {
        return None;
    }
    Time::from_hms(number(hour)?, number(minute)?, number(second)?).ok()?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    Some(if fraction.is_empty() { clock.to_owned() } else { format!("{clock}.{fraction}") })
}

/// Parses digits without a sign, which `parse` would accept.
fn number<N: std::str::FromStr>(digits: &str) -> Option<N> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// Base64, with or without line breaks → PostgreSQL's hex format.
fn bytes(value: &str) -> Option<String> {
    let packed: String = value.split_ascii_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed).ok()?;
    let mut hex = String::with_capacity(2 + 2 * bytes.len());
    hex.push_str("\\x");
    for byte in bytes {
        hex.extend([byte >> 4, byte & 15].map(|nibble| char::from(b"0123456789abcdef"[usize::from(nibble)])));
    }
    Some(hex)
}

/// At most forty characters, for error messages.
fn truncated(value: &str) -> String {
    match value.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(column_type: &ColumnType, text: &str) -> Option<String> {
        canonical(column_type, text.to_owned()).unwrap()
    }

    fn error(column_type: &ColumnType, text: &str) -> ValueError {
        canonical(column_type, text.to_owned()).unwrap_err()
    }

    #[test]
    fn accepts_up_to_nine_fraction_digits_in_timestamps() {
        let zoned = ColumnType::Timestamp { zoned: true };
        for (text, sql) in [
            ("2009-08-10 09:05:00", "2009-08-10 09:05:00+00"),
            ("2009-08-10 09:05:00.0", "2009-08-10 09:05:00+00"),
            ("2009-08-10 09:05:00.50", "2009-08-10 09:05:00.5+00"),
            ("2009-08-10 09:05:00.123456", "2009-08-10 09:05:00.123456+00"),
            (" 2009-08-10 09:05:00.123456789 ", "2009-08-10 09:05:00.123456789+00"),
            ("2008-02-29", "2008-02-29 00:00:00+00"),
        ] {
            assert_eq!(converted(&zoned, text).as_deref(), Some(sql));
        }
        let bare = ColumnType::Timestamp { zoned: false };
        assert_eq!(converted(&bare, "2009-08-10 09:05:00.5").as_deref(), Some("2009-08-10 09:05:00.5"));
        for text in [
            "2009-02-29 00:00:00",
            "2009-08-10 24:00:00",
            "2009-08-10T09:05:00Z",
            "2009-08-10 09:05",
            "2009-8-10 09:05:00",
            "2009-08-10 09:05:00.",
            "2009-08-10 09:05:00.1234567890",
            "0000-01-01 00:00:00",
            "+009-08-10 09:05:00",
            "now",
        ] {
            assert!(matches!(error(&zoned, text), ValueError::WrongType { .. }), "{text}");
        }
    }

    #[test]
    fn converts_equal_numbers_to_equal_texts() {
        for (text, sql) in
            [("2.000000", "2"), ("-0.50", "-0.5"), ("+007", "7"), (".5", "0.5"), ("-0.0", "0"), ("5.", "5")]
        {
            assert_eq!(converted(&ColumnType::Numeric, text).as_deref(), Some(sql));
        }
        for text in ["", "-", ".", "1,000.00", "1e3", "NaN", "0x10", "--1", "1.2.3"] {
            assert!(matches!(error(&ColumnType::Numeric, text), ValueError::WrongType { .. }), "{text}");
        }
    }

    #[test]
    fn rejects_integers_that_do_not_fit_their_column() {
        assert_eq!(converted(&ColumnType::Integer { bytes: 2 }, "-32768").as_deref(), Some("-32768"));
        error(&ColumnType::Integer { bytes: 2 }, "32768");
        assert_eq!(converted(&ColumnType::Integer { bytes: 4 }, "32768").as_deref(), Some("32768"));
        error(&ColumnType::Integer { bytes: 4 }, "2147483648");
        error(&ColumnType::Integer { bytes: 8 }, "9223372036854775808");
    }

    #[test]
    fn converts_the_null_words_except_in_text() {
        for word in ["null", "[null-field]"] {
            assert_eq!(converted(&ColumnType::Timestamp { zoned: true }, word), None);
            assert_eq!(converted(&ColumnType::Numeric, word), None);
            assert_eq!(converted(&ColumnType::Text { width: None }, word).as_deref(), Some(word));
        }
    }

    #[test]
    fn counts_width_in_characters() {
        let three = ColumnType::Text { width: Some(3) };
        assert_eq!(converted(&three, "äöü").as_deref(), Some("äöü"));
        assert_eq!(error(&three, "äöüß"), ValueError::TooLong { length: 4, width: 3 });
        assert_eq!(converted(&three, " x ").as_deref(), Some(" x "));
        assert_eq!(error(&three, "\0"), ValueError::Nul);
    }

    #[test]
    fn decodes_base64() {
        assert_eq!(converted(&ColumnType::Bytes, "AP8Q\n").as_deref(), Some("\\x00ff10"));
        error(&ColumnType::Bytes, "%%%");
    }

    #[test]
    fn checks_dates_and_times() {
        assert_eq!(converted(&ColumnType::Date, "2001-05-13").as_deref(), Some("2001-05-13"));
        error(&ColumnType::Date, "2001-13-05");
        error(&ColumnType::Date, "2001-05-13 00:00:00");
        assert_eq!(converted(&ColumnType::Time, "09:05:00.50").as_deref(), Some("09:05:00.5"));
        error(&ColumnType::Time, "9:05");
    }
}
