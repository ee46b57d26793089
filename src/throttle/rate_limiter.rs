//! Debits queries from their callers' buckets, wherever the buckets are stored.

use std::error::Error;
use std::time::Duration;

use crate::shared_store::connection::SharedStore;
use crate::throttle::bucket::{Claim, InsufficientCredits, Rate, ThrottleStatus};
use crate::throttle::memory_store::MemoryStore;
use crate::throttle::shared_buckets::{Debited, SharedBuckets, SharedDebit, SharedDebitError, WhenAway};

/// The buckets of all callers.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    store: Store,
}

/// The place of the buckets.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them")]
enum Store {
    /// In this process, so that several processes limit each on its own.
    Memory(MemoryStore),
    /// In a store that several processes share.
    Shared(SharedBuckets),
}

/// The credits that were debited for a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Debit {
    /// How many credits.
    pub(crate) cost: u64,
    /// The bucket after that.
    pub(crate) bucket: ThrottleStatus,
    /// How far the caller has written lately on any server, if they share a store.
    pub(crate) written: Option<u64>,
    /// To be refunded there.
    debited: Debited,
}

impl Debit {
    /// The debit of a query that costs nothing in the end.
    pub(crate) fn nothing(bucket: ThrottleStatus) -> Self {
        Self { cost: 0, bucket, written: None, debited: Debited::Nothing }
    }
}

/// Why nothing was debited.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DebitError {
    /// The bucket cannot cover the query.
    #[error(transparent)]
    Insufficient(#[from] InsufficientCredits),
    /// The store cannot be reached.
    #[error("the store of credits cannot be reached")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

impl From<SharedDebitError> for DebitError {
    fn from(error: SharedDebitError) -> Self {
        match error {
            SharedDebitError::Insufficient(short) => Self::Insufficient(short),
            SharedDebitError::Away(error) => Self::Unavailable(Box::new(error)),
        }
    }
}

impl RateLimiter {
    /// Stores the buckets in this process.
    pub(crate) fn in_memory() -> Self {
        Self { store: Store::Memory(MemoryStore::new()) }
    }

    /// Stores the buckets in a store that several processes share.
    pub(crate) fn shared(store: SharedStore, when_away: WhenAway) -> Self {
        Self { store: Store::Shared(SharedBuckets::new(store, when_away)) }
    }

    /// Stores the buckets in this process, on another clock.
    #[cfg(test)]
    pub(crate) fn with_clock(clock: impl Fn() -> std::time::Instant + Send + Sync + 'static) -> Self {
        Self { store: Store::Memory(MemoryStore::with_clock(clock)) }
    }

    /// Takes `credits` out of the caller's bucket, or takes nothing if the bucket has fewer.
    pub(crate) async fn debit(&self, caller: &str, rate: &Rate, credits: u64) -> Result<Debit, DebitError> {
        let SharedDebit { bucket, debited, written } = match &self.store {
            Store::Memory(store) => {
                let bucket = store.debit(caller, rate, credits)?;
                SharedDebit { bucket, debited: Debited::Bucket, written: None }
            }
            // Boxed, as the other questions to the store, so that the futures of servers without one stay small.
            Store::Shared(store) => Box::pin(store.debit(caller, rate, credits)).await?,
        };
        Ok(Debit { cost: credits, bucket, written, debited })
    }

    /// Remembers how far the caller has written, for the debits of other servers, if they share a store.
    pub(crate) async fn remember_write(&self, caller: &str, position: u64, time: Duration) {
        match &self.store {
            Store::Memory(_) => {}
            Store::Shared(store) => Box::pin(store.remember_write(caller, position, time)).await,
        }
    }

    /// Whether the caller's bucket covers a query. Takes nothing, and returns the bucket as it is. A forecast of no credits
    /// always succeeds while the store can be reached.
    pub(crate) async fn forecast(&self, caller: &str, rate: &Rate, credits: u64) -> Result<ThrottleStatus, DebitError> {
        match &self.store {
            Store::Memory(store) => Ok(store.forecast(caller, rate, Claim::first(credits))?),
            Store::Shared(store) => Ok(Box::pin(store.forecast(caller, rate, credits)).await?),
        }
    }

    /// Whether the caller's bucket covers a query, as far as it is known in this process. Other processes may have debited the bucket since, so a query that is covered now may be
    /// rejected all the same.
    pub(crate) fn known(&self, caller: &str, rate: &Rate, claim: Claim) -> Result<ThrottleStatus, DebitError> {
        match &self.store {
            Store::Memory(store) => Ok(store.forecast(caller, rate, claim)?),
            Store::Shared(store) => Ok(store.known(caller, rate, claim)?),
        }
    }

    /// Buckets in this process: buckets that were not full lately.
    pub(crate) fn bucket_count(&self) -> usize {
        match &self.store {
            Store::Memory(store) => store.bucket_count(),
            Store::Shared(store) => store.bucket_count(),
        }
    }

    /// Puts back the credits of a query that was not executed.
    pub(crate) async fn refund(&self, caller: &str, debit: Debit) {
        match &self.store {
            Store::Memory(store) => store.refund(caller, debit.cost),
            Store::Shared(store) => Box::pin(store.refund(caller, debit.cost, debit.debited)).await,
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
        let debit = limiter.debit("demo", &rate, 7).await.unwrap();
        assert_eq!((debit.cost, debit.bucket.currently_available), (7, 3));
        assert_eq!(limiter.forecast("demo", &rate, 3).await.unwrap().currently_available, 3);
        assert!(matches!(limiter.forecast("demo", &rate, 4).await, Err(DebitError::Insufficient(_))));
        assert!(matches!(
            limiter.known("demo", &rate, Claim { behind: 1, credits: 3 }),
            Err(DebitError::Insufficient(_))
        ));
        assert!(matches!(limiter.debit("demo", &rate, 4).await, Err(DebitError::Insufficient(_))));
        limiter.refund("demo", debit).await;
        assert_eq!(limiter.forecast("demo", &rate, 0).await.unwrap().currently_available, 10);
    }
}
