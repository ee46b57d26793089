//! Where buckets are kept: in memory, by caller, forgotten when full.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::throttle::bucket::{Bucket, Empty, Rate, Status};

/// Maps that callers are spread over, so that they seldom wait for each other.
const SHARDS: usize = 16;

/// Buckets in a shard below which it is not worth looking for full ones.
const FEWEST_BEFORE_SWEEP: usize = 64;

/// Every caller's bucket. A bucket that has refilled is forgotten, so memory is bounded by the callers that were active
/// within the time a bucket takes to refill.
pub struct Buckets {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

struct Shard {
    kept: HashMap<Box<str>, Kept>,
    /// Buckets at which the shard is next searched for full ones: twice what the last search left, so that a search
    /// costs each newcomer a constant.
    sweep_at: usize,
}

struct Kept {
    bucket: Bucket,
    /// The rate it was last asked with; it decides whether the bucket is full again.
    rate: Rate,
}

impl Buckets {
    /// No buckets yet, on the system's monotonic clock.
    pub fn new() -> Self {
        Self::with_clock(Instant::now)
    }

    /// The same on another clock.
    pub fn with_clock(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::new(Shard { kept: HashMap::new(), sweep_at: FEWEST_BEFORE_SWEEP })),
            hasher: RandomState::new(),
            clock: Box::new(clock),
        }
    }

    /// Takes `credits` out of the caller's bucket, or leaves it as it is where it does not hold as many.
    pub fn try_debit(&self, caller: &str, rate: &Rate, credits: u64) -> Result<Status, Empty> {
        self.in_shard(caller, |shard, now| {
            if let Some(kept) = shard.kept.get_mut(caller) {
                kept.rate = *rate;
                return kept.bucket.try_debit(rate, credits, now);
            }
            let mut bucket = Bucket::full(now);
            let outcome = bucket.try_debit(rate, credits, now);
            if outcome.is_ok() && credits > 0 {
                shard.make_room(now);
                shard.kept.insert(caller.into(), Kept { bucket, rate: *rate });
            }
            outcome
        })
    }

    /// What the caller's bucket holds now.
    pub fn status(&self, caller: &str, rate: &Rate) -> Status {
        self.try_debit(caller, rate, 0).unwrap_or_else(|empty| empty.status)
    }

    /// What [`Self::try_debit`] would come to now. Nothing is taken: the status is the bucket's as it is.
    pub fn forecast(&self, caller: &str, rate: &Rate, credits: u64) -> Result<Status, Empty> {
        self.in_shard(caller, |shard, now| {
            let mut bucket = shard.kept.get(caller).map_or_else(|| Bucket::full(now), |kept| kept.bucket.clone());
            let status = bucket.try_debit(rate, 0, now)?;
            bucket.try_debit(rate, credits, now).map(|_| status)
        })
    }

    /// Puts back what was taken for a query that was then not executed.
    pub fn refund(&self, caller: &str, credits: u64) {
        self.in_shard(caller, |shard, _| {
            if let Some(kept) = shard.kept.get_mut(caller) {
                kept.bucket.refund(credits);
            }
        });
    }

    /// Buckets that are in memory now.
    pub fn kept(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).kept.len()).sum()
    }

    /// Runs `work` on the caller's shard. The clock is read under the lock: a bucket never sees time run backward.
    fn in_shard<T>(&self, caller: &str, work: impl FnOnce(&mut Shard, Instant) -> T) -> T {
        let place = usize::try_from(self.hasher.hash_one(caller) % SHARDS as u64).unwrap_or(0);
        // A panic elsewhere cannot leave a bucket half written, so a poisoned lock is as good as any.
        let mut shard = self.shards[place].lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut shard, (self.clock)())
    }
}

