//! The pool of connections that read.

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::{Config, NoTls};

use crate::database::error::DatabaseError;
use crate::database::options::{CONNECT_TIMEOUT, PoolOptions};
use crate::database::session::{READ_ONLY, reader};
use crate::database::snapshot::Snapshot;

/// Reading connections to one database, opened on demand and reused.
#[derive(Debug, Clone)]
pub struct Pool {
    connections: deadpool_postgres::Pool,
}

impl Pool {
    /// A pool without open connections.
    pub fn new(options: &PoolOptions) -> Result<Self, DatabaseError> {
        let (config, needs_read_only) = reader(&options.config);
        let hook = needs_read_only.then(|| {
            Hook::async_fn(|client, _| {
                Box::pin(async move { client.batch_execute(READ_ONLY).await.map_err(HookError::Backend) })
            })
        });
        Ok(Self { connections: build(config, options, hook)? })
    }

    /// Takes a connection to read one snapshot. Waits for a free one for [`PoolOptions::wait`] at most.
    pub async fn snapshot(&self) -> Result<Snapshot, DatabaseError> {
        Ok(Snapshot::new(self.connections.get().await?))
    }
}

/// Builds a pool of connections with this configuration. `hook` prepares each new one.
pub(super) fn build(
    mut config: Config,
    options: &PoolOptions,
    hook: Option<Hook>,
) -> Result<deadpool_postgres::Pool, DatabaseError> {
    config.application_name("orderql").connect_timeout(CONNECT_TIMEOUT);
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    // Recycling sends no statement, so it needs no timeout.
    let timeouts = Timeouts { wait: Some(options.wait), create: Some(CONNECT_TIMEOUT), recycle: None };
    let pool = deadpool_postgres::Pool::builder(Manager::from_config(config, NoTls, manager));
    let pool = pool.max_size(options.size).timeouts(timeouts).runtime(Runtime::Tokio1);
    let pool = match hook {
        Some(hook) => pool.post_create(hook),
        None => pool,
    };
    pool.build().map_err(|error| DatabaseError::Unreachable(Box::new(error)))
}
