//! What a pool of connections is doing.

use deadpool_postgres::Status;

/// What a pool of connections is doing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PoolStatus {
    /// The most connections that it opens.
    pub(crate) max: usize,
    /// Connections that requests use, or that are being opened for them.
    pub(crate) used: usize,
    /// Open connections that are free.
    pub(crate) idle: usize,
    /// Requests that wait for a connection.
    pub(crate) waiting: usize,
}

impl PoolStatus {
    /// What both pools are doing together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            max: self.max + other.max,
            used: self.used + other.used,
            idle: self.idle + other.idle,
            waiting: self.waiting + other.waiting,
        }
    }

    /// Whether requests wait because every connection is in use.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.waiting > 0 && self.used >= self.max
    }
}

impl From<Status> for PoolStatus {
    fn from(status: Status) -> Self {
        let Status { max_size, size, available, waiting } = status;
        Self { max: max_size, used: size.saturating_sub(available), idle: available, waiting }
    }
}
