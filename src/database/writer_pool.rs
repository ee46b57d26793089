//! The pool of connections that write.

use deadpool_postgres::Object;

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

    /// Takes a connection. Waits for a free one for [`PoolOptions::wait`] at most. Dropping a transaction on it rolls the
    /// transaction back.
    pub async fn connection(&self) -> Result<Object, DatabaseError> {
        Ok(self.connections.get().await?)
    }

    /// Closes a connection instead of returning it to its pool. The next one may reach a server in another state: a new
    /// primary, or one that accepts writes again.
    pub fn discard(connection: Object) {
        drop(Object::take(connection));
    }
}
