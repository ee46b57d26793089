//! The error of applying an update.

use thiserror::Error;

use crate::database::error::DatabaseError;
use crate::orders::violation::Violation;

/// A shipment that the caller does not see, whether or not it exists.
#[derive(Debug, Error)]
#[error("the shipment {0} is not among those that your user groups may change")]
pub(in crate::orders) struct UnseenShipment(pub(super) String);

/// Why an update was not applied.
#[derive(Debug, Error)]
pub(in crate::orders) enum ApplyError {
    /// The rules reject it, with all violations. Never empty.
    #[error("{} rows cannot be applied", .0.len())]
    Rejected(Vec<Violation>),
    /// It names, or may change, shipments that the caller does not see. Never empty.
    #[error("{} shipments are not the caller's", .0.len())]
    Unseen(Vec<UnseenShipment>),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}
