//! Buckets in memory, by caller. A full bucket takes no memory.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use fnv::{FnvHashMap, FnvHasher};

use crate::throttle::bucket::{Bucket, Claim, InsufficientCredits, Rate, ThrottleStatus};

/// Maps that callers are spread over, so that they seldom wait for each other's lock.
const SHARDS: usize = 16;

/// A shard with fewer buckets is not swept.
const MIN_SWEEP: usize = 64;

/// Every caller's bucket. Full buckets are removed, so memory is bounded by the callers that were active within the time
/// that a bucket takes to refill.
pub(crate) struct MemoryStore {
    shards: [Mutex<Shard>; SHARDS],
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
}

struct Shard {
    /// With a hash that is quick for short names: nobody who is not a user has a bucket.
    buckets: FnvHashMap<Box<str>, BucketEntry>,
    /// Buckets at which the shard is swept next: twice the buckets that the last sweep left, so that sweeping costs a constant for each new
    /// bucket.
    sweep_at: usize,
}

struct BucketEntry {
    bucket: Bucket,
    /// The rate of the last debit. It decides whether the bucket is full again.
    rate: Rate,
}

impl MemoryStore {
    /// An empty store, on the system's monotonic clock.
    pub(crate) fn new() -> Self {
        Self::with_clock(Instant::now)
    }

    /// An empty store, on another clock.
    pub(crate) fn with_clock(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::new(Shard { buckets: FnvHashMap::default(), sweep_at: MIN_SWEEP })),
            clock: Box::new(clock),
        }
    }

    /// Takes `credits` out of the caller's bucket, or takes nothing if it has fewer.
    pub(crate) fn debit(&self, caller: &str, rate: &Rate, credits: u64) -> Result<ThrottleStatus, InsufficientCredits> {
        self.in_shard(caller, |shard, now| {
            if let Some(entry) = shard.buckets.get_mut(caller) {
                entry.rate = *rate;
                return entry.bucket.debit(rate, credits, now);
            }
            let mut bucket = Bucket::full(now);
            let result = bucket.debit(rate, credits, now);
            if result.is_ok() && credits > 0 {
                shard.sweep(now);
                shard.buckets.insert(caller.into(), BucketEntry { bucket, rate: *rate });
            }
            result
        })
    }

    /// Whether the caller's bucket covers a query. Takes nothing, and returns the bucket as it is.
    pub(crate) fn forecast(
        &self,
        caller: &str,
        rate: &Rate,
        claim: Claim,
    ) -> Result<ThrottleStatus, InsufficientCredits> {
        self.in_shard(caller, |shard, now| {
            let entry = shard.buckets.get(caller);
            let mut bucket = entry.map_or_else(|| Bucket::full(now), |entry| entry.bucket.clone());
            bucket.forecast(rate, claim, now)
        })
    }

    /// Puts back the credits of a query that was not executed.
    pub(crate) fn refund(&self, caller: &str, credits: u64) {
        self.in_shard(caller, |shard, _| {
            if let Some(entry) = shard.buckets.get_mut(caller) {
                entry.bucket.refund(credits);
            }
        });
    }

    /// Billionths of a credit that are missing from the caller's bucket.
    pub(crate) fn missing(&self, caller: &str, rate: &Rate) -> u128 {
        self.in_shard(caller, |shard, now| {
            shard.buckets.get_mut(caller).map_or(0, |entry| entry.bucket.missing(rate, now))
        })
    }

    /// Sets the number of billionths of a credit that are missing from the caller's bucket, as another store knows it.
    pub(crate) fn set_missing(&self, caller: &str, rate: &Rate, missing: u128) {
        self.in_shard(caller, |shard, now| shard.set_missing(caller, rate, missing, now));
    }

    /// Raises the missing billionths of a credit of the caller's bucket to this number at least, as another store knows it.
    pub(crate) fn raise_missing(&self, caller: &str, rate: &Rate, missing: u128) {
        self.in_shard(caller, |shard, now| {
            let own = shard.buckets.get_mut(caller).map_or(0, |entry| entry.bucket.missing(rate, now));
            if missing > own {
                shard.set_missing(caller, rate, missing, now);
            }
        });
    }

    /// Buckets in memory now.
    pub(crate) fn bucket_count(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).buckets.len()).sum()
    }

    /// Runs `work` on the caller's shard. The clock is read under the lock, so that no bucket sees time run backward.
    fn in_shard<T>(&self, caller: &str, work: impl FnOnce(&mut Shard, Instant) -> T) -> T {
        // The maps of the shards use the other bits.
        let hash = BuildHasherDefault::<FnvHasher>::default().hash_one(caller) >> u32::BITS;
        let index = usize::try_from(hash % SHARDS as u64).unwrap_or(0);
        // A panic elsewhere cannot leave a bucket half written, so a poisoned lock can be used.
        let mut shard = self.shards[index].lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut shard, (self.clock)())
    }
}

