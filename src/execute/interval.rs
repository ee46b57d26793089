//! Intervals as text.

use crate::execute::decimal::int;
use crate::execute::timestamp::fraction;
use crate::value::Interval;

/// Appends an interval as an ISO-8601 duration. Its numbers have signs of their own, as with PostgreSQL's `intervalstyle = iso_8601`.
pub(super) fn iso_8601(interval: Interval, out: &mut Vec<u8>) {
    let Interval { months, days, micros } = interval;
    if (months, days, micros) == (0, 0, 0) {
        return out.extend_from_slice(b"PT0S");
    }
    out.push(b'P');
    part((months / 12).into(), b'Y', out);
    part((months % 12).into(), b'M', out);
    part(days.into(), b'D', out);
    if micros == 0 {
        return;
    }
    out.push(b'T');
    let seconds = micros / 1_000_000;
    part(seconds / 3600, b'H', out);
    part(seconds / 60 % 60, b'M', out);
    let rest = micros % 60_000_000;
    if rest != 0 {
        out.extend_from_slice(if rest < 0 { b"-" } else { b"" });
        int((rest / 1_000_000).abs(), out);
        fraction((rest % 1_000_000).unsigned_abs(), out);
        out.push(b'S');
    }
}

fn part(number: i64, unit: u8, out: &mut Vec<u8>) {
    if number != 0 {
        int(number, out);
        out.push(unit);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn writes_what_reads_as_the_same(months in any::<i32>(), days in any::<i32>(), micros in any::<i64>()) {
            let interval = Interval { months, days, micros };
            let mut text = Vec::new();
            iso_8601(interval, &mut text);
            let read = Interval::parse(str::from_utf8(&text).unwrap()).unwrap();
            prop_assert_eq!(read.to_binary(), interval.to_binary());
        }
    }

    #[test]
    fn leaves_out_what_is_zero() {
        for (months, days, micros, expected) in [
            (0, 0, 0, "PT0S"),
            (14, 3, 14_706_500_000, "P1Y2M3DT4H5M6.5S"),
            (-14, 0, -1, "P-1Y-2MT-0.000001S"),
            (0, -3, 3_600_000_000, "P-3DT1H"),
            (0, 0, -61_000_000, "PT-1M-1S"),
        ] {
            let mut text = Vec::new();
            iso_8601(Interval { months, days, micros }, &mut text);
            assert_eq!(str::from_utf8(&text).unwrap(), expected);
        }
    }
}
