//! The error of applying an update.

use thiserror::Error;

use crate::database::error::DatabaseError;
use crate::orders::violation::UpdateViolation;

/// A shipment that the caller does not see.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub(in crate::orders) enum UnseenShipment {
    /// A shipment that the caller names, whether or not it exists.
    #[error("the shipment {0} is not among those that your user groups may change")]
    Named(String),
    /// A shipment that would change together with the shipments that the caller names. The message does not have its id, because the
    /// caller cannot know it.
    #[error("the update would change another shipment too, which is not among those that your user groups may change")]
    Other,
}

/// Why an update was not applied.
#[derive(Debug, Error)]
pub(in crate::orders) enum ApplyError {
    /// The rules reject it, with all violations. Never empty.
    #[error("{} rows cannot be applied", .0.len())]
    Rejected(Vec<UpdateViolation>),
    /// It names, or may change, shipments that the caller does not see. Never empty.
    #[error("{} shipments are not the caller's", .0.len())]
    Unseen(Vec<UnseenShipment>),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}