impl Shard {
    fn set_missing(&mut self, caller: &str, rate: &Rate, missing: u128, now: Instant) {
        if let Some(entry) = self.buckets.get_mut(caller) {
            entry.rate = *rate;
            entry.bucket.set_missing(missing, now);
        } else if missing > 0 {
            let mut bucket = Bucket::full(now);
            bucket.set_missing(missing, now);
            self.sweep(now);
            self.buckets.insert(caller.into(), BucketEntry { bucket, rate: *rate });
        }
    }

    /// Removes full buckets if there are enough buckets to make that worthwhile.
    fn sweep(&mut self, now: Instant) {
        if self.buckets.len() >= self.sweep_at {
            self.buckets.retain(|_, entry| !entry.bucket.is_full(&entry.rate, now));
            self.sweep_at = (self.buckets.len() * 2).max(MIN_SWEEP);
            self.buckets.shrink_to(self.sweep_at);
        }
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("buckets", &self.bucket_count()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A clock that stops until the test moves it, by nanoseconds.
    fn manual_clock() -> (Arc<AtomicU64>, impl Fn() -> Instant + Send + Sync) {
        let (start, nanoseconds) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let moved = Arc::clone(&nanoseconds);
        (nanoseconds, move || start + Duration::from_nanos(moved.load(Ordering::SeqCst)))
    }

    #[test]
    fn forecasts_what_a_debit_would_return_and_takes_nothing() {
        let (_, clock) = manual_clock();
        let store = MemoryStore::with_clock(clock);
        let rate = Rate { capacity: 10, restore_per_second: 1 };
        assert_eq!(store.forecast("a", &rate, Claim::first(10)).unwrap().currently_available, 10);
        assert_eq!(store.bucket_count(), 0);
        store.debit("a", &rate, 7).unwrap();
        assert_eq!(store.forecast("a", &rate, Claim::first(3)).unwrap().currently_available, 3);
        assert_eq!(store.forecast("a", &rate, Claim::first(4)).unwrap_err(), store.debit("a", &rate, 4).unwrap_err());
        assert_eq!(store.debit("a", &rate, 3).unwrap().currently_available, 0);
    }

    #[test]
    fn a_bucket_is_as_full_as_another_store_knows_it_and_refills() {
        let (nanoseconds, clock) = manual_clock();
        let store = MemoryStore::with_clock(clock);
        let rate = Rate { capacity: 10, restore_per_second: 1 };
        let billion = 1_000_000_000;
        store.set_missing("a", &rate, 0);
        assert_eq!(store.bucket_count(), 0);
        store.set_missing("a", &rate, 4 * billion);
        store.raise_missing("a", &rate, 3 * billion);
        assert_eq!(store.forecast("a", &rate, Claim::first(6)).unwrap().currently_available, 6);
        store.raise_missing("a", &rate, 8 * billion);
        nanoseconds.fetch_add(1_000_000_000, Ordering::SeqCst);
        assert_eq!(store.missing("a", &rate), 7 * billion);
        assert!(store.debit("a", &rate, 4).is_err());
        store.set_missing("a", &rate, 0);
        assert!(store.debit("a", &rate, 10).is_ok());
    }

    #[test]
    fn callers_do_not_share_a_bucket() {
        let store = MemoryStore::with_clock(manual_clock().1);
        let rate = Rate::default();
        store.debit("demo", &rate, 1000).unwrap();
        assert!(store.debit("demo", &rate, 1).is_err());
        assert_eq!(store.debit("bulk", &rate, 1).unwrap().currently_available, 999);
        store.refund("demo", 1);
        assert!(store.debit("demo", &rate, 1).is_ok());
    }

    #[test]
    fn threads_together_spend_exactly_what_a_bucket_has() {
        let store = MemoryStore::with_clock(manual_clock().1);
        let rate = Rate { capacity: 10_000, restore_per_second: 50 };
        let spent: u64 = thread::scope(|scope| {
            let workers: Vec<_> = (0..8_u64)
                .map(|worker| {
                    let (store, rate) = (&store, &rate);
                    scope.spawn(move || {
                        let price = 1 + worker % 3;
                        (0..20_000).filter(|_| store.debit("demo", rate, price).is_ok()).count() as u64 * price
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(spent, 10_000);
    }

    #[test]
    fn threads_on_a_moving_clock_never_spend_more_than_was_restored() {
        let (nanoseconds, clock) = manual_clock();
        let store = MemoryStore::with_clock(clock);
        let rate = Rate { capacity: 100, restore_per_second: 1000 };
        let spent: u64 = thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|_| {
                    let (store, rate, nanoseconds) = (&store, &rate, &nanoseconds);
                    scope.spawn(move || {
                        (0..10_000)
                            .filter(|_| {
                                nanoseconds.fetch_add(3_000, Ordering::SeqCst);
                                store.debit("demo", rate, 7).is_ok()
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
        assert!(spent + 7 > restored, "all restored credits can be spent: {spent} of {restored}");
    }

    #[test]
    fn removes_full_buckets() {
        let (nanoseconds, clock) = manual_clock();
        let store = MemoryStore::with_clock(clock);
        let rate = Rate::default();
        for caller in 0..100_000 {
            nanoseconds.fetch_add(1_000_000, Ordering::SeqCst);
            store.debit(&format!("caller {caller}"), &rate, 50).unwrap();
        }
        // A debit of 50 is restored within a second, in which a thousand callers come.
        assert!(store.bucket_count() <= SHARDS * MIN_SWEEP + 4 * 1000, "{}", store.bucket_count());
    }

    #[test]
    fn stores_only_the_buckets_of_a_million_callers_that_are_not_full() {
        let (nanoseconds, clock) = manual_clock();
        let store = MemoryStore::with_clock(clock);
        let rate = Rate::default();
        let mut most = 0;
        for caller in 0..1_000_000_u32 {
            nanoseconds.fetch_add(10_000, Ordering::SeqCst);
            // Every bucket is full again after 200 ms, in which 20,000 callers come.
            store.debit(&caller.to_string(), &rate, 10).unwrap();
            if caller % 1000 == 0 {
                most = most.max(store.bucket_count());
            }
        }
        assert!(most <= SHARDS * MIN_SWEEP + 2 * 20_000 + 20_000, "{most}");
    }

    #[test]
    fn stores_no_bucket_that_was_never_debited() {
        let store = MemoryStore::new();
        for caller in 0..1000 {
            store.debit(&caller.to_string(), &Rate::default(), 0).unwrap();
            store.debit(&caller.to_string(), &Rate::default(), 1001).unwrap_err();
        }
        assert_eq!(store.bucket_count(), 0);
    }
}
