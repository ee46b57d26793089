//! The pool of connections that write.

use deadpool_postgres::Object;
use tokio_postgres::Client;

use crate::database::cancel;
use crate::database::error::DatabaseError;
use crate::database::options::PoolOptions;
use crate::database::pool;
use crate::database::session::writer;

/// Writing connections to one database. They are separate from those that read, so that neither can exhaust the other.
#[derive(Debug, Clone)]
pub struct WriterPool {
    connections: deadpool_postgres::Pool,
}

impl WriterPool {
    /// A pool without open connections.
    pub fn new(options: &PoolOptions) -> Result<Self, DatabaseError> {
        Ok(Self { connections: pool::build(writer(&options.config), options, None)? })
    }

    /// Takes a connection. Waits for a free one for [`PoolOptions::wait`] at most.
    pub async fn connection(&self) -> Result<WriterConnection, DatabaseError> {
        Ok(WriterConnection { connection: Some(self.connections.get().await?) })
    }
}

/// A connection that one update writes to. If it is dropped, because nobody waits for the update any more, its transaction is
/// rolled back, and a connection that does not answer soon is closed: it must not keep the next update waiting.
#[derive(Debug)]
pub struct WriterConnection {
    connection: Option<Object>,
}

impl WriterConnection {
    /// The client, to begin a transaction with.
    pub fn client(&mut self) -> Result<&mut Client, DatabaseError> {
        self.connection.as_deref_mut().map(|wrapper| &mut **wrapper).ok_or(DatabaseError::Busy)
    }

    /// Returns the connection to the pool. Call it only when every statement has completed.
    pub fn release(mut self) {
        self.connection = None;
    }

    /// Closes the connection and cancels its statements. The next one may reach a server in another state: a new primary, or
    /// one that accepts writes again.
    pub fn discard(mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::abandon(connection);
        }
    }
}

impl Drop for WriterConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::end(connection);
        }
    }
}
