//! A transaction that writes. Unlike tokio-postgres, it accepts no incomplete response: a statement that was not executed must
//! not look like a statement that changed nothing.

use std::pin::pin;

use futures_util::TryStreamExt;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, RowStream};

use crate::database::error::DatabaseError;
use crate::database::metrics::{Operation, timed};

/// A transaction. Dropping it rolls it back.
pub(crate) struct Transaction<'a>(tokio_postgres::Transaction<'a>);

impl<'a> Transaction<'a> {
    pub(crate) async fn begin(client: &'a mut Client) -> Result<Self, DatabaseError> {
        timed(Operation::Begin, async { Ok(Self(client.transaction().await?)) }).await
    }
}

impl Transaction<'_> {
    pub(crate) async fn commit(self) -> Result<(), DatabaseError> {
        // PostgreSQL takes the COMMIT of a transaction that an error has ended, and rolls it back. The response to the end of a prepared
        // statement is not waited for, so an error there shows in the next statement only.
        timed(Operation::Commit, async {
            self.0.batch_execute("SELECT").await?;
            Ok(self.0.commit().await?)
        })
        .await
    }

    /// Rolls back to the beginning.
    pub(crate) async fn rollback(self) -> Result<(), DatabaseError> {
        timed(Operation::Rollback, async { Ok(self.0.rollback().await?) }).await
    }

    /// Executes statements that have no parameters and no rows.
    pub(crate) async fn batch_execute(&self, sql: &str) -> Result<(), DatabaseError> {
        timed(Operation::Other, async { Ok(self.0.batch_execute(sql).await?) }).await
    }

    /// Executes a statement and returns the number of rows that it affected.
    pub(crate) async fn execute(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, DatabaseError> {
        timed(Operation::of(sql), async {
            let mut stream = pin!(self.stream(sql, parameters).await?);
            while stream.try_next().await?.is_some() {}
            stream.rows_affected().ok_or(DatabaseError::Incomplete { announced: None, received: 0 })
        })
        .await
    }

    /// The rows of a statement.
    pub(crate) async fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, DatabaseError> {
        timed(Operation::of(sql), async {
            let mut stream = pin!(self.stream(sql, parameters).await?);
            let mut rows = Vec::new();
            while let Some(row) = stream.try_next().await? {
                rows.push(row);
            }
            let (announced, received) = (stream.rows_affected(), rows.len() as u64);
            if announced == Some(received) { Ok(rows) } else { Err(DatabaseError::Incomplete { announced, received }) }
        })
        .await
    }

    /// The first row of a statement, if it has one.
    pub(crate) async fn query_opt(
        &self,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, DatabaseError> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }

    /// The first row of a statement that always has one.
    pub(crate) async fn query_one(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Row, DatabaseError> {
        let row = self.query_opt(sql, parameters).await?;
        row.ok_or(DatabaseError::Incomplete { announced: Some(0), received: 0 })
    }

    async fn stream(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<RowStream, DatabaseError> {
        Ok(self.0.query_raw(sql, parameters.iter().copied()).await?)
    }
}
