//! One caller's bucket of credits. Pure: it is told the time.
//!
//! A bucket remembers what it lacks, not what it holds: a new one lacks nothing, one that lacks nothing can be
//! forgotten, and a changed [`Rate`] applies at once. Everything is counted in billionths of a credit, so that
//! nanoseconds × credits per second is exact and nothing drifts, however often a bucket is asked.

use std::time::{Duration, Instant};

use serde::Serialize;

/// Billionths of a credit in a credit; also nanoseconds in a second, which is what makes refilling exact.
const BILLION: u128 = 1_000_000_000;

/// How much a bucket holds and how fast it refills. The specification's defaults are [`Rate::default`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Credits in a full bucket.
    pub capacity: u64,
    /// Credits that come back every second, continuously.
    pub restore_per_second: u64,
}

impl Default for Rate {
    fn default() -> Self {
        Self { capacity: 1000, restore_per_second: 50 }
    }
}

/// What a bucket holds, as `extensions.cost.throttleStatus` reports it. Whole credits, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Credits in a full bucket.
    pub maximum_available: u64,
    /// Credits in it now.
    pub currently_available: u64,
    /// Credits that come back every second.
    pub restore_rate: u64,
}

/// The bucket cannot cover a query; nothing was debited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bucket holds {} credits, which cannot cover a query of {credits}", status.currently_available)]
pub struct Empty {
    /// Credits that were asked for.
    pub credits: u64,
    /// The time after which exactly this query would pass if no other came between, never shorter. `None`: it never
    /// will, because it costs more than a full bucket holds or because nothing comes back.
    pub retry_after: Option<Duration>,
    /// What the bucket holds.
    pub status: Status,
}

/// A bucket of credits. See the module's page.
#[derive(Debug, Clone)]
pub struct Bucket {
    /// Billionths of a credit that are missing from a full bucket, as of `at`.
    lacking: u128,
    /// When `lacking` was last brought up to date; never moves backward.
    at: Instant,
}

impl Bucket {
    /// A full bucket.
    pub fn full(now: Instant) -> Self {
        Self { lacking: 0, at: now }
    }

    /// Takes `credits` out of the bucket, or leaves it as it is where it does not hold as many.
    pub fn try_debit(&mut self, rate: &Rate, credits: u64, now: Instant) -> Result<Status, Empty> {
        self.refill(rate, now);
        let after = self.lacking + u128::from(credits) * BILLION;
        let room = u128::from(rate.capacity) * BILLION;
        // What costs nothing passes even where a lowered capacity left the bucket in debt.
        if credits == 0 || after <= room {
            self.lacking = after;
            return Ok(self.status(rate));
        }
        let retry_after = (credits <= rate.capacity && rate.restore_per_second > 0)
            .then(|| nanoseconds((after - room).div_ceil(u128::from(rate.restore_per_second))));
        Err(Empty { credits, retry_after, status: self.status(rate) })
    }

    /// Puts back what was taken for a query that was then not executed.
    pub fn refund(&mut self, credits: u64) {
        self.lacking = self.lacking.saturating_sub(u128::from(credits) * BILLION);
    }

    /// Whether nothing is missing: such a bucket is no different from a new one.
    pub fn is_full(&mut self, rate: &Rate, now: Instant) -> bool {
        self.refill(rate, now);
        self.lacking == 0
    }

    fn refill(&mut self, rate: &Rate, now: Instant) {
        let elapsed = now.saturating_duration_since(self.at);
        let restored = elapsed.as_nanos().saturating_mul(u128::from(rate.restore_per_second));
        self.lacking = self.lacking.saturating_sub(restored);
        self.at = self.at.max(now);
    }

    fn status(&self, rate: &Rate) -> Status {
        let holds = (u128::from(rate.capacity) * BILLION).saturating_sub(self.lacking) / BILLION;
        Status {
            maximum_available: rate.capacity,
            currently_available: u64::try_from(holds).unwrap_or(rate.capacity),
            restore_rate: rate.restore_per_second,
        }
    }
}

