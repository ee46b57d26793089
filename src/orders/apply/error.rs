//! The error of applying an update.

use thiserror::Error;

use crate::database::error::DatabaseError;
use crate::orders::violation::Violation;

/// Why an update was not applied.
#[derive(Debug, Error)]
pub(in crate::orders) enum ApplyError {
    /// The rules reject it, with all violations. Never empty.
    #[error("{} rows cannot be applied", .0.len())]
    Rejected(Vec<Violation>),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}
