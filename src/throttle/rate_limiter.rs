//! Debits queries from their callers' buckets, wherever the buckets are stored.

use std::error::Error;

use crate::throttle::bucket::{InsufficientCredits, Rate, ThrottleStatus};
use crate::throttle::memory_store::MemoryStore;

/// The buckets of all callers.
#[derive(Debug)]
pub struct RateLimiter {
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
pub enum DebitError {
    /// The bucket cannot cover the query.
    #[error(transparent)]
    Insufficient(#[from] InsufficientCredits),
    /// The store cannot be reached.
    #[error("the store of credits cannot be reached")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

#[allow(clippy::unused_async, reason = "a store outside this process is asked over the network")]
impl RateLimiter {
    /// Stores the buckets in this process.
    pub fn in_memory() -> Self {
        Self { store: Store::Memory(MemoryStore::new()) }
    }

    /// Takes `credits` out of the caller's bucket and returns what is left, or takes nothing if the bucket has fewer.
    pub async fn debit(&self, caller: &str, rate: &Rate, credits: u64) -> Result<ThrottleStatus, DebitError> {
        match &self.store {
            Store::Memory(store) => Ok(store.debit(caller, rate, credits)?),
        }
    }

    /// What [`Self::debit`] would return now, but with the bucket as it is. Takes nothing. A forecast of no credits
    /// always succeeds while the store can be reached.
    pub async fn forecast(&self, caller: &str, rate: &Rate, credits: u64) -> Result<ThrottleStatus, DebitError> {
        match &self.store {
            Store::Memory(store) => Ok(store.forecast(caller, rate, credits)?),
        }
    }

    /// Puts back the credits of a query that was not executed.
    pub async fn refund(&self, caller: &str, credits: u64) {
        match &self.store {
            Store::Memory(store) => store.refund(caller, credits),
        }
    }
}
