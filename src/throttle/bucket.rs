//! One caller's bucket of credits. Pure: the time is an argument.
//!
//! A bucket stores the credits that are missing from it, not the credits in it. So a full bucket need not be stored at all, and a changed
//! [`Rate`] applies at once. Credits are counted in billionths, so that nanoseconds × credits per second is exact and no error accumulates,
//! however often a bucket is debited.

use std::time::{Duration, Instant};

use serde::Serialize;

/// Billionths of a credit in a credit. Also nanoseconds in a second, which makes refilling exact.
const BILLION: u128 = 1_000_000_000;

/// The size of a bucket and how fast it refills. [`Rate::default`] has the specification's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Credits in a full bucket.
    pub(crate) capacity: u64,
    /// Credits that are restored per second, continuously.
    pub(crate) restore_per_second: u64,
}

impl Default for Rate {
    fn default() -> Self {
        Self { capacity: 1000, restore_per_second: 50 }
    }
}

/// The state of a bucket, as `extensions.cost.throttleStatus` reports it. In whole credits, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThrottleStatus {
    /// Credits in a full bucket.
    pub(crate) maximum_available: u64,
    /// Credits in the bucket now.
    pub(crate) currently_available: u64,
    /// Credits that are restored per second.
    pub(crate) restore_rate: u64,
}

/// The credits of a query, after the credits of the caller's queries that wait before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) behind: u64,
    pub(crate) credits: u64,
}

impl Claim {
    /// Nothing waits before the query.
    pub(crate) fn first(credits: u64) -> Self {
        Self { behind: 0, credits }
    }
}

/// The bucket cannot cover a query. Nothing was debited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bucket holds {} credits, which cannot cover a query of {credits}", status.currently_available)]
pub(crate) struct InsufficientCredits {
    /// The cost of the query.
    pub(crate) credits: u64,
    /// The cost of the caller's queries that wait before it.
    pub(crate) behind: u64,
    /// After this time exactly this query succeeds, unless another is debited before; before this time it fails. `None`:
    /// it can never succeed, because it costs more than a full bucket has, or because no credits are restored.
    pub(crate) retry_after: Option<Duration>,
    /// The bucket.
    pub(crate) status: ThrottleStatus,
}

/// A bucket of credits.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    /// Billionths of a credit that are missing from a full bucket, as of `as_of`.
    missing: u128,
    /// When `missing` was last updated. Never moves backward.
    as_of: Instant,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn full(now: Instant) -> Self {
        Self { missing: 0, as_of: now }
    }

    /// Takes `credits` out of the bucket, or takes nothing if it has fewer.
    pub(crate) fn debit(
        &mut self,
        rate: &Rate,
        credits: u64,
        now: Instant,
    ) -> Result<ThrottleStatus, InsufficientCredits> {
        self.forecast(rate, Claim::first(credits), now)?;
        self.missing += u128::from(credits) * BILLION;
        Ok(self.status(rate))
    }

    /// Whether the bucket covers a query. Returns the bucket as it is.
    pub(crate) fn forecast(
        &mut self,
        rate: &Rate,
        Claim { behind, credits }: Claim,
        now: Instant,
    ) -> Result<ThrottleStatus, InsufficientCredits> {
        self.refill(rate, now);
        let after = self.missing + (u128::from(behind) + u128::from(credits)) * BILLION;
        let capacity = u128::from(rate.capacity) * BILLION;
        // No credits can be debited even where a lowered capacity left the bucket in debt.
        if credits == 0 || after <= capacity {
            return Ok(self.status(rate));
        }
        let retry_after = (credits <= rate.capacity && rate.restore_per_second > 0)
            .then(|| nanoseconds((after - capacity).div_ceil(u128::from(rate.restore_per_second))));
        Err(InsufficientCredits { credits, behind, retry_after, status: self.status(rate) })
    }

    /// Puts back the credits of a query that was not executed.
    pub(crate) fn refund(&mut self, credits: u64) {
        self.missing = self.missing.saturating_sub(u128::from(credits) * BILLION);
    }

    /// Billionths of a credit that are missing.
    pub(crate) fn missing(&mut self, rate: &Rate, now: Instant) -> u128 {
        self.refill(rate, now);
        self.missing
    }

    /// Sets the number of billionths of a credit that are missing now.
    pub(crate) fn set_missing(&mut self, missing: u128, now: Instant) {
        (self.missing, self.as_of) = (missing, self.as_of.max(now));
    }

    /// Whether nothing is missing. Such a bucket equals a new one.
    pub(crate) fn is_full(&mut self, rate: &Rate, now: Instant) -> bool {
        self.missing(rate, now) == 0
    }

    fn refill(&mut self, rate: &Rate, now: Instant) {
        let elapsed = now.saturating_duration_since(self.as_of);
        let restored = elapsed.as_nanos().saturating_mul(u128::from(rate.restore_per_second));
        self.missing = self.missing.saturating_sub(restored);
        self.as_of = self.as_of.max(now);
    }

    fn status(&self, rate: &Rate) -> ThrottleStatus {
        let available = (u128::from(rate.capacity) * BILLION).saturating_sub(self.missing) / BILLION;
        ThrottleStatus {
            maximum_available: rate.capacity,
            currently_available: u64::try_from(available).unwrap_or(rate.capacity),
            restore_rate: rate.restore_per_second,
        }
    }
}

