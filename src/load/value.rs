//! A field's text, checked against its column before it is sent, and written as PostgreSQL reads it.

use base64::Engine as _;
use thiserror::Error;
use time::{Date, Month, Time};

/// What a column holds, as far as a value can be checked here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Text of at most so many characters.
    Text {
        /// `None` has no limit.
        width: Option<usize>,
    },
    /// A decimal number of any scale: PostgreSQL rounds it to the column's, as it does for OFBiz.
    Numeric,
    /// A whole number of so many bytes.
    Integer {
        /// 2, 4 or 8.
        bytes: u8,
    },
    /// A binary floating-point number.
    Float,
    /// A moment; the files have no zone, and are read as UTC.
    Timestamp {
        /// Whether the column knows its zone.
        zoned: bool,
    },
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// Bytes, in base64 in the file.
    Bytes,
    /// Anything else is left to PostgreSQL to read.
    Other,
}

/// Why a value does not fit its column.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum BadValue {
    /// Text that is too long.
    #[error("{length} characters, where {width} fit")]
    TooLong {
        /// Characters there are.
        length: usize,
        /// Characters there may be.
        width: usize,
    },
    /// The character that PostgreSQL cannot store.
    #[error("a NUL character")]
    Nul,
    /// Text that does not read as the column's type.
    #[error("`{value}` is not {expected}")]
    NotA {
        /// The text, cut short if long.
        value: String,
        /// What it should look like.
        expected: &'static str,
    },
}

/// Checks one value and puts it in the one form that equal values share, so that equal keys are seen to be equal.
///
/// `None` is NULL: for a column that is not text, the words `null` and `[null-field]` mean it too.
pub fn canonical(kind: &Kind, text: String) -> Result<Option<String>, BadValue> {
    if let Kind::Text { width } = kind {
        if text.contains('\0') {
            return Err(BadValue::Nul);
        }
        // Bytes are never fewer than characters, so most values are done with a comparison.
        if let Some(width) = *width
            && text.len() > width
            && text.chars().count() > width
        {
            return Err(BadValue::TooLong { length: text.chars().count(), width });
        }
        return Ok(Some(text));
    }
    let value = text.trim();
    if value == "null" || value == "[null-field]" {
        return Ok(None);
    }
    let written = match kind {
        Kind::Text { .. } | Kind::Other => (!value.contains('\0')).then(|| value.to_owned()),
        Kind::Numeric => decimal(value),
        Kind::Integer { bytes } => integer(value, *bytes),
        Kind::Float => value.parse::<f64>().ok().map(|_| value.to_owned()),
        Kind::Timestamp { zoned } => timestamp(value, *zoned),
        Kind::Date => date(value).map(|_| value.to_owned()),
        Kind::Time => time(value),
        Kind::Bytes => bytes(value),
    };
    written.map(Some).ok_or_else(|| BadValue::NotA { value: cut(value), expected: kind.expected() })
}

impl Kind {
    fn expected(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Numeric => "a decimal number such as 12.50",
            Self::Integer { .. } => "a whole number that fits its column",
            Self::Float => "a number",
            Self::Timestamp { .. } => "a timestamp: yyyy-mm-dd hh:mm:ss[.fff], read as UTC",
            Self::Date => "a date: yyyy-mm-dd",
            Self::Time => "a time of day: hh:mm:ss",
            Self::Bytes => "base64",
            Self::Other => "a value of its column's type",
        }
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

/// `2009-08-10 09:05:00.5` → `2009-08-10 09:05:00.5+00`. A day alone is its midnight, as OFBiz has it.
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
    // PostgreSQL's calendar has no year 0.
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

/// Digits only: `parse` alone would take a sign.
fn number<N: std::str::FromStr>(digits: &str) -> Option<N> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// Base64, broken into lines or not, → PostgreSQL's hex form.
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

/// At most forty characters, for a message.
fn cut(value: &str) -> String {
    match value.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: &Kind, text: &str) -> Option<String> {
        canonical(kind, text.to_owned()).unwrap()
    }

