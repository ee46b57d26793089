//! The pool of connections that read.

use std::pin::Pin;
use std::sync::Arc;

use deadpool_postgres::{Connect, Hook, Manager, ManagerConfig, Object, RecyclingMethod, Runtime, Timeouts};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error};

use crate::database::address::database_address::CONNECT_TIMEOUT;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::spawn;
use crate::database::connection::lock_waits::LockWatch;
use crate::database::connection::own_connection::OwnConnection;
use crate::database::connection::session::{READ_ONLY, reader};
use crate::database::connection::session_check::SessionCheck;
use crate::database::connection::shared_connections::{SharedConnections, SharedTurn, StatementText};
use crate::database::connection::statement_texts::StatementTexts;
use crate::database::error::DatabaseError;
use crate::database::pool::options::PoolOptions;
use crate::database::pool::pool_status::PoolStatus;

/// Reading connections to one database, opened on demand and reused.
#[derive(Debug, Clone)]
pub struct Pool {
    connections: deadpool_postgres::Pool,
    database: DatabaseAddress,
    texts: StatementTexts,
    locks: LockWatch,
    shared: SharedConnections,
    /// Held while a connection is opened in the background.
    opening: Arc<Semaphore>,
}

impl Pool {
    /// A pool without open connections.
    pub fn new(options: &PoolOptions) -> Result<Self, DatabaseError> {
        let (database, needs_read_only) = reader(&options.database.for_role(Role::Queries));
        let (locks, mut check) = (LockWatch::new(&options.database), SessionCheck::of_reader(database.startup_options));
        // Without startup options, the process of a statement may be any.
        if database.startup_options {
            check = check.with_locks(locks.clone());
        }
        let hook = check.hook(needs_read_only.then_some(READ_ONLY));
        let connections = build(&database, options, hook)?;
        // Without startup options, the connection of a statement may be any, and its transaction has to say that it only reads.
        let shared = if database.startup_options { options.shared } else { 0 };
        Ok(Self {
            shared: SharedConnections::new(connections.clone(), locks.clone(), shared),
            connections,
            database,
            texts: StatementTexts::new(),
            locks,
            opening: Arc::new(Semaphore::new(1)),
        })
    }

    /// Takes a connection. Waits for a free one for [`PoolOptions::wait`] at most.
    pub async fn connection(&self) -> Result<OwnConnection, DatabaseError> {
        let status = self.connections.status();
        if status.available == 0 && status.size < status.max_size {
            self.open_in_background();
        }
        let connection = self.connections.get().await?;
        Ok(OwnConnection::new(connection, &self.database, &self.texts, &self.locks))
    }

    /// A turn on a connection that requests share, if the statement is prepared on one that is not too busy.
    pub(crate) fn try_share(&self, text: StatementText<'_>) -> Option<SharedTurn> {
        self.shared.try_take(text)
    }

    /// Whether the statement is prepared on a connection that requests share.
    pub(crate) fn is_shared(&self, text: StatementText<'_>) -> bool {
        self.shared.has(text)
    }

    /// Opens a connection, and closes it. Fails if it cannot be used, however often it is opened again, and not if there is none
    /// now.
    pub(crate) async fn check(&self) -> Result<(), DatabaseError> {
        match self.connections.get().await.map_err(DatabaseError::from) {
            Err(error @ DatabaseError::Unsuitable(_)) => return Err(error),
            Ok(connection) => drop(Object::take(connection)),
            Err(_) => {}
        }
        Ok(())
    }

    /// What the pool is doing.
    pub(crate) fn status(&self) -> PoolStatus {
        let own = PoolStatus::from(self.connections.status());
        let (open, used) = self.shared.open_and_used();
        PoolStatus { max: own.max + open, used: own.used + used, idle: own.idle + open - used, ..own }
    }

    /// Opens one more connection for later requests. The request that needs it may not last until it is open: clients that
    /// reset their requests would keep the pool empty.
    fn open_in_background(&self) {
        if let Ok(permit) = Arc::clone(&self.opening).try_acquire_owned() {
            let connections = self.connections.clone();
            tokio::spawn(async move {
                // If that fails, the requests that wait for a connection fail as well, and say why.
                drop(connections.get().await);
                drop(permit);
            });
        }
    }
}

/// Opens a pool's connections.
struct Connector(DatabaseAddress);

impl Connect for Connector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(spawn(&self.0))
    }
}

/// Builds a pool of connections with this configuration. `hook` prepares each new one.
pub(super) fn build(
    database: &DatabaseAddress,
    options: &PoolOptions,
    hook: Hook,
) -> Result<deadpool_postgres::Pool, DatabaseError> {
    let mut database = database.clone();
    database.config.connect_timeout(CONNECT_TIMEOUT);
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    // Recycling sends no statement, so it needs no timeout.
    let timeouts = Timeouts { wait: Some(options.wait), create: Some(CONNECT_TIMEOUT), recycle: None };
    let manager = Manager::from_connect(database.config.clone(), Connector(database), manager);
    let pool = deadpool_postgres::Pool::builder(manager);
    let pool = pool.max_size(options.size).timeouts(timeouts).runtime(Runtime::Tokio1).post_create(hook);
    pool.build().map_err(|error| DatabaseError::Unreachable(Box::new(error)))
}
