//! The options of the private cluster.

use std::path::PathBuf;

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
