//! The rows of a statement, as they arrive.

use std::pin::Pin;

use futures_util::{FutureExt, TryStreamExt};
use tokio_postgres::{Row, RowStream};

use crate::database::error::DatabaseError;

/// The end of a transaction, which was sent.
pub(super) type Commit<'c> = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send + 'c>>;

/// The rows of a statement.
pub(crate) struct Rows<'c> {
    stream: Pin<Box<RowStream>>,
    received: u64,
    /// Whether the stream has ended. It must not be polled again then.
    is_over: bool,
    /// The end of the statement's own transaction.
    commit: Option<Commit<'c>>,
}

impl<'c> Rows<'c> {
    pub(super) fn new(stream: RowStream, commit: Option<Commit<'c>>) -> Self {
        Self { stream: Box::pin(stream), received: 0, is_over: false, commit }
    }

    /// The next row; `None` after the last one. Fails if the response has not all of the rows that it announces.
    pub(crate) async fn next(&mut self) -> Result<Option<Row>, DatabaseError> {
        if !self.is_over
            && let Some(row) = self.stream.try_next().await?
        {
            self.received += 1;
            return Ok(Some(row));
        }
        self.is_over = true;
        // The stream ends with the response, whether or not the response has a result.
        let (announced, received) = (self.stream.rows_affected(), self.received);
        if announced != Some(received) {
            return Err(DatabaseError::Incomplete { announced, received });
        }
        if let Some(commit) = self.commit.take() {
            commit.await?;
        }
        Ok(None)
    }

    /// The next row, if it has arrived.
    pub(crate) fn next_arrived(&mut self) -> Result<Option<Row>, DatabaseError> {
        if self.is_over {
            return Ok(None);
        }
        let polled = self.stream.try_next().now_or_never().transpose()?;
        self.is_over = matches!(polled, Some(None));
        let row = polled.flatten();
        self.received += u64::from(row.is_some());
        Ok(row)
    }
}
