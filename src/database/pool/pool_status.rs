//! The state of a pool of connections.

use deadpool_postgres::Status;

use crate::database::connection::pooled_connections::PooledConnections;
use crate::database::metrics::ConnectFailure;

/// The state of a pool of connections.
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
    /// Why no further connection can be opened, if that has failed.
    pub(crate) failure: Option<ConnectFailure>,
    /// Whether a connection is open, or nothing keeps one from being opened.
    pub(crate) is_usable: bool,
}

impl PoolStatus {
    pub(super) fn of(connections: &PooledConnections) -> Self {
        let Status { max_size, size, available, waiting } = connections.status();
        let failure = connections.failure();
        let is_usable = failure.is_none() || connections.has_open();
        Self { max: max_size, used: size.saturating_sub(available), idle: available, waiting, failure, is_usable }
    }

    /// The state of both pools together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            max: self.max + other.max,
            used: self.used + other.used,
            idle: self.idle + other.idle,
            waiting: self.waiting + other.waiting,
            failure: self.failure.or(other.failure),
            is_usable: self.is_usable || other.is_usable,
        }
    }

    /// Whether requests wait because every connection is in use.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.waiting > 0 && self.used >= self.max
    }
}