    fn refused(kind: &Kind, text: &str) -> BadValue {
        canonical(kind, text.to_owned()).unwrap_err()
    }

    #[test]
    fn timestamps_take_up_to_nine_fraction_digits_and_are_utc() {
        let zoned = Kind::Timestamp { zoned: true };
        for (text, sql) in [
            ("2009-08-10 09:05:00", "2009-08-10 09:05:00+00"),
            ("2009-08-10 09:05:00.0", "2009-08-10 09:05:00+00"),
            ("2009-08-10 09:05:00.50", "2009-08-10 09:05:00.5+00"),
            ("2009-08-10 09:05:00.123456", "2009-08-10 09:05:00.123456+00"),
            (" 2009-08-10 09:05:00.123456789 ", "2009-08-10 09:05:00.123456789+00"),
            ("2008-02-29", "2008-02-29 00:00:00+00"),
        ] {
            assert_eq!(written(&zoned, text).as_deref(), Some(sql));
        }
        let bare = Kind::Timestamp { zoned: false };
        assert_eq!(written(&bare, "2009-08-10 09:05:00.5").as_deref(), Some("2009-08-10 09:05:00.5"));
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
            assert!(matches!(refused(&zoned, text), BadValue::NotA { .. }), "{text}");
        }
    }

    #[test]
    fn equal_numbers_are_written_alike() {
        for (text, sql) in
            [("2.000000", "2"), ("-0.50", "-0.5"), ("+007", "7"), (".5", "0.5"), ("-0.0", "0"), ("5.", "5")]
        {
            assert_eq!(written(&Kind::Numeric, text).as_deref(), Some(sql));
        }
        for text in ["", "-", ".", "1,000.00", "1e3", "NaN", "0x10", "--1", "1.2.3"] {
            assert!(matches!(refused(&Kind::Numeric, text), BadValue::NotA { .. }), "{text}");
        }
    }

    #[test]
    fn whole_numbers_fit_their_column() {
        assert_eq!(written(&Kind::Integer { bytes: 2 }, "-32768").as_deref(), Some("-32768"));
        refused(&Kind::Integer { bytes: 2 }, "32768");
        assert_eq!(written(&Kind::Integer { bytes: 4 }, "32768").as_deref(), Some("32768"));
        refused(&Kind::Integer { bytes: 4 }, "2147483648");
        refused(&Kind::Integer { bytes: 8 }, "9223372036854775808");
    }

    #[test]
    fn null_words_are_null_except_in_text() {
        for word in ["null", "[null-field]"] {
            assert_eq!(written(&Kind::Timestamp { zoned: true }, word), None);
            assert_eq!(written(&Kind::Numeric, word), None);
            assert_eq!(written(&Kind::Text { width: None }, word).as_deref(), Some(word));
        }
    }

    #[test]
    fn width_is_counted_in_characters() {
        let three = Kind::Text { width: Some(3) };
        assert_eq!(written(&three, "äöü").as_deref(), Some("äöü"));
        assert_eq!(refused(&three, "äöüß"), BadValue::TooLong { length: 4, width: 3 });
        assert_eq!(written(&three, " x ").as_deref(), Some(" x "));
        assert_eq!(refused(&three, "\0"), BadValue::Nul);
    }

    #[test]
    fn bytes_are_base64() {
        assert_eq!(written(&Kind::Bytes, "AP8Q\n").as_deref(), Some("\\x00ff10"));
        refused(&Kind::Bytes, "%%%");
    }

    #[test]
    fn days_and_times() {
        assert_eq!(written(&Kind::Date, "2001-05-13").as_deref(), Some("2001-05-13"));
        refused(&Kind::Date, "2001-13-05");
        refused(&Kind::Date, "2001-05-13 00:00:00");
        assert_eq!(written(&Kind::Time, "09:05:00.50").as_deref(), Some("09:05:00.5"));
        refused(&Kind::Time, "9:05");
    }
}
