//! The outcome of an order update.

use crate::database::wal_position::WalPosition;
use crate::orders::error::messages;
use crate::orders::violation::Violation;

/// What became of an order update.
#[derive(Debug)]
pub(crate) struct Updated {
    pub(crate) outcome: UpdateOutcome,
    /// A position in the write-ahead log behind the update, if it is wanted and could be found out.
    pub(crate) position: Option<WalPosition>,
}

/// The outcome of an order update. The same for a request and for its repeats with the same idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UpdateOutcome {
    /// All rows were applied.
    Applied,
    /// The rules reject the update. Nothing was changed.
    Rejected {
        /// Why, for all violations together.
        cause: RejectionCause,
        /// The messages of the violations, at least one.
        errors: Vec<String>,
    },
    /// The idempotency key was used for another request. Nothing was changed.
    KeyReused,
    /// The caller has stored as many idempotency keys as it may. Nothing was changed.
    TooManyKeys,
}

/// Why the rules reject an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RejectionCause {
    /// Every violation names something that does not exist.
    NotFound,
    /// At least one violation is a conflict with the state of the orders.
    Conflict,
}

impl UpdateOutcome {
    /// Rejected with these violations.
    pub(super) fn rejected(violations: &[Violation]) -> Self {
        let is_not_found = violations.iter().all(Violation::is_not_found);
        let cause = if is_not_found { RejectionCause::NotFound } else { RejectionCause::Conflict };
        Self::Rejected { cause, errors: messages(violations) }
    }
}
