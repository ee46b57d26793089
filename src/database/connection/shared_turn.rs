//! The right to run one statement on a shared connection.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio_postgres::Statement;
use tokio_postgres::types::BorrowToSql;

use crate::database::connection::backend::Backend;
use crate::database::connection::rows::Rows;
use crate::database::connection::shared_connection::{SharedConnection, StatementLoad};
use crate::database::error::DatabaseError;

/// The right to run one statement on a shared connection.
#[derive(Debug)]
pub struct SharedTurn {
    /// `None` when the statement has ended.
    connection: Option<Arc<SharedConnection>>,
    statement: Statement,
    load: StatementLoad,
}

impl SharedTurn {
    /// A statement that counts as on its way until the turn ends.
    pub(super) fn begin(connection: Arc<SharedConnection>, statement: Statement, load: StatementLoad) -> Self {
        connection.begin(load);
        Self { connection: Some(connection), statement, load }
    }

    pub(super) fn backend(&self) -> Option<Backend> {
        self.connection.as_ref().map(|connection| connection.backend.clone())
    }

    pub(super) fn statement(&self) -> &Statement {
        &self.statement
    }

    pub(super) async fn query<P: BorrowToSql>(
        &self,
        parameters: impl IntoIterator<Item = P, IntoIter: ExactSizeIterator>,
    ) -> Result<Rows<'_>, DatabaseError> {
        let connection = self.connection.as_ref().ok_or(DatabaseError::Busy)?;
        Ok(Rows::arriving(connection.client.query_raw(&self.statement, parameters).await?, None))
    }

    /// PostgreSQL has rejected the values of the requests that the statement was run for.
    pub(super) fn rest(&self, key: u64) {
        if let Some(connection) = &self.connection {
            connection.rest(key);
        }
    }

    /// Waits for the rows of its statement for as long as the connection answers.
    pub(super) async fn while_it_answers<T>(&self, rows: impl Future<Output = T>) -> Option<T> {
        self.connection.as_ref()?.while_it_answers(rows).await
    }

    /// The statement has ended.
    pub(super) fn finish(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.answered();
            connection.end(self.load);
        }
    }

    /// The connection cannot be trusted any more. It is closed when the statements on their way there have ended.
    pub(super) fn discard(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.lose();
            connection.end(self.load);
        }
    }
}

impl Drop for SharedTurn {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let load = self.load;
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    // The response comes after that of the statement, whose rows are discarded.
                    connection.while_it_answers(connection.client.check_connection()).await;
                    connection.end(load);
                });
            }
            Err(_) => connection.end(load),
        }
    }
}
