//! Numbers and timestamps as text, without `std::fmt`, which is slower: a response has hundreds of them.

use crate::value::Timestamp;

/// Appends a whole number.
pub(super) fn int(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let mut left = number.unsigned_abs();
    // The largest has 19 digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = digit(left % 10);
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends a timestamp as ISO-8601 in UTC with a trailing Z. A fraction is written only if it is not zero, without trailing
/// zeros. A year without four digits has a sign.
pub(super) fn timestamp(Timestamp(micros): Timestamp, out: &mut Vec<u8>) {
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

/// Appends a `numeric`, with its scale as stored. Returns `false` for NaN, the infinities and malformed bytes. The binary
/// format: four 16-bit numbers (count of digits, weight of the first, sign, digits after the point), then the digits in base
/// 10,000.
pub(super) fn numeric(raw: &[u8], out: &mut Vec<u8>) -> bool {
    const NEGATIVE: u16 = 0x4000;
    let mut words = raw.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
    let (Some(count), Some(weight), Some(sign), Some(scale)) = (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    if sign & !NEGATIVE != 0 {
        return false; // NaN or an infinity
    }
    let digits: &[u8] = raw.get(8..8 + 2 * usize::from(count)).unwrap_or(&[]);
    let digit = |index: i32| -> u16 {
        let bytes = usize::try_from(index).ok().and_then(|index| digits.get(2 * index..2 * index + 2));
        bytes.map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    if sign == NEGATIVE {
        out.push(b'-');
    }
    let weight = i32::from(weight.cast_signed());
    if weight < 0 {
        out.push(b'0');
    }
    for index in 0..=weight {
        match index {
            0 => int(digit(index).into(), out),
            _ => out.extend_from_slice(&four(digit(index))),
        }
    }
    if scale > 0 {
        out.push(b'.');
        let mut left = usize::from(scale);
        let mut index = weight + 1;
        while left > 0 {
            let taken = left.min(4);
            out.extend(&four(digit(index))[..taken]);
            left -= taken;
            index += 1;
        }
    }
    true
}

/// The digits of a number below 10,000.
fn four(number: u16) -> [u8; 4] {
    [1000, 100, 10, 1].map(|unit| digit(u64::from(number / unit % 10)))
}

fn digit(number: u64) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "a single decimal digit")]
    let digit = number as u8;
    b'0' + digit
}
