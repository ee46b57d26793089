//! The pool of connections that read.

use std::sync::Arc;

use deadpool_postgres::Object;
use tokio::sync::Semaphore;

use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::lock_waits::LockWatch;
use crate::database::connection::own_connection::OwnConnection;
use crate::database::connection::pooled_connections::PooledConnections;
use crate::database::connection::read_connection::ReadConnection;
use crate::database::connection::session::{READ_ONLY, reader};
use crate::database::connection::session_check::SessionCheck;
use crate::database::connection::shared_connections::{SharedConnections, SharedPlace, StatementText};
use crate::database::connection::statement_texts::StatementTexts;
use crate::database::error::DatabaseError;
use crate::database::metrics::PoolName;
use crate::database::pool::options::PoolOptions;
use crate::database::pool::pool_status::PoolStatus;

/// Reading connections to one database, opened on demand and reused.
#[derive(Debug, Clone)]
pub struct ReaderPool {
    connections: PooledConnections,
    database: DatabaseAddress,
    texts: StatementTexts,
    locks: LockWatch,
    shared: SharedConnections,
    /// Held while a connection is opened in the background.
    opening: Arc<Semaphore>,
}

impl ReaderPool {
    /// A pool for queries, without open connections.
    pub fn new(options: &PoolOptions) -> Result<Self, DatabaseError> {
        Self::with_name(PoolName::Queries, options)
    }

    /// A pool for exports, without open connections.
    pub(crate) fn for_exports(options: &PoolOptions) -> Result<Self, DatabaseError> {
        Self::with_name(PoolName::Exports, options)
    }

    fn with_name(name: PoolName, options: &PoolOptions) -> Result<Self, DatabaseError> {
        let (database, needs_read_only) = reader(&options.database.for_role(Role::Queries));
        let (locks, mut check) = (LockWatch::new(&options.database), SessionCheck::of_reader(database.startup_options));
        // Without startup options, the process of a statement may be any.
        if database.startup_options {
            check = check.with_locks(locks.clone());
        }
        let (sizes, prepare) = ((options.size, options.wait), needs_read_only.then_some(READ_ONLY));
        let connections = PooledConnections::new(name, &database, sizes, &check, prepare)?;
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
    pub(crate) fn try_share(&self, text: StatementText<'_>) -> Option<ReadConnection> {
        self.shared.try_take(text).map(|place| match place {
            SharedPlace::Single(turn) => ReadConnection::Shared(turn),
            SharedPlace::Batched(turn) => ReadConnection::Batched(turn),
        })
    }

    /// Whether the statement is prepared on a connection that requests share.
    pub(crate) fn is_shared(&self, text: StatementText<'_>) -> bool {
        self.shared.has(text)
    }

    /// Closes a statement on each connection that has prepared it.
    pub(crate) fn forget(&self, text: StatementText<'_>) {
        self.connections.forget(text.sql);
        self.shared.forget(text);
    }

    /// The rows of a statement had many bytes: no connection that requests share runs it for a while.
    pub(crate) fn exclude(&self, text: StatementText<'_>) {
        self.shared.exclude(text);
    }

    /// Opens a connection, and closes it. Fails if it cannot be used, however often it is opened again, and not if there is none
    /// now.
    pub(crate) async fn check(&self) -> Result<(), DatabaseError> {
        match self.connections.get().await {
            Err(error @ DatabaseError::Unsuitable(_)) => return Err(error),
            Ok(connection) => drop(Object::take(connection)),
            Err(_) => {}
        }
        Ok(())
    }

    /// The state of the pool.
    pub(crate) fn status(&self) -> PoolStatus {
        let own = PoolStatus::of(&self.connections);
        let (open, used) = self.shared.open_and_used();
        PoolStatus {
            max: own.max + open,
            used: own.used + used,
            idle: own.idle + open - used,
            is_usable: own.is_usable || open > 0,
            ..own
        }
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
