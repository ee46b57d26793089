//! The pool of connections that read.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::NoTls;

use crate::database::error::DatabaseError;
use crate::database::options::PoolOptions;
use crate::database::session::reader_settings;
use crate::database::snapshot::Snapshot;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Reading connections to one database, opened on demand and reused.
#[derive(Debug, Clone)]
pub struct Pool {
    connections: deadpool_postgres::Pool,
}

impl Pool {
    /// A pool without open connections.
    pub fn new(options: &PoolOptions) -> Result<Self, DatabaseError> {
        Ok(Self { connections: build(options, reader_settings)? })
    }

    /// Takes a connection to read one snapshot. Waits for a free one for [`PoolOptions::wait`] at most.
    pub async fn snapshot(&self) -> Result<Snapshot, DatabaseError> {
        Ok(Snapshot::new(self.connections.get().await?))
    }
}

/// Builds a pool. `settings` adds ours to the `options` of the operator's address.
pub(super) fn build(
    options: &PoolOptions,
    settings: impl FnOnce(&str) -> String,
) -> Result<deadpool_postgres::Pool, DatabaseError> {
    let mut config = options.config.clone();
    let settings = settings(config.get_options().unwrap_or_default());
    config.options(settings).application_name("orderql").connect_timeout(CONNECT_TIMEOUT);
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    // Recycling sends no statement, so it needs no timeout.
    let timeouts = Timeouts { wait: Some(options.wait), create: Some(CONNECT_TIMEOUT), recycle: None };
    deadpool_postgres::Pool::builder(Manager::from_config(config, NoTls, manager))
        .max_size(options.size)
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| DatabaseError::Unreachable(Box::new(error)))
}
