//! The options of the connection pools and of the private cluster.

use std::path::PathBuf;
use std::time::Duration;

use crate::database::database_address::DatabaseAddress;

/// How long connecting may take.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

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

/// Whether committed data survives a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// PostgreSQL's default: committed data survives.
    Durable,
    /// Fast, for tests: a crash of the machine may corrupt the data.
    ThrowAway,
}

/// The options of a private cluster.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// The cluster's folder. Created if it does not exist.
    pub folder: PathBuf,
    /// The folder of PostgreSQL's programs (`ORDERQL_PG_BIN`). `None` searches for it.
    pub programs: Option<PathBuf>,
    /// Whether committed data survives a crash.
    pub durability: Durability,
    /// Additional PostgreSQL settings, by name. A server that is already running keeps the settings it was started with.
    pub settings: Vec<(String, String)>,
}
