//! Why a plan could not be executed.

use thiserror::Error;

use crate::database::error::DatabaseError;

/// Why a plan could not be executed.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// The database did not respond, or rejected a statement.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A column has a type that its field cannot be written from. The check at start rules this out.
    #[error("a column of type {0} cannot be answered")]
    UnwritableType(String),
    /// The rows do not have the columns or the order that their statement gives them.
    #[error("a row is not as its statement has it")]
    Misshapen,
}

impl ExecuteError {
    /// Whether the connection can run other statements after a rollback.
    pub(crate) fn spares_connection(&self) -> bool {
        match self {
            Self::Database(error) => error.spares_connection(),
            // What the connection knows of the statement's columns may be wrong.
            Self::UnwritableType(_) | Self::Misshapen => false,
        }
    }
}
