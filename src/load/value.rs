//! Checks a field's text against its column's type and converts it to PostgreSQL's text format.

use base64::Engine as _;

use crate::load::data_format::DataFormat;
use crate::load::date_time;
use crate::load::error::ValueError;
use crate::load::target_type::TargetType;

/// Checks a value and converts it to its canonical form, so that equal keys have equal texts.
///
/// Returns `None` for NULL: in columns other than text, the words `null` and `[null-field]` mean NULL. In Moqui's files
/// `null` means NULL in text, too.
pub(crate) fn canonical(
    column_type: &TargetType,
    format: DataFormat,
    text: String,
) -> Result<Option<String>, ValueError> {
    if let TargetType::Text { width } = column_type {
        if format == DataFormat::EntityFacade && text == "null" {
            return Ok(None);
        }
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
        TargetType::Text { .. } | TargetType::Other => (!value.contains('\0')).then(|| value.to_owned()),
        TargetType::Numeric => decimal(value),
        TargetType::Integer { bytes } => integer(value, *bytes),
        TargetType::Float => value.parse::<f64>().ok().map(|_| value.to_owned()),
        TargetType::Timestamp { zoned } => date_time::timestamp(value, *zoned),
        TargetType::Date => date_time::date(value),
        TargetType::Time => date_time::time(value),
        TargetType::Bytes => bytes(value),
    };
    converted
        .or_else(|| if format == DataFormat::EntityFacade { of_milliseconds(column_type, value) } else { None })
        .map(Some)
        .ok_or_else(|| ValueError::WrongType { value: truncated(value), expected: column_type.expected_format() })
}

/// A date or time in milliseconds since 1970, as Moqui writes all of them.
fn of_milliseconds(column_type: &TargetType, value: &str) -> Option<String> {
    match column_type {
        TargetType::Timestamp { zoned } => date_time::timestamp_of_milliseconds(value, *zoned),
        TargetType::Date => date_time::date_of_milliseconds(value),
        TargetType::Time => date_time::time_of_milliseconds(value),
        _ => None,
    }
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

    fn converted(column_type: &TargetType, text: &str) -> Option<String> {
        canonical(column_type, DataFormat::EntityEngine, text.to_owned()).unwrap()
    }

    fn error(column_type: &TargetType, text: &str) -> ValueError {
        canonical(column_type, DataFormat::EntityEngine, text.to_owned()).unwrap_err()
    }

    #[test]
    fn converts_equal_numbers_to_equal_texts() {
        for (text, sql) in
            [("2.000000", "2"), ("-0.50", "-0.5"), ("+007", "7"), (".5", "0.5"), ("-0.0", "0"), ("5.", "5")]
        {
            assert_eq!(converted(&TargetType::Numeric, text).as_deref(), Some(sql));
        }
        for text in ["", "-", ".", "1,000.00", "1e3", "NaN", "0x10", "--1", "1.2.3"] {
            assert!(matches!(error(&TargetType::Numeric, text), ValueError::WrongType { .. }), "{text}");
        }
    }

    #[test]
    fn rejects_integers_that_do_not_fit_their_column() {
        assert_eq!(converted(&TargetType::Integer { bytes: 2 }, "-32768").as_deref(), Some("-32768"));
        error(&TargetType::Integer { bytes: 2 }, "32768");
        assert_eq!(converted(&TargetType::Integer { bytes: 4 }, "32768").as_deref(), Some("32768"));
        error(&TargetType::Integer { bytes: 4 }, "2147483648");
        error(&TargetType::Integer { bytes: 8 }, "9223372036854775808");
    }

    #[test]
    fn converts_the_null_words_except_in_text() {
        for word in ["null", "[null-field]"] {
            assert_eq!(converted(&TargetType::Timestamp { zoned: true }, word), None);
            assert_eq!(converted(&TargetType::Numeric, word), None);
            assert_eq!(converted(&TargetType::Text { width: None }, word).as_deref(), Some(word));
        }
    }

    #[test]
    fn counts_width_in_characters() {
        let three = TargetType::Text { width: Some(3) };
        assert_eq!(converted(&three, "äöü").as_deref(), Some("äöü"));
        assert_eq!(error(&three, "äöüß"), ValueError::TooLong { length: 4, width: 3 });
        assert_eq!(converted(&three, " x ").as_deref(), Some(" x "));
        assert_eq!(error(&three, "\0"), ValueError::Nul);
    }

    #[test]
    fn decodes_base64() {
        assert_eq!(converted(&TargetType::Bytes, "AP8Q\n").as_deref(), Some("\\x00ff10"));
        error(&TargetType::Bytes, "%%%");
    }

    #[test]
    fn converts_dates_and_times() {
        for (column_type, text, sql) in [
            (TargetType::Timestamp { zoned: true }, " 2009-8-10 9:05 ", "2009-08-10 09:05:00+00"),
            (TargetType::Timestamp { zoned: false }, "2009-08-10T09:05:00Z", "2009-08-10 09:05:00"),
            (TargetType::Date, "2001-5-13", "2001-05-13"),
            (TargetType::Time, "9:05:00.50", "09:05:00.5"),
        ] {
            assert_eq!(converted(&column_type, text).as_deref(), Some(sql));
        }
        for column_type in [TargetType::Timestamp { zoned: true }, TargetType::Date, TargetType::Time] {
            for text in ["", "now", "0", "1265184000000"] {
                assert!(matches!(error(&column_type, text), ValueError::WrongType { .. }), "{text}");
            }
        }
    }

    #[test]
    fn converts_milliseconds_and_the_null_word_of_moqui() {
        let converted = |column_type, text: &str| canonical(&column_type, DataFormat::EntityFacade, text.to_owned());
        let of = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(converted(TargetType::Timestamp { zoned: true }, "1265184000000"), of("2010-02-03 08:00:00+00"));
        assert_eq!(converted(TargetType::Timestamp { zoned: false }, "2013-09-03"), of("2013-09-03 00:00:00"));
        assert_eq!(converted(TargetType::Date, "1577836800000"), of("2020-01-01"));
        assert_eq!(converted(TargetType::Time, "32700000"), of("09:05:00"));
        assert_eq!(converted(TargetType::Numeric, "32700000"), of("32700000"));
        assert_eq!(converted(TargetType::Text { width: None }, "null"), Ok(None));
        assert!(converted(TargetType::Numeric, "1e3").is_err());
    }
}