/// A duration of so many nanoseconds, or the longest there is.
fn nanoseconds(count: u128) -> Duration {
    match (u64::try_from(count / BILLION), u32::try_from(count % BILLION)) {
        (Ok(seconds), Ok(rest)) => Duration::new(seconds, rest),
        _ => Duration::MAX,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DEFAULT: Rate = Rate { capacity: 1000, restore_per_second: 50 };

    #[test]
    fn a_full_bucket_is_spent_to_the_last_credit_and_no_further() {
        let now = Instant::now();
        let mut bucket = Bucket::full(now);
        assert_eq!(bucket.try_debit(&DEFAULT, 1000, now).unwrap().currently_available, 0);
        let empty = bucket.try_debit(&DEFAULT, 1, now).unwrap_err();
        assert_eq!(empty.retry_after, Some(Duration::from_millis(20)));
        assert!(bucket.try_debit(&DEFAULT, 1, now + Duration::from_nanos(19_999_999)).is_err());
        assert!(bucket.try_debit(&DEFAULT, 1, now + Duration::from_millis(20)).is_ok());
    }

    #[test]
    fn asking_often_restores_no_less_than_asking_once() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        bucket.try_debit(&DEFAULT, 1000, start).unwrap();
        for step in 1..=1_000_000_u64 {
            let _ = bucket.try_debit(&DEFAULT, 1000, start + Duration::from_micros(step));
        }
        assert_eq!(bucket.try_debit(&DEFAULT, 0, start + Duration::from_secs(1)).unwrap().currently_available, 50);
    }

    #[test]
    fn more_than_a_full_bucket_never_passes() {
        let now = Instant::now();
        assert_eq!(Bucket::full(now).try_debit(&DEFAULT, 1001, now).unwrap_err().retry_after, None);
        let frozen = Rate { capacity: 10, restore_per_second: 0 };
        let mut bucket = Bucket::full(now);
        bucket.try_debit(&frozen, 10, now).unwrap();
        assert_eq!(bucket.try_debit(&frozen, 1, now).unwrap_err().retry_after, None);
    }

    #[test]
    fn the_largest_rates_do_not_overflow() {
        let now = Instant::now();
        let huge = Rate { capacity: u64::MAX, restore_per_second: u64::MAX };
        let mut bucket = Bucket::full(now);
        bucket.try_debit(&huge, u64::MAX, now).unwrap();
        assert!(bucket.try_debit(&huge, u64::MAX, now).is_err());
        let later = now + Duration::from_hours(24 * 365 * 100);
        assert_eq!(bucket.try_debit(&huge, 0, later).unwrap().currently_available, u64::MAX);
    }

    #[test]
    fn a_lowered_capacity_and_a_clock_that_lags_are_borne() {
        let now = Instant::now() + Duration::from_secs(10);
        let mut bucket = Bucket::full(now);
        bucket.try_debit(&DEFAULT, 1000, now).unwrap();
        let lower = Rate { capacity: 10, restore_per_second: 1 };
        assert_eq!(bucket.try_debit(&lower, 0, now).unwrap().currently_available, 0);
        assert_eq!(bucket.try_debit(&lower, 1, now).unwrap_err().retry_after, Some(Duration::from_secs(991)));
        assert!(bucket.try_debit(&lower, 1, now.checked_sub(Duration::from_secs(5)).unwrap()).is_err());
    }

    #[test]
    fn what_is_given_back_can_be_spent_again_but_is_never_more_than_full() {
        let now = Instant::now();
        let mut bucket = Bucket::full(now);
        bucket.try_debit(&DEFAULT, 600, now).unwrap();
        bucket.refund(600);
        bucket.refund(600);
        assert_eq!(bucket.try_debit(&DEFAULT, 0, now).unwrap().currently_available, 1000);
    }

    proptest! {
        /// The model counts held billionths with a cap, as the specification says it; the bucket must agree at every
        /// step, and a refused query must pass exactly when it was told to come back, not a nanosecond before.
        #[test]
        fn agrees_with_a_simple_model(
            capacity in 0_u64..=1_000_000_000_000,
            restore_per_second in 0_u64..=1_000_000_000_000,
            steps in prop::collection::vec((0_u64..5_000_000_000, 0_u64..=1_100_000_000_000), 1..60),
        ) {
            let rate = Rate { capacity, restore_per_second };
            let room = u128::from(capacity) * BILLION;
            let mut now = Instant::now();
            let mut bucket = Bucket::full(now);
            let mut holds = room;
            for (pause, credits) in steps {
                let credits = if capacity == 0 { credits } else { credits % (capacity + capacity / 10 + 2) };
                now += Duration::from_nanos(pause);
                holds = (holds + u128::from(pause) * u128::from(restore_per_second)).min(room);
                let asked = u128::from(credits) * BILLION;
                match bucket.try_debit(&rate, credits, now) {
                    Ok(status) => {
                        prop_assert!(asked <= holds);
                        holds -= asked;
                        prop_assert_eq!(u128::from(status.currently_available), holds / BILLION);
                    }
                    Err(empty) => {
                        prop_assert!(asked > holds);
                        prop_assert_eq!(u128::from(empty.status.currently_available), holds / BILLION);
                        match empty.retry_after {
                            None => prop_assert!(asked > room || restore_per_second == 0),
                            Some(wait) => {
                                let early = wait.saturating_sub(Duration::from_nanos(1));
                                prop_assert!(bucket.clone().try_debit(&rate, credits, now + early).is_err());
                                prop_assert!(bucket.clone().try_debit(&rate, credits, now + wait).is_ok());
                            }
                        }
                    }
                }
            }
        }
    }
}
