//! Years without four digits, which have a sign in ISO-8601.

/// The days of 400 years, after which the calendar repeats.
const DAYS: i64 = 146_097;

/// A date, or a text that begins with one, in a year of four digits that has the same calendar, and the days from there to the year
/// that the text has. `None` if it begins with no year that has a sign and is written in the only way.
pub(super) fn four_digit_year(text: &str) -> Option<(String, i64)> {
    let unsigned = text.strip_prefix(['+', '-'])?;
    let (year, rest) = unsigned.split_once('-')?;
    let is_negative = text.starts_with('-');
    // A positive year has a sign if it has more than four digits.
    let is_written_so = match year.len() {
        4 => is_negative && year != "0000",
        5..=7 => !year.starts_with('0'),
        _ => false,
    };
    if !is_written_so || !year.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year: i64 = year.parse().ok()?;
    let year = if is_negative { -year } else { year };
    let same = 2000 + year.rem_euclid(400);
    Some((format!("{same}-{rest}"), (year - same) / 400 * DAYS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_year_with_the_same_calendar() {
        for (text, expected) in [
            ("-4713-11-24", Some(("2087-11-24", -17 * DAYS))),
            ("-0001-01-01", Some(("2399-01-01", -6 * DAYS))),
            ("+10000-02-29T00:00:00Z", Some(("2000-02-29T00:00:00Z", 20 * DAYS))),
            ("+294276-12-31", Some(("2276-12-31", 730 * DAYS))),
            ("2026-01-01", None),
            ("+2026-01-01", None),
            ("+02026-01-01", None),
            ("-0000-01-01", None),
            ("-00044-01-01", None),
            ("-44-01-01", None),
            ("+é0000-01-01", None),
            ("+12345678-01-01", None),
            ("-", None),
        ] {
            assert_eq!(four_digit_year(text), expected.map(|(text, days)| (text.to_owned(), days)), "{text}");
        }
    }
}
