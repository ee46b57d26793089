//! The limits of a caller.

use std::time::Duration;

use crate::limits::{Limits, Profile, number};
use crate::throttle::bucket::Rate;

/// The limits of a user without a profile, which the configuration sets: a number for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DefaultLimits(pub(crate) Profile);

/// The limits of a caller. Its fields are read only where they are enforced, so the compiler reports a limit that nothing
/// enforces. The table [`crate::limits::LIMITS`] says what each is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerLimits {
    /// The limits that the compiler checks a query against.
    pub(crate) query: Limits,
    pub(crate) restore_rate: u64,
    pub(crate) deadline: Duration,
    pub(crate) concurrent_queries: u32,
    pub(crate) concurrent_updates: u32,
    pub(crate) updates_per_second: u32,
    pub(crate) idempotency_keys: u32,
}

impl CallerLimits {
    /// The limits of the profile, and the default where it has none.
    pub(crate) fn new(profile: &Profile, default: &DefaultLimits) -> Self {
        let all = profile.or(&default.0);
        Self {
            query: Limits::of(&all),
            restore_rate: number(all.restore_rate).unwrap_or_default(),
            deadline: Duration::from_millis(number(all.deadline_ms).unwrap_or_default()),
            concurrent_queries: number(all.concurrent_queries).unwrap_or_default(),
            concurrent_updates: number(all.concurrent_updates).unwrap_or_default(),
            updates_per_second: number(all.updates_per_second).unwrap_or_default(),
            idempotency_keys: number(all.idempotency_keys).unwrap_or_default(),
        }
    }

    /// The caller's bucket: its size, and how fast it refills.
    pub(crate) fn rate(&self) -> Rate {
        Rate { capacity: self.query.bucket_size, restore_per_second: self.restore_rate }
    }

    /// The caller's bucket of order updates. Each update takes one credit.
    pub(crate) fn update_rate(&self) -> Rate {
        let rate = self.updates_per_second.into();
        Rate { capacity: rate, restore_per_second: rate }
    }
}

impl DefaultLimits {
    /// The limits of a user without a profile.
    pub(crate) fn without_profile(&self) -> CallerLimits {
        CallerLimits::new(&Profile::DEFAULT, self)
    }
}
