//! The memory that clients make the server hold for them: heads and bodies of requests, and responses that they have not
//! read yet.
//!
//! Everything of the kind is counted, for each connection and in all. Where a limit is reached, requests are rejected until
//! clients read their responses or time-outs end them. The last quarter is for connections that need little, so that a few large
//! ones never keep the others from being served.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::http::head_limits::MAX_HEAD_BYTES;

/// A connection that holds no more than this may use the last quarter.
const LITTLE: usize = 64 << 10;

/// The part of the budget that one connection may hold.
const CONNECTIONS: usize = 8;

/// The budget of all connections.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBudget(Arc<BudgetState>);

#[derive(Debug, Default)]
struct BudgetState {
    limit: AtomicUsize,
    /// The limit of one connection.
    share: AtomicUsize,
    used: AtomicUsize,
}

/// The memory that one connection holds.
#[derive(Debug)]
pub(crate) struct ConnectionMemory {
    budget: MemoryBudget,
    used: AtomicUsize,
}

/// The connection, or all of them, hold as much as they may.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MemoryExhausted;

impl MemoryBudget {
    /// A budget of this many bytes. A connection may have an eighth of it, or one request with the largest body that is allowed.
    pub(crate) fn new(limit: usize, body_limit: usize) -> Self {
        let budget = Self(Arc::default());
        budget.resize(limit, body_limit);
        budget
    }

    /// Changes the budget. What is held above it stays.
    pub(crate) fn resize(&self, limit: usize, body_limit: usize) {
        let request = body_limit.saturating_add(2 * MAX_HEAD_BYTES);
        self.0.limit.store(limit, Ordering::Relaxed);
        self.0.share.store(request.max(limit / CONNECTIONS), Ordering::Relaxed);
    }

    /// Bytes that all connections hold.
    pub(crate) fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Bytes that all connections may hold.
    pub(crate) fn limit(&self) -> usize {
        self.0.limit.load(Ordering::Relaxed)
    }

    /// A new connection, which holds nothing.
    pub(crate) fn connection(&self) -> ConnectionMemory {
        ConnectionMemory { budget: self.clone(), used: AtomicUsize::new(0) }
    }
}

impl ConnectionMemory {
    /// Counts this many more bytes, unless there would be too many.
    pub(crate) fn add(&self, bytes: usize) -> Result<(), MemoryExhausted> {
        let BudgetState { limit, share, used } = &*self.budget.0;
        let (limit, share) = (limit.load(Ordering::Relaxed), share.load(Ordering::Relaxed));
        let own = add(&self.used, bytes, share)?;
        let limit = if own <= LITTLE { limit } else { limit / 4 * 3 };
        add(used, bytes, limit).map(drop).inspect_err(|_| {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
        })
    }

    /// The most bytes that a connection with more than a little may hold, if no other holds any.
    pub(crate) fn largest(&self) -> usize {
        let BudgetState { limit, share, .. } = &*self.budget.0;
        share.load(Ordering::Relaxed).min(limit.load(Ordering::Relaxed) / 4 * 3)
    }

    /// Counts this many bytes less, which were counted before.
    pub(crate) fn subtract(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.budget.0.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The sum, unless it is above the limit.
fn add(used: &AtomicUsize, bytes: usize, limit: usize) -> Result<usize, MemoryExhausted> {
    let sum = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
    let before = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).map_err(|_| MemoryExhausted)?;
    Ok(before + bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn a_connection_has_its_share_and_all_have_the_budget() {
        let budget = MemoryBudget::new(16 * MIB, MIB);
        let connections: Vec<_> = (0..6).map(|_| budget.connection()).collect();
        for connection in &connections {
            assert_eq!(connection.add(2 * MIB), Ok(()));
            assert_eq!(connection.add(1), Err(MemoryExhausted));
        }
        let small = budget.connection();
        assert_eq!(small.add(LITTLE + 1), Err(MemoryExhausted), "three quarters are used");
        assert_eq!(small.add(LITTLE), Ok(()));
        connections[0].subtract(MIB);
        assert_eq!(small.add(MIB / 2), Ok(()));
        small.subtract(LITTLE + MIB / 2);
        for connection in connections.iter().skip(1) {
            connection.subtract(2 * MIB);
        }
        connections[0].subtract(MIB);
        assert_eq!(budget.0.used.load(Ordering::Relaxed), 0);
        let all = MemoryBudget::new(MIB, 4 * MIB).connection();
        assert_eq!((small.largest(), all.largest()), (2 * MIB, MIB / 4 * 3));
        assert_eq!(small.add(small.largest()), Ok(()));
        assert_eq!((all.add(all.largest() + 1), all.add(all.largest())), (Err(MemoryExhausted), Ok(())));
    }

    #[test]
    fn the_last_quarter_is_limited_too() {
        let budget = MemoryBudget::new(MIB, MIB / 2);
        let connections: Vec<_> = (0..16).map(|_| budget.connection()).collect();
        assert!(connections.iter().all(|connection| connection.add(LITTLE).is_ok()));
        assert_eq!(budget.connection().add(1), Err(MemoryExhausted));
    }

    #[test]
    fn one_request_of_any_allowed_size_fits_into_a_share() {
        let memory = MemoryBudget::new(3 * MIB, MIB).connection();
        assert_eq!(memory.add(MAX_HEAD_BYTES + MIB), Ok(()));
        assert_eq!(memory.add(usize::MAX), Err(MemoryExhausted));
    }
}
