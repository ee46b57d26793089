//! The times of events: three fixed years, independent of the clock, so that a sample is reproducible.

use crate::sample::rng::SampleRng;
use crate::sample::sample_time::SampleTime;

/// 2023-01-01 00:00:00 UTC, the time of the first order: 8,401 days after PostgreSQL's epoch.
pub(in crate::sample) const START: SampleTime = SampleTime(8_401 * SampleTime::DAY);
/// 2023 to 2025. No order is placed later.
pub(in crate::sample) const SPAN: i64 = 1_096 * SampleTime::DAY;

/// The number of consecutive orders that may share an import.
const IMPORT_SIZE: u32 = 64;

/// A random second of the three years before the first order.
pub(in crate::sample) fn before_start(rng: &mut SampleRng) -> SampleTime {
    START.after(-SampleTime::DAY - rng.microseconds(SPAN)).floor(SampleTime::SECOND)
}

/// The order date of order `number` of `orders` (at least one). Order dates follow the numbers, except for some weeks of
/// jitter. A few orders belong to an import: the orders of an import share a millisecond, some of them a microsecond.
pub(in crate::sample) fn order_date(rng: &mut SampleRng, number: u32, orders: u32) -> SampleTime {
    let jitter = SPAN / 50;
    let interval = (SPAN - jitter) / i64::from(orders);
    let offset = |number: u32| interval * i64::from(number);
    if rng.percent(4) {
        let import = START.after(offset(number - number % IMPORT_SIZE)).floor(1_000);
        return import.after(i64::from(rng.below(3)));
    }
    let placed = START.after(offset(number) + rng.microseconds(jitter));
    if rng.percent(10) { placed.floor(SampleTime::SECOND) } else { placed }
}

/// A random time up to `hours` later, with microseconds.
pub(in crate::sample) fn within_hours(rng: &mut SampleRng, time: SampleTime, hours: u32) -> SampleTime {
    time.after(SampleTime::MINUTE + rng.microseconds(i64::from(hours) * SampleTime::HOUR))
}