impl Shard {
    fn make_room(&mut self, now: Instant) {
        if self.kept.len() >= self.sweep_at {
            self.kept.retain(|_, kept| !kept.bucket.is_full(&kept.rate, now));
            self.sweep_at = (self.kept.len() * 2).max(FEWEST_BEFORE_SWEEP);
            self.kept.shrink_to(self.sweep_at);
        }
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets").field("kept", &self.kept()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A clock that stands still until it is moved.
    fn still_clock() -> (Arc<AtomicU64>, impl Fn() -> Instant + Send + Sync) {
        let (start, nanoseconds) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let moved = Arc::clone(&nanoseconds);
        (nanoseconds, move || start + Duration::from_nanos(moved.load(Ordering::SeqCst)))
    }

    #[test]
    fn a_forecast_says_what_a_debit_would_and_takes_nothing() {
        let (_, clock) = still_clock();
        let buckets = Buckets::with_clock(clock);
        let rate = Rate { capacity: 10, restore_per_second: 1 };
        assert_eq!(buckets.forecast("a", &rate, 10).unwrap().currently_available, 10);
        assert_eq!(buckets.kept(), 0);
        buckets.try_debit("a", &rate, 7).unwrap();
        assert_eq!(buckets.forecast("a", &rate, 3).unwrap().currently_available, 3);
        assert_eq!(buckets.forecast("a", &rate, 4).unwrap_err(), buckets.try_debit("a", &rate, 4).unwrap_err());
        assert_eq!(buckets.try_debit("a", &rate, 3).unwrap().currently_available, 0);
    }

    #[test]
    fn callers_do_not_share_a_bucket() {
        let buckets = Buckets::with_clock(still_clock().1);
        let rate = Rate::default();
        buckets.try_debit("demo", &rate, 1000).unwrap();
        assert!(buckets.try_debit("demo", &rate, 1).is_err());
        assert_eq!(buckets.try_debit("bulk", &rate, 1).unwrap().currently_available, 999);
        buckets.refund("demo", 1);
        assert!(buckets.try_debit("demo", &rate, 1).is_ok());
    }

    #[test]
    fn threads_on_one_bucket_together_spend_exactly_what_it_holds() {
        let buckets = Buckets::with_clock(still_clock().1);
        let rate = Rate { capacity: 10_000, restore_per_second: 50 };
        let spent: u64 = thread::scope(|scope| {
            let workers: Vec<_> = (0..8_u64)
                .map(|worker| {
                    let (buckets, rate) = (&buckets, &rate);
                    scope.spawn(move || {
                        let price = 1 + worker % 3;
                        (0..20_000).filter(|_| buckets.try_debit("demo", rate, price).is_ok()).count() as u64 * price
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(spent, 10_000);
    }

    #[test]
    fn threads_on_a_moving_clock_never_spend_more_than_came_back() {
        let (nanoseconds, clock) = still_clock();
        let buckets = Buckets::with_clock(clock);
        let rate = Rate { capacity: 100, restore_per_second: 1000 };
        let spent: u64 = thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|_| {
                    let (buckets, rate, nanoseconds) = (&buckets, &rate, &nanoseconds);
                    scope.spawn(move || {
                        (0..10_000)
                            .filter(|_| {
                                nanoseconds.fetch_add(3_000, Ordering::SeqCst);
                                buckets.try_debit("demo", rate, 7).is_ok()
                            })
                            .count() as u64
                            * 7
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        let restored = nanoseconds.load(Ordering::SeqCst) * 1000 / 1_000_000_000;
        assert!(spent <= 100 + restored, "{spent} of {}", 100 + restored);
        assert!(spent + 7 > restored, "what came back could be spent: {spent} of {restored}");
    }

    #[test]
    fn full_buckets_are_forgotten() {
        let (nanoseconds, clock) = still_clock();
        let buckets = Buckets::with_clock(clock);
        let rate = Rate::default();
        for caller in 0..100_000 {
            nanoseconds.fetch_add(1_000_000, Ordering::SeqCst);
            buckets.try_debit(&format!("caller {caller}"), &rate, 50).unwrap();
        }
        // A debit of 50 is restored within a second, in which a thousand callers come.
        assert!(buckets.kept() <= SHARDS * FEWEST_BEFORE_SWEEP + 4 * 1000, "{}", buckets.kept());
    }

    #[test]
    fn a_million_callers_leave_only_those_behind_whose_buckets_are_not_full() {
        let (nanoseconds, clock) = still_clock();
        let buckets = Buckets::with_clock(clock);
        let rate = Rate::default();
        let mut most = 0;
        for caller in 0..1_000_000_u32 {
            nanoseconds.fetch_add(10_000, Ordering::SeqCst);
            // Every bucket is full again after 200 ms, in which 20,000 callers come.
            buckets.try_debit(&caller.to_string(), &rate, 10).unwrap();
            if caller % 1000 == 0 {
                most = most.max(buckets.kept());
            }
        }
        assert!(most <= SHARDS * FEWEST_BEFORE_SWEEP + 2 * 20_000 + 20_000, "{most}");
    }

    #[test]
    fn callers_who_pay_nothing_leave_nothing_behind() {
        let buckets = Buckets::new();
        for caller in 0..1000 {
            buckets.try_debit(&caller.to_string(), &Rate::default(), 0).unwrap();
            buckets.try_debit(&caller.to_string(), &Rate::default(), 1001).unwrap_err();
        }
        assert_eq!(buckets.kept(), 0);
    }
}
