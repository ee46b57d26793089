//! Debits queries from their callers' buckets, wherever the buckets are stored.

use std::error::Error;

use crate::throttle::bucket::{InsufficientCredits, Rate, ThrottleStatus};
use crate::throttle::memory_store::MemoryStore;

/// The buckets of all callers.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    store: Store,
}

/// Where the buckets are.
#[derive(Debug)]
enum Store {
    /// In this process, so that several processes limit each on its own.
    Memory(MemoryStore),
}

/// Why nothing was debited.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DebitError {
    /// The bucket cannot cover the query.
    #[error(transparent)]
    Insufficient(#[from] InsufficientCredits),
    /// The store cannot be reached.
    #[allow(dead_code, reason = "the store in memory is always available")]
    #[error("the store of credits cannot be reached")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

#[allow(clippy::unused_async, reason = "a store outside this process is asked over the network")]
impl RateLimiter {
    /// Stores the buckets in this process.
    pub(crate) fn in_memory() -> Self {
        Self { store: Store::Memory(MemoryStore::new()) }
    }

    /// Stores the buckets in this process, on another clock.
    #[cfg(test)]
    pub(crate) fn with_clock(clock: impl Fn() -> std::time::Instant + Send + Sync + 'static) -> Self {
        Self { store: Store::Memory(MemoryStore::with_clock(clock)) }
    }

    /// Takes `credits` out of the caller's bucket and returns what is left, or takes nothing if the bucket has fewer.
    pub(crate) async fn debit(&self, caller: &str, rate: &Rate, credits: u64) -> Result<ThrottleStatus, DebitError> {
        match &self.store {
            Store::Memory(store) => Ok(store.debit(caller, rate, credits)?),
        }
    }

    /// Whether the caller's bucket covers a query after those before it, which cost `behind` credits together. Takes
    /// nothing, and returns the bucket as it is. A forecast of no credits always succeeds while the store can be reached.
    pub(crate) async fn forecast(
        &self,
        caller: &str,
        rate: &Rate,
        behind: u64,
        credits: u64,
    ) -> Result<ThrottleStatus, DebitError> {
        match &self.store {
            Store::Memory(store) => Ok(store.forecast(caller, rate, behind, credits)?),
        }
    }

    /// Buckets that are stored in this process: those that were not full lately.
    pub(crate) fn bucket_count(&self) -> usize {
        match &self.store {
            Store::Memory(store) => store.bucket_count(),
        }
    }

    /// Puts back the credits of a query that was not executed.
    pub(crate) async fn refund(&self, caller: &str, credits: u64) {
        match &self.store {
            Store::Memory(store) => store.refund(caller, credits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn debits_forecasts_and_refunds_one_bucket() {
        let limiter = RateLimiter::in_memory();
        let rate = Rate { capacity: 10, restore_per_second: 0 };
        assert_eq!(limiter.debit("demo", &rate, 7).await.unwrap().currently_available, 3);
        assert_eq!(limiter.forecast("demo", &rate, 0, 3).await.unwrap().currently_available, 3);
        assert!(matches!(limiter.forecast("demo", &rate, 0, 4).await, Err(DebitError::Insufficient(_))));
        assert!(matches!(limiter.debit("demo", &rate, 4).await, Err(DebitError::Insufficient(_))));
        limiter.refund("demo", 7).await;
        assert_eq!(limiter.forecast("demo", &rate, 0, 0).await.unwrap().currently_available, 10);
    }
}
