//! Dates and times as OFBiz, Moqui, Java and ISO 8601 write them.
//!
//! - As Java's `Timestamp.valueOf`, `Date.valueOf` and `Time.valueOf` take them: a year of four digits, all other parts of
//!   one or two, and at most nine digits of fraction. Java moves 30 February to March; here it is no date.
//! - Without seconds, or a date without a time, which is midnight.
//! - As ISO 8601, with `T`, and with `Z` or an offset. Without an offset, the time is in UTC.
//! - In Moqui's files, milliseconds since 1970.
//!
//! All functions return PostgreSQL's text, the same for equal values, or `None` for anything else.

use time::{Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time};

/// A day that Moqui writes in milliseconds begins at midnight in the writer's time zone, which the file does not name. With
/// this many hours added, the day in UTC is the writer's in all zones from −10 to +13 hours.
const HOURS_TO_NOON: i64 = 13;

/// `2009-8-10 9:05` → `2009-08-10 09:05:00`, followed by `+00` if the column is `zoned`.
pub(super) fn timestamp(value: &str, zoned: bool) -> Option<String> {
    let (day, clock) = value.split_once([' ', 'T']).unwrap_or((value, "00:00"));
    let (clock, offset) = split_offset(clock)?;
    let moment = PrimitiveDateTime::new(parse_date(day)?, parse_time(clock)?).checked_sub(offset)?;
    timestamp_text(moment, zoned)
}

/// Milliseconds since 1970 as a timestamp.
pub(super) fn timestamp_of_milliseconds(value: &str, zoned: bool) -> Option<String> {
    let moment = moment(milliseconds(value)?)?;
    timestamp_text(PrimitiveDateTime::new(moment.date(), moment.time()), zoned)
}

/// `2009-8-1` → `2009-08-01`.
pub(super) fn date(value: &str) -> Option<String> {
    parse_date(value).map(date_text)
}

/// The day whose midnight, in any time zone, is at these milliseconds since 1970.
pub(super) fn date_of_milliseconds(value: &str) -> Option<String> {
    let noon = moment(milliseconds(value)?)?.checked_add(Duration::hours(HOURS_TO_NOON))?;
    (noon.year() > 0).then(|| date_text(noon.date()))
}

/// `9:05:00.50` → `09:05:00.5`.
pub(super) fn time(value: &str) -> Option<String> {
    let (clock, offset) = split_offset(value)?;
    Some(time_text(parse_time(clock)? - offset))
}

/// The time of day, in UTC, of milliseconds since 1970.
pub(super) fn time_of_milliseconds(value: &str) -> Option<String> {
    moment(milliseconds(value)?).map(|moment| time_text(moment.time()))
}

fn parse_date(value: &str) -> Option<Date> {
    let mut parts = value.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    let year: u16 = number(year)?;
    let month = Month::try_from(one_or_two_digits(month)?).ok()?;
    // PostgreSQL has no year 0.
    if year == 0 { None } else { Date::from_calendar_date(i32::from(year), month, one_or_two_digits(day)?).ok() }
}

fn parse_time(value: &str) -> Option<Time> {
    let mut parts = value.split(':');
    let (hour, minute) = (one_or_two_digits(parts.next()?)?, one_or_two_digits(parts.next()?)?);
    let (second, nanosecond) = match parts.next() {
        None => (0, 0),
        Some(seconds) => match seconds.split_once('.') {
            None => (one_or_two_digits(seconds)?, 0),
            Some((second, fraction)) => (one_or_two_digits(second)?, nanoseconds(fraction)?),
        },
    };
    if parts.next().is_some() { None } else { Time::from_hms_nano(hour, minute, second, nanosecond).ok() }
}

