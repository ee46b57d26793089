//! A transaction whose statements return their rows as far as they are asked for.

use std::time::Instant;

use futures_util::TryStreamExt;
use tokio_postgres::{IsolationLevel, Portal, Row, Statement};

use crate::database::error::DatabaseError;
use crate::database::metrics::{Operation, record, timed};
use crate::database::parameter::SqlParam;

/// A transaction whose statements can run side by side, each as far as its rows are asked for. If it is dropped before it
/// ends, it is rolled back.
pub struct Portals<'a>(tokio_postgres::Transaction<'a>);

/// The next rows of a statement.
pub(crate) struct NextRows {
    pub(crate) rows: Vec<Row>,
    /// Whether there are no more.
    pub(crate) is_last: bool,
}

impl<'a> Portals<'a> {
    /// Begins the transaction, which may have to say that it is a snapshot and only reads.
    pub(super) async fn begin(
        client: &'a mut tokio_postgres::Client,
        is_explicit: bool,
    ) -> Result<Self, DatabaseError> {
        let transaction = client.build_transaction();
        let transaction = if is_explicit {
            transaction.isolation_level(IsolationLevel::RepeatableRead).read_only(true)
        } else {
            transaction
        };
        timed(Operation::Begin, async { Ok(Self(transaction.start().await?)) }).await
    }
}

impl Portals<'_> {
    /// Begins a statement.
    pub(crate) async fn bind(
        &self,
        statement: &Statement,
        parameters: Vec<SqlParam<'_>>,
    ) -> Result<Portal, DatabaseError> {
        Ok(self.0.bind_raw(statement, parameters).await?)
    }

    /// So many more rows of a statement, or its last ones.
    pub(crate) async fn next(&self, portal: &Portal, count: u16) -> Result<NextRows, DatabaseError> {
        let sent = Instant::now();
        let result = self.try_next(portal, count).await;
        record(Operation::Select, sent.elapsed(), result.as_ref().err());
        result
    }

    async fn try_next(&self, portal: &Portal, count: u16) -> Result<NextRows, DatabaseError> {
        let mut stream = std::pin::pin!(self.0.query_portal_raw(portal, count.into()).await?);
        let mut rows = Vec::with_capacity(count.into());
        while let Some(row) = stream.try_next().await? {
            rows.push(row);
        }
        // The server announces how many rows it has sent when there are no more. Otherwise it sends as many as it was asked for.
        let (announced, received) = (stream.rows_affected(), rows.len() as u64);
        if announced.unwrap_or(count.into()) != received {
            return Err(DatabaseError::Incomplete { announced, received });
        }
        Ok(NextRows { rows, is_last: announced.is_some() })
    }

    /// Ends the transaction.
    pub(crate) async fn end(self) -> Result<(), DatabaseError> {
        timed(Operation::Commit, async { Ok(self.0.commit().await?) }).await
    }
}
