//! How often look-ups in the compiler's cache find something.

use std::sync::atomic::{AtomicU64, Ordering};

/// The look-ups in the compiler's cache since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Look-ups of texts.
    pub texts: Lookups,
    /// Look-ups of plans.
    pub plans: Lookups,
    /// Bytes that it takes now.
    pub bytes: usize,
}

/// Look-ups by their result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lookups {
    /// Look-ups that found something.
    pub hits: u64,
    /// Look-ups that found nothing.
    pub misses: u64,
}

/// Counts look-ups.
#[derive(Debug, Default)]
pub(super) struct LookupCounter {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl LookupCounter {
    /// Counts a look-up.
    pub(super) fn count(&self, is_hit: bool) {
        let counter = if is_hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The look-ups so far.
    pub(super) fn read(&self) -> Lookups {
        Lookups { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) }
    }
}