/// A time of day and its offset from UTC: `Z`, `+02`, `+0200` or `+02:00`.
fn split_offset(value: &str) -> Option<(&str, Duration)> {
    if let Some(clock) = value.strip_suffix('Z') {
        return Some((clock, Duration::ZERO));
    }
    let Some(sign) = value.rfind(['+', '-']) else { return Some((value, Duration::ZERO)) };
    let (clock, offset) = value.split_at(sign);
    let digits = &offset[1..];
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "00"),
    };
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes): (i64, i64) = (number(hours)?, number(minutes)?);
    // No time zone is further from UTC, as in Java.
    if minutes > 59 || hours * 60 + minutes > 18 * 60 {
        return None;
    }
    let offset = Duration::minutes(hours * 60 + minutes);
    Some((clock, if value[sign..].starts_with('-') { -offset } else { offset }))
}

/// At most nine digits of a fraction as nanoseconds.
fn nanoseconds(fraction: &str) -> Option<u32> {
    if !(1..=9).contains(&fraction.len()) {
        return None;
    }
    number(&format!("{fraction:0<9}"))
}

fn milliseconds(value: &str) -> Option<i64> {
    match value.strip_prefix('-') {
        Some(digits) => number::<i64>(digits).map(|number| -number),
        None => number(value),
    }
}

fn moment(milliseconds: i64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000).ok()
}

fn timestamp_text(moment: PrimitiveDateTime, zoned: bool) -> Option<String> {
    let zone = if zoned { "+00" } else { "" };
    (moment.year() > 0).then(|| format!("{} {}{zone}", date_text(moment.date()), time_text(moment.time())))
}

fn date_text(date: Date) -> String {
    format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}

fn time_text(time: Time) -> String {
    let (hour, minute, second, nanosecond) = time.as_hms_nano();
    let text = format!("{hour:02}:{minute:02}:{second:02}");
    match nanosecond {
        0 => text,
        _ => format!("{text}.{}", format!("{nanosecond:09}").trim_end_matches('0')),
    }
}

fn one_or_two_digits(digits: &str) -> Option<u8> {
    if (1..=2).contains(&digits.len()) { number(digits) } else { None }
}

