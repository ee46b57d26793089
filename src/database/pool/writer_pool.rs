//! The pool of connections that write.

use deadpool_postgres::Object;
use tokio_postgres::Client;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::cancel;
use crate::database::connection::pooled_connections::PooledConnections;
use crate::database::connection::session::writer;
use crate::database::connection::session_check::SessionCheck;
use crate::database::error::DatabaseError;
use crate::database::metrics::{PoolName, waited};
use crate::database::pool::options::PoolOptions;
use crate::database::pool::pool_status::PoolStatus;

/// Writing connections to one database. They are separate from the reading connections, so that neither can exhaust the other.
#[derive(Debug, Clone)]
pub(crate) struct WriterPool {
    connections: PooledConnections,
    database: DatabaseAddress,
}

impl WriterPool {
    /// A pool without open connections.
    pub(crate) fn new(options: &PoolOptions) -> Result<Self, DatabaseError> {
        let database = writer(&options.database.for_role(Role::Updates));
        let (sizes, check) = ((options.size, options.wait), SessionCheck::of_writer());
        Ok(Self { connections: PooledConnections::new(PoolName::Updates, &database, sizes, &check, None)?, database })
    }

    /// Takes a connection. Waits for a free one for [`PoolOptions::wait`] at most.
    pub(crate) async fn connection(&self) -> Result<WriterConnection, DatabaseError> {
        let connection = waited(PoolName::Updates, || self.connections.get()).await?;
        Ok(WriterConnection { connection: Some(connection), tls: self.database.tls.clone() })
    }

    /// The state of the pool.
    pub(crate) fn status(&self) -> PoolStatus {
        PoolStatus::of(&self.connections)
    }
}

/// A connection that one update writes to. If it is dropped, because the update was given up, its transaction is rolled back, and a
/// connection that does not answer soon is closed: it must not keep the next update waiting.
pub(crate) struct WriterConnection {
    connection: Option<Object>,
    tls: MakeRustlsConnect,
}

impl WriterConnection {
    /// The client, to begin a transaction with.
    pub(crate) fn client(&mut self) -> Result<&mut Client, DatabaseError> {
        self.connection.as_deref_mut().map(|wrapper| &mut **wrapper).ok_or(DatabaseError::Busy)
    }

    /// Returns the connection to the pool. Call it only when every statement has completed.
    pub(crate) fn release(mut self) {
        self.connection = None;
    }

    /// Closes the connection and cancels its statements. The next one may reach a server in another state: a new primary, or
    /// one that accepts writes again.
    pub(crate) fn discard(mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::abandon(connection, self.tls.clone());
        }
    }
}

impl Drop for WriterConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::end(connection, self.tls.clone());
        }
    }
}
