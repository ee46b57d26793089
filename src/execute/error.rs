//! Why a plan could not be executed.

use thiserror::Error;

use crate::database::error::DatabaseError;

/// Why a plan could not be executed.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// The database did not respond, or rejected a statement.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The rows do not have the columns or the order that their statement gives them.
    #[error("a row is not as its statement has it")]
    Misshapen,
    /// A page has to be read whole before it is written, and takes more memory than the response may.
    #[error("the rows take too much memory")]
    OutOfMemory,
}

impl ExecuteError {
    /// Whether the connection can run other statements after a rollback.
    pub(crate) fn spares_connection(&self) -> bool {
        match self {
            Self::Database(error) => error.spares_connection(),
            // The rows may be another statement's, or there are more.
            Self::Misshapen | Self::OutOfMemory => false,
        }
    }
}
