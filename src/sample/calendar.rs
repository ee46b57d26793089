//! When everything was: three years, whatever the clock says, since a sample is to be the same tomorrow.

use crate::sample::draw::Draw;
use crate::sample::field::Time;

/// 2023-01-01 00:00:00 UTC, when the first order is placed: 8,401 days after the beginning of the year 2000.
pub(in crate::sample) const START: Time = Time(8_401 * Time::DAY);
/// 2023 to 2025; no order is placed later.
pub(in crate::sample) const SPAN: i64 = 1_096 * Time::DAY;

/// Some second of the three years before the first order.
pub(in crate::sample) fn before(draw: &mut Draw) -> Time {
    START.after(-Time::DAY - draw.microseconds(SPAN)).floor(Time::SECOND)
}

/// When the order of this number is placed, of so many (one at least). Orders come in the order of their numbers, give or take some weeks.
/// A few came with others in one import: in the same millisecond, some in the same microsecond.
pub(in crate::sample) fn placed(draw: &mut Draw, number: u32, orders: u32) -> Time {
    let jitter = SPAN / 50;
    let each = (SPAN - jitter) / i64::from(orders);
    let grown = |number: u32| each * i64::from(number);
    if draw.percent(4) {
        let import = START.after(grown(number - number % IMPORT)).floor(1_000);
        return import.after(i64::from(draw.below(3)));
    }
    let placed = START.after(grown(number) + draw.microseconds(jitter));
    if draw.percent(10) { placed.floor(Time::SECOND) } else { placed }
}

/// Orders that may have come in one import.
const IMPORT: u32 = 64;

/// Some time up to so many hours later, to the microsecond.
pub(in crate::sample) fn within(draw: &mut Draw, time: Time, hours: u32) -> Time {
    time.after(Time::MINUTE + draw.microseconds(i64::from(hours) * Time::HOUR))
}
