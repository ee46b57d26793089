//! Timestamps as text, without `std::fmt`, which is slower: a response has hundreds of them.

use crate::execute::decimal::{digit, four, int};
use crate::value::Timestamp;

/// Appends a timestamp as ISO-8601 in UTC with a trailing Z. A fraction is written only if it is not zero, without trailing
/// zeros. A year without four digits has a sign.
pub(super) fn iso_8601(Timestamp(micros): Timestamp, out: &mut Vec<u8>) {
    const DAY: i64 = 86_400_000_000;
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY).unsigned_abs());
    let (year, month, day) = civil(days - Timestamp::UNIX_EPOCH.0 / DAY);
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    match year {
        0..10_000 => {}
        ..0 => out.push(b'-'),
        _ => out.push(b'+'),
    }
    match u16::try_from(year.unsigned_abs()) {
        Ok(year @ ..10_000) => out.extend_from_slice(&four(year)),
        _ => int(year.abs(), out),
    }
    let mut text = *b"-00-00T00:00:00";
    let parts = [(1, month), (4, day), (7, seconds / 3600), (10, seconds / 60 % 60), (13, seconds % 60)];
    for (index, part) in parts {
        text[index..index + 2].copy_from_slice(&[digit(part / 10), digit(part % 10)]);
    }
    out.extend_from_slice(&text);
    if fraction != 0 {
        out.push(b'.');
        out.extend_from_slice(&[100_000, 10_000, 1000, 100, 10, 1].map(|unit| digit(fraction / unit % 10)));
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
    out.push(b'Z');
}

/// The date of a number of days since 1970 in the proleptic Gregorian calendar: Howard Hinnant's `civil_from_days`.
fn civil(days: i64) -> (i64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month.unsigned_abs(), day.unsigned_abs())
}