/// A duration of `count` nanoseconds, or the longest possible one.
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
    fn can_be_spent_to_the_last_credit_and_no_further() {
        let now = Instant::now();
        let mut bucket = Bucket::full(now);
        assert_eq!(bucket.debit(&DEFAULT, 1000, now).unwrap().currently_available, 0);
        let empty = bucket.debit(&DEFAULT, 1, now).unwrap_err();
        assert_eq!(empty.retry_after, Some(Duration::from_millis(20)));
        assert!(bucket.debit(&DEFAULT, 1, now + Duration::from_nanos(19_999_999)).is_err());
        assert!(bucket.debit(&DEFAULT, 1, now + Duration::from_millis(20)).is_ok());
    }

    #[test]
    fn debiting_often_restores_no_less_than_debiting_once() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start);
        bucket.debit(&DEFAULT, 1000, start).unwrap();
        for step in 1..=1_000_000_u64 {
            let _ = bucket.debit(&DEFAULT, 1000, start + Duration::from_micros(step));
        }
        assert_eq!(bucket.debit(&DEFAULT, 0, start + Duration::from_secs(1)).unwrap().currently_available, 50);
    }

    #[test]
    fn never_covers_more_than_its_capacity() {
        let now = Instant::now();
        assert_eq!(Bucket::full(now).debit(&DEFAULT, 1001, now).unwrap_err().retry_after, None);
        let frozen = Rate { capacity: 10, restore_per_second: 0 };
        let mut bucket = Bucket::full(now);
        bucket.debit(&frozen, 10, now).unwrap();
        assert_eq!(bucket.debit(&frozen, 1, now).unwrap_err().retry_after, None);
    }

    #[test]
    fn the_largest_rates_do_not_overflow() {
        let now = Instant::now();
        let huge = Rate { capacity: u64::MAX, restore_per_second: u64::MAX };
        let mut bucket = Bucket::full(now);
        bucket.debit(&huge, u64::MAX, now).unwrap();
        assert!(bucket.debit(&huge, u64::MAX, now).is_err());
        let later = now + Duration::from_hours(24 * 365 * 100);
        assert_eq!(bucket.debit(&huge, 0, later).unwrap().currently_available, u64::MAX);
    }

    #[test]
    fn tolerates_a_lowered_capacity_and_a_clock_that_lags() {
        let now = Instant::now() + Duration::from_secs(10);
        let mut bucket = Bucket::full(now);
        bucket.debit(&DEFAULT, 1000, now).unwrap();
        let lower = Rate { capacity: 10, restore_per_second: 1 };
        assert_eq!(bucket.debit(&lower, 0, now).unwrap().currently_available, 0);
        assert_eq!(bucket.debit(&lower, 1, now).unwrap_err().retry_after, Some(Duration::from_secs(991)));
        assert!(bucket.debit(&lower, 1, now.checked_sub(Duration::from_secs(5)).unwrap()).is_err());
    }

    #[test]
    fn refunds_can_be_spent_again_but_never_exceed_the_capacity() {
        let now = Instant::now();
        let mut bucket = Bucket::full(now);
        bucket.debit(&DEFAULT, 600, now).unwrap();
        bucket.refund(600);
        bucket.refund(600);
        assert_eq!(bucket.debit(&DEFAULT, 0, now).unwrap().currently_available, 1000);
    }

    #[test]
    fn queries_that_wait_are_covered_one_after_the_other_at_the_time_that_is_forecast() {
        let mut now = Instant::now();
        let mut bucket = Bucket::full(now);
        bucket.debit(&DEFAULT, 900, now).unwrap();
        // Together they cost more than the bucket can hold.
        let waiting = [300, 800, 50];
        let forecast = bucket.forecast(&DEFAULT, Claim { behind: 1100, credits: 50 }, now).unwrap_err();
        assert_eq!((forecast.behind, forecast.retry_after), (1100, Some(Duration::from_secs(21))));
        let start = now;
        for credits in waiting {
            if let Err(short) = bucket.forecast(&DEFAULT, Claim::first(credits), now) {
                now += short.retry_after.unwrap();
            }
            bucket.debit(&DEFAULT, credits, now).unwrap();
        }
        assert_eq!(now - start, Duration::from_secs(21));
    }

    proptest! {
        /// The model counts available billionths up to the capacity, as the specification does. The bucket must agree at
        /// every step, and a query that it cannot cover must succeed exactly after `retry_after`, not a nanosecond before.
        #[test]
        fn agrees_with_a_simple_model(
            capacity in 0_u64..=1_000_000_000_000,
            restore_per_second in 0_u64..=1_000_000_000_000,
            steps in prop::collection::vec((0_u64..5_000_000_000, 0_u64..=1_100_000_000_000), 1..60),
        ) {
            let rate = Rate { capacity, restore_per_second };
            let full = u128::from(capacity) * BILLION;
            let mut now = Instant::now();
            let mut bucket = Bucket::full(now);
            let mut available = full;
            for (pause, credits) in steps {
                let credits = if capacity == 0 { credits } else { credits % (capacity + capacity / 10 + 2) };
                now += Duration::from_nanos(pause);
                available = (available + u128::from(pause) * u128::from(restore_per_second)).min(full);
                let asked = u128::from(credits) * BILLION;
                match bucket.debit(&rate, credits, now) {
                    Ok(status) => {
                        prop_assert!(asked <= available);
                        available -= asked;
                        prop_assert_eq!(u128::from(status.currently_available), available / BILLION);
                    }
                    Err(empty) => {
                        prop_assert!(asked > available);
                        prop_assert_eq!(u128::from(empty.status.currently_available), available / BILLION);
                        match empty.retry_after {
                            None => prop_assert!(asked > full || restore_per_second == 0),
                            Some(wait) => {
                                let early = wait.saturating_sub(Duration::from_nanos(1));
                                prop_assert!(bucket.clone().debit(&rate, credits, now + early).is_err());
                                prop_assert!(bucket.clone().debit(&rate, credits, now + wait).is_ok());
                            }
                        }
                    }
                }
            }
        }
    }
}