/// Parses digits without a sign, which `parse` would accept.
fn number<N: std::str::FromStr>(digits: &str) -> Option<N> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_timestamps_as_java_takes_them() {
        for (text, sql) in [
            ("2009-08-10 09:05:00", "2009-08-10 09:05:00"),
            ("2009-12-03 9:00:00.000", "2009-12-03 09:00:00"),
            ("2009-8-1 9:5:0.5", "2009-08-01 09:05:00.5"),
            ("2024-09-02 00:00:0", "2024-09-02 00:00:00"),
            ("2009-08-10 09:05:00.50", "2009-08-10 09:05:00.5"),
            ("2009-08-10 09:05:00.123456789", "2009-08-10 09:05:00.123456789"),
            ("0001-01-01 00:00:00", "0001-01-01 00:00:00"),
            ("9999-12-31 23:59:59.999", "9999-12-31 23:59:59.999"),
        ] {
            assert_eq!(timestamp(text, false).as_deref(), Some(sql), "{text}");
            assert_eq!(timestamp(text, true), Some(format!("{sql}+00")), "{text}");
        }
    }

    #[test]
    fn reads_timestamps_without_seconds_or_time_as_utc() {
        for (text, sql) in [
            ("2009-08-10 09:05", "2009-08-10 09:05:00"),
            ("2009-8-10 9:5", "2009-08-10 09:05:00"),
            ("2008-02-29", "2008-02-29 00:00:00"),
            ("2008-2-9", "2008-02-09 00:00:00"),
        ] {
            assert_eq!(timestamp(text, false).as_deref(), Some(sql), "{text}");
        }
    }

    #[test]
    fn reads_iso_timestamps_and_converts_them_to_utc() {
        for (text, sql) in [
            ("2009-08-10T09:05:00", "2009-08-10 09:05:00"),
            ("2009-08-10T09:05:00.25Z", "2009-08-10 09:05:00.25"),
            ("2009-08-10T09:05Z", "2009-08-10 09:05:00"),
            ("2009-08-10T09:05:00+05:30", "2009-08-10 03:35:00"),
            ("2009-08-10T00:05:00+0200", "2009-08-09 22:05:00"),
            ("2009-12-31T23:30:00-08", "2010-01-01 07:30:00"),
            ("2009-08-10 09:05:00.5+00", "2009-08-10 09:05:00.5"),
        ] {
            assert_eq!(timestamp(text, false).as_deref(), Some(sql), "{text}");
        }
    }

    #[test]
    fn rejects_what_is_no_timestamp() {
        for text in [
            "",
            "now",
            "2009-02-29 00:00:00",
            "2009-13-01 00:00:00",
            "2009-08-32",
            "09-08-10 09:05:00",
            "+009-08-10 09:05:00",
            "02009-08-10",
            "0000-01-01 00:00:00",
            "2009-08-10 24:00:00",
            "2009-08-10 09:60:00",
            "2009-08-10 09:05:60",
            "2009-08-10 09",
            "2009-08-10 ",
            "2009-08-10  09:05:00",
            "2009-08-10 009:05:00",
            "2009-08-10 09:05:00.",
            "2009-08-10 09:05:00.1234567890",
            "2009-08-10 09:05:00.1e3",
            "2009-08-10 09:05.5:00",
            "2009-08-10 09:05:00:00",
            "2009-08-10T09:05:00+2",
            "2009-08-10T09:05:00+02:0",
            "2009-08-10T09:05:00+02:60",
            "2009-08-10T09:05:00+19:00",
            "2009-08-10T09:05:00+éa",
            "2009-08-10T09:05:00z",
            "2009-08-10Z",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:30:00-01:00",
            "1265184000000",
        ] {
            assert_eq!(timestamp(text, true), None, "{text}");
        }
    }

    #[test]
    fn reads_dates_and_times_of_day() {
        assert_eq!(date("2001-5-3").as_deref(), Some("2001-05-03"));
        for text in ["2001-13-05", "2001-05-13 00:00:00", "01-05-13", "2001-05-", "08/2020"] {
            assert_eq!(date(text), None, "{text}");
        }
        for (text, sql) in [
            ("09:05:00.50", "09:05:00.5"),
            ("9:5:7", "09:05:07"),
            ("9:05", "09:05:00"),
            ("01:00:00+02:00", "23:00:00"),
            ("01:00Z", "01:00:00"),
        ] {
            assert_eq!(time(text).as_deref(), Some(sql), "{text}");
        }
        for text in ["", "9", "24:00:00", "9:5:", "-1:00:00", "9:05 PM"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn reads_milliseconds_since_1970() {
        for (text, sql) in [
            ("0", "1970-01-01 00:00:00+00"),
            ("1265184000123", "2010-02-03 08:00:00.123+00"),
            ("-1", "1969-12-31 23:59:59.999+00"),
            ("253402300799999", "9999-12-31 23:59:59.999+00"),
        ] {
            assert_eq!(timestamp_of_milliseconds(text, true).as_deref(), Some(sql), "{text}");
        }
        for text in ["", "-", "+1", "1.5", "1e3", "253402300800000", "-62135596800001", "99999999999999999999"] {
            assert_eq!(timestamp_of_milliseconds(text, true), None, "{text}");
        }
        assert_eq!(date_of_milliseconds("253402300799999"), None);
        assert_eq!(date_of_milliseconds("08/2020"), None);
        assert_eq!(time_of_milliseconds("32700500").as_deref(), Some("09:05:00.5"));
        assert_eq!(time_of_milliseconds("-3600000").as_deref(), Some("23:00:00"));
    }

    #[test]
    fn a_day_in_milliseconds_is_that_of_its_midnight_in_the_writers_time_zone() {
        let midnight = 1_577_836_800_000_i64;
        for hours in -10..=13 {
            let value = (midnight - hours * 3_600_000).to_string();
            assert_eq!(date_of_milliseconds(&value).as_deref(), Some("2020-01-01"), "{hours}");
        }
    }
}
