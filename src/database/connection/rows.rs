//! The rows of a statement, as they arrive.

use std::pin::Pin;

use futures_util::{FutureExt, TryStreamExt};
use tokio_postgres::{Row, RowStream};

use crate::database::error::DatabaseError;

/// The end of a transaction, which was sent.
pub(super) type Commit<'c> = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send + 'c>>;

/// The rows of a statement.
pub(crate) enum Rows<'c> {
    /// They arrive as they are read.
    Arriving(Arriving<'c>),
    /// All are there. Their execution served so many requests; each row may end with the number of its request.
    Arrived { rows: std::vec::IntoIter<Row>, requests: usize },
}

/// Rows that arrive.
pub(crate) struct Arriving<'c> {
    stream: Pin<Box<RowStream>>,
    received: u64,
    /// Whether the stream has ended. It must not be polled again then.
    is_over: bool,
    /// The end of the statement's own transaction.
    commit: Option<Commit<'c>>,
}

impl<'c> Rows<'c> {
    pub(super) fn arriving(stream: RowStream, commit: Option<Commit<'c>>) -> Self {
        Self::Arriving(Arriving { stream: Box::pin(stream), received: 0, is_over: false, commit })
    }

    pub(super) fn arrived(rows: Vec<Row>, requests: usize) -> Self {
        Self::Arrived { rows: rows.into_iter(), requests }
    }

    /// How many requests the execution serves.
    pub(crate) fn requests(&self) -> usize {
        match self {
            Self::Arriving(_) => 1,
            Self::Arrived { requests, .. } => *requests,
        }
    }

    /// The next row; `None` after the last one. Fails if the response has not all of the rows that it announces.
    pub(crate) async fn next(&mut self) -> Result<Option<Row>, DatabaseError> {
        match self {
            Self::Arriving(rows) => rows.next().await,
            Self::Arrived { rows, .. } => Ok(rows.next()),
        }
    }

    /// The next row, if it has arrived.
    pub(crate) fn next_arrived(&mut self) -> Result<Option<Row>, DatabaseError> {
        match self {
            Self::Arriving(rows) => rows.next_arrived(),
            Self::Arrived { rows, .. } => Ok(rows.next()),
        }
    }
}

impl Arriving<'_> {
    async fn next(&mut self) -> Result<Option<Row>, DatabaseError> {
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

    fn next_arrived(&mut self) -> Result<Option<Row>, DatabaseError> {
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
