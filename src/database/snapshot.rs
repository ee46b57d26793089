//! One connection, for the statements of one request, which all see the same state of the database.
//!
//! tokio-postgres sends a statement when its future is first polled and pipelines what is sent before an answer came, so
//! the order of first polls is the order on the wire: BEGIN and COMMIT ride with the statements between them.

use deadpool_postgres::Object;
use futures_util::future::try_join_all;
use tokio_postgres::{RowStream, Statement};

use crate::database::cancel;
use crate::database::parameter::SqlParam;
use crate::database::pool::DatabaseError;

/// The most statements that a connection keeps prepared. Beyond that they are all forgotten: shapes of queries repeat, and
/// a flood of new ones must not fill the server's memory.
const MOST_STATEMENTS: usize = 512;

/// A connection that is read from by one request. It goes back to the pool with [`Snapshot::release`]; dropped before
/// that, for whatever reason, what runs on it is cancelled on the server, and it is not used again.
#[derive(Debug)]
pub struct Snapshot {
    connection: Option<Object>,
}

impl Snapshot {
    pub(super) fn new(connection: Object) -> Self {
        Self { connection: Some(connection) }
    }

    /// Prepares statements, those that the connection does not know yet, all at once.
    pub async fn prepare(&self, texts: impl Iterator<Item = &str>) -> Result<Vec<Statement>, DatabaseError> {
        let connection = self.connection()?;
        if connection.statement_cache.size() > MOST_STATEMENTS {
            connection.statement_cache.clear();
        }
        Ok(try_join_all(texts.map(|text| connection.prepare_cached(text))).await?)
    }

    /// Begins a transaction, in which every statement sees the same state: the pool's connections are set to that.
    pub async fn begin(&self) -> Result<(), DatabaseError> {
        Ok(self.connection()?.batch_execute("BEGIN").await?)
    }

    /// Ends the transaction.
    pub async fn commit(&self) -> Result<(), DatabaseError> {
        Ok(self.connection()?.batch_execute("COMMIT").await?)
    }

    /// Runs a statement; its rows come as they arrive.
    pub async fn query(
        &self,
        statement: &Statement,
        parameters: Vec<SqlParam<'_>>,
    ) -> Result<RowStream, DatabaseError> {
        Ok(self.connection()?.query_raw(statement, parameters).await?)
    }

    /// Gives the connection back to the pool. To be called once everything that was sent has been answered.
    pub fn release(mut self) {
        self.connection = None;
    }

    fn connection(&self) -> Result<&Object, DatabaseError> {
        self.connection.as_ref().ok_or(DatabaseError::Busy)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::abandon(connection);
        }
    }
}
