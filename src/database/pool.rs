//! The pool of connections that queries are answered from.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, PoolError, RecyclingMethod, Runtime, TimeoutType, Timeouts};
use thiserror::Error;
use tokio_postgres::error::Severity;
use tokio_postgres::{Config, NoTls};

use crate::database::snapshot::Snapshot;

/// What the pool is made of.
#[derive(Debug, Clone)]
pub struct Options {
    /// How the database is reached.
    pub config: Config,
    /// The most connections.
    pub size: usize,
    /// How long a request waits for one.
    pub wait: Duration,
}

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(2);

/// How every connection of the pool plans and what it bears, unless the operator's address says otherwise.
///
/// - Batched statements want generic plans: each execution would be planned anew otherwise, and cost several times more.
/// - A generic plan is made for a tenth of all rows, as PostgreSQL takes an unknown LIMIT, and then merge and hash joins look
///   cheap: they read a joined table from its beginning or whole, so that a page costs more the deeper it lies. A page's
///   few rows are best joined one by one. For the same reason it would rather sort what it finds, all that belongs to a
///   parent or to a part of the order, than go along the index that has the page's order; unless reading along an index
///   is as cheap as it is where the tables are in memory.
/// - A statement whose client is gone ends within a second, should its cancellation not arrive.
const PLANNING: &str = "-c plan_cache_mode=force_generic_plan -c enable_mergejoin=off -c enable_hashjoin=off \
                        -c enable_incremental_sort=off -c random_page_cost=2 -c jit=off \
                        -c client_connection_check_interval=1s";

/// What answers rely on, whatever the operator's address says.
///
/// - A transaction is one snapshot, and nothing is ever written: set once, BEGIN need not say so. A transaction of
///   one trivial statement costs PostgreSQL a third more where it does.
/// - A role named like our own schema would look there first.
const MEANING: &str = "-c default_transaction_isolation=repeatable\\ read -c default_transaction_read_only=on \
                       -c TimeZone=UTC -c search_path=public";

/// The options that every connection of the pool starts with, round those of the operator's address.
pub fn settings(given: &str) -> String {
    format!("{PLANNING} {given} {MEANING}")
}

/// Connections to one database, made when they are needed and kept.
#[derive(Debug, Clone)]
pub struct Pool {
    connections: deadpool_postgres::Pool,
}

impl Pool {
    /// A pool that has not connected yet.
    pub fn new(options: &Options) -> Result<Self, DatabaseError> {
        Ok(Self { connections: connections(options, settings)? })
    }

    /// A connection to read one snapshot over. Waits for a free one as long as the options allow.
    pub async fn snapshot(&self) -> Result<Snapshot, DatabaseError> {
        Ok(Snapshot::new(self.connections.get().await?))
    }
}

/// A pool whose connections start with what `settings` makes of the options of the operator's address.
pub(super) fn connections(
    options: &Options,
    settings: impl FnOnce(&str) -> String,
) -> Result<deadpool_postgres::Pool, DatabaseError> {
    let mut config = options.config.clone();
    let settings = settings(config.get_options().unwrap_or_default());
    config.options(settings).application_name("orderql").connect_timeout(CONNECT);
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    // A connection that comes back is not asked anything, so that there is nothing to wait for.
    let timeouts = Timeouts { wait: Some(options.wait), create: Some(CONNECT), recycle: None };
    deadpool_postgres::Pool::builder(Manager::from_config(config, NoTls, manager))
        .max_size(options.size)
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| DatabaseError::Unreachable(Box::new(error)))
}

/// Why the database gave no answer.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// Every connection was busy for as long as a request may wait.
    #[error("every database connection is busy")]
    Busy,
    /// It cannot be connected to, or the connection broke.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It refused a statement.
    #[error("the database refused a statement")]
    Statement(#[source] tokio_postgres::Error),
}

impl From<PoolError> for DatabaseError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => Self::Busy,
            other => Self::Unreachable(Box::new(other)),
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        // Without a report from the server, the connection is at fault. With a fatal one the server has ended it, because it
        // stops, starts or crashes, has no connections left, or lets none idle for so long.
        let away = error
            .as_db_error()
            .is_none_or(|report| matches!(report.parsed_severity(), Some(Severity::Fatal | Severity::Panic)));
        if away { Self::Unreachable(Box::new(error)) } else { Self::Statement(error) }
    }
}
