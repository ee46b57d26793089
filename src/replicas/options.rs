//! The servers that are read, and how far a replica may lag.

use std::time::Duration;

use crate::database::address::database_address::DatabaseAddress;
use crate::database::pool::options::PoolOptions;

/// The servers that are read.
#[derive(Debug)]
pub(crate) struct ReadOptions {
    /// The primary's pools.
    pub(crate) primary: ReadServerOptions,
    /// The replicas' pools.
    pub(crate) replicas: Vec<ReadServerOptions>,
    /// How far a replica may lag.
    pub(crate) longest_lag: Duration,
}

/// The pools of a server.
#[derive(Debug)]
pub(crate) struct ReadServerOptions {
    /// Connections for queries.
    pub(crate) queries: PoolOptions,
    /// Connections for exports.
    pub(crate) exports: PoolOptions,
}

impl ReadServerOptions {
    /// The server's address.
    pub(super) fn address(&self) -> &DatabaseAddress {
        &self.queries.database
    }
}
