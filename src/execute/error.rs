//! Why a plan could not be executed.

use thiserror::Error;

use crate::database::error::DatabaseError;
use crate::execute::encode::Unwritable;

/// Why a plan could not be executed.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// The database did not respond, or rejected a statement.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A column has a type that its field cannot be written from. The check at start rules this out.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// The rows do not have the columns or the order that their statement gives them.
    #[error("a row is not as its statement has it")]
    Misshapen,
}
