//! A connection that a request reads one statement from: one of its own, or one that many requests share.

use tokio_postgres::Statement;

use crate::database::connection::backend::Backend;
use crate::database::connection::batches::BatchTurn;
use crate::database::connection::own_connection::{OwnConnection, TransactionKind};
use crate::database::connection::rows::Rows;
use crate::database::connection::shared_turn::SharedTurn;
use crate::database::error::DatabaseError;
use crate::database::parameter::BinaryParameter;

/// A connection for one statement.
pub enum ReadConnection {
    /// One of its own. If it is dropped before the statement has ended, the statement is cancelled.
    Own(Box<OwnConnection>),
    /// One that many requests share. If it is dropped, the statement ends by itself.
    Shared(SharedTurn),
    /// None so far: the statement waits for an execution that serves other requests, too. If it is dropped, its rows are.
    Batched(BatchTurn),
}

impl From<OwnConnection> for ReadConnection {
    fn from(connection: OwnConnection) -> Self {
        Self::Own(Box::new(connection))
    }
}

impl ReadConnection {
    /// Whether other requests share it.
    pub(crate) fn is_shared(&self) -> bool {
        !matches!(self, Self::Own(_))
    }

    /// The server's side of the connection.
    pub(crate) fn backend(&self) -> Option<Backend> {
        match self {
            Self::Own(connection) => connection.backend(),
            Self::Shared(turn) => turn.backend(),
            // It is not known yet. What waits for a lock is run alone after a second.
            Self::Batched(_) => None,
        }
    }

    /// Prepares the statement, unless the connection has prepared it before.
    pub(crate) async fn prepare(&self, sql: &str) -> Result<Statement, DatabaseError> {
        match self {
            // Boxed, so that the futures of statements on shared connections stay small.
            Self::Own(connection) => Box::pin(connection.prepare(sql)).await,
            Self::Shared(turn) => Ok(turn.statement().clone()),
            Self::Batched(turn) => Ok(turn.statement().clone()),
        }
    }

    /// Runs the statement. Its rows arrive as they are read.
    pub(crate) async fn query<'p>(
        &self,
        statement: &Statement,
        parameters: impl ExactSizeIterator<Item = BinaryParameter<'p>>,
    ) -> Result<Rows<'_>, DatabaseError> {
        match self {
            Self::Own(connection) => Box::pin(connection.query(statement, parameters, TransactionKind::Own)).await,
            Self::Shared(turn) => turn.query(parameters).await,
            Self::Batched(turn) => turn.query(parameters).await,
        }
    }

    /// Returns the connection. Call it only when the statement has completed.
    pub(crate) fn release(self) {
        match self {
            Self::Own(connection) => connection.release(),
            Self::Shared(turn) => turn.finish(),
            Self::Batched(_) => {}
        }
    }

    /// Closes the connection. Call it when it cannot be trusted any more.
    pub(crate) fn discard(self) {
        match self {
            Self::Own(connection) => connection.discard(),
            Self::Shared(turn) => turn.discard(),
            Self::Batched(_) => {}
        }
    }
}
