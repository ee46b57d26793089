//! Timestamps, dates and times as text, without `std::fmt`, which is slower: a response has hundreds of them.

use crate::execute::decimal::{four, int, two};
use crate::value::{Date, TimeOfDay, Timestamp};

const DAY: i64 = 86_400_000_000;

/// Appends a timestamp as ISO-8601 in UTC with a trailing Z. A fraction is written only if it is not zero, without trailing
/// zeros. A year without four digits has a sign.
pub(super) fn iso_8601(Timestamp(micros): Timestamp, out: &mut Vec<u8>) {
    let (days, of_day) = (micros.div_euclid(DAY), micros.rem_euclid(DAY).unsigned_abs());
    let (time, length) = time_text(of_day);
    let (year, date) = date_text(days);
    // Appended at once if the year has no sign, as in almost all.
    if (0..10_000).contains(&year) {
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        text[..10].copy_from_slice(&date);
        text[11..26].copy_from_slice(&time);
        text[11 + length] = b'Z';
        out.extend_from_slice(&text[..=11 + length]);
    } else {
        write_date(days, out);
        out.push(b'T');
        out.extend_from_slice(&time[..length]);
        out.push(b'Z');
    }
}

/// Appends a timestamp as ISO-8601 with an offset from UTC. One of fractions of minutes, as before the time of zones, cannot be written: the
/// timestamp is in UTC then.
pub(super) fn with_offset(moment: Timestamp, offset_seconds: i32, out: &mut Vec<u8>) {
    if offset_seconds == 0 || offset_seconds % 60 != 0 {
        return iso_8601(moment, out);
    }
    iso_8601(Timestamp(moment.0 + i64::from(offset_seconds) * 1_000_000), out);
    out.pop();
    let minutes = offset_seconds.unsigned_abs() / 60;
    let [hour, minute] = [minutes / 60, minutes % 60].map(two);
    out.extend_from_slice(&[
        if offset_seconds < 0 { b'-' } else { b'+' },
        hour[0],
        hour[1],
        b':',
        minute[0],
        minute[1],
    ]);
}

/// Appends a date as ISO-8601. A year without four digits has a sign.
pub(super) fn date(Date(days): Date, out: &mut Vec<u8>) {
    write_date(days.into(), out);
}

/// Appends a time of day as ISO-8601, without an offset.
pub(super) fn time_of_day(TimeOfDay(micros): TimeOfDay, out: &mut Vec<u8>) {
    write_time(micros.unsigned_abs(), out);
}

/// Appends the date of a number of days since 2000.
fn write_date(days: i64, out: &mut Vec<u8>) {
    let (year, text) = date_text(days);
    match year {
        0..10_000 => {}
        ..0 => out.push(b'-'),
        _ => out.push(b'+'),
    }
    if year.unsigned_abs() < 10_000 {
        out.extend_from_slice(&text);
    } else {
        int(year.abs(), out);
        out.extend_from_slice(&text[4..]);
    }
}

/// The date of a number of days since 2000, without a sign: its year, and its text if the year has four digits.
fn date_text(days: i64) -> (i64, [u8; 10]) {
    let (year, month, day) = civil(days - Timestamp::UNIX_EPOCH.0 / DAY);
    let mut text = *b"0000-00-00";
    if let Ok(year @ ..10_000) = u16::try_from(year.unsigned_abs()) {
        text[..4].copy_from_slice(&four(year));
    }
    text[5..7].copy_from_slice(&two(month));
    text[8..].copy_from_slice(&two(day));
    (year, text)
}

/// Appends a time of day.
fn write_time(micros: u64, out: &mut Vec<u8>) {
    let (text, length) = time_text(micros);
    out.extend_from_slice(&text[..length]);
}

/// A time of day with six decimal places, and how long it is without trailing zeros.
fn time_text(micros: u64) -> ([u8; 15], usize) {
    let (seconds, millionths) = (narrow(micros / 1_000_000), narrow(micros % 1_000_000));
    let [hour, minute, second] = [seconds / 3600, seconds / 60 % 60, seconds % 60].map(two);
    let decimals = decimals(millionths);
    let mut text = [
        hour[0], hour[1], b':', minute[0], minute[1], b':', second[0], second[1], b'.', b'0', b'0', b'0', b'0', b'0',
        b'0',
    ];
    text[9..].copy_from_slice(decimals.as_flattened());
    // A time of whole seconds has no point.
    let length =
        if millionths == 0 { 8 } else { text.iter().rposition(|byte| *byte != b'0').map_or(0, |last| last + 1) };
    (text, length)
}

/// Appends a point and a fraction in millionths without trailing zeros, or nothing if it is zero.
pub(super) fn fraction(millionths: u64, out: &mut Vec<u8>) {
    if millionths == 0 {
        return;
    }
    out.push(b'.');
    out.extend_from_slice(decimals(narrow(millionths)).as_flattened());
    while out.last() == Some(&b'0') {
        out.pop();
    }
}

/// Six decimal places of a number of millionths.
fn decimals(millionths: u32) -> [[u8; 2]; 3] {
    [millionths / 10_000, millionths / 100 % 100, millionths % 100].map(two)
}

/// The date of a number of days since 1970 in the proleptic Gregorian calendar: Howard Hinnant's `civil_from_days`. Within an era of 400
/// years it is done with numbers of 32 bits, whose division takes half as many instructions.
fn civil(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), narrow(shifted.rem_euclid(146_097).unsigned_abs()));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (i64::from(year_of_era) + era * 400 + i64::from(month <= 2), month, day)
}

/// A number that is small: of the days of an era, the seconds of a day or the microseconds of a second.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
