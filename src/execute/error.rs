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
    /// Rows that have to be held before they are written take more memory than there is at present.
    #[error("the rows take too much memory")]
    OutOfMemory,
    /// The rows take more memory than a response may ever have.
    #[error("the first {rows} rows have {bytes} bytes, and all may have {limit}")]
    TooLarge {
        /// The rows that have arrived of the list that has most.
        rows: u64,
        /// Bytes of their values.
        bytes: u64,
        /// The most bytes of all rows.
        limit: u64,
    },
}

impl ExecuteError {
    /// Whether the connection can run other statements after a rollback.
    pub(crate) fn spares_connection(&self) -> bool {
        match self {
            Self::Database(error) => error.spares_connection(),
            // The rows may be another statement's.
            Self::Misshapen => false,
            // The rows that are left are thrown away where the connection is given back.
            Self::OutOfMemory | Self::TooLarge { .. } => true,
        }
    }
}
