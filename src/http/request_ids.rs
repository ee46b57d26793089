//! The ids of requests, which clients and the log are given.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes ids that do not repeat within a process, and hardly ever among processes.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    /// Has random keys, made when the process starts.
    hasher: RandomState,
    next: AtomicU64,
}

impl RequestIds {
    /// The next id: 16 hexadecimal digits.
    pub(crate) fn next(&self) -> Arc<str> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}", self.hasher.hash_one(number)).into()
    }
}
