//! The options of a connection pool.

use std::time::Duration;

use crate::database::address::database_address::DatabaseAddress;

/// The options of a connection pool.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// The database's address.
    pub database: DatabaseAddress,
    /// The maximum number of connections that a request has for itself.
    pub size: usize,
    /// The number of connections that requests share.
    pub shared: usize,
    /// How long a request waits for a free connection.
    pub wait: Duration,
}
