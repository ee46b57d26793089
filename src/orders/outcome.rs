//! The outcome of an order update.

use crate::orders::violation::Violation;

/// The outcome of an order update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UpdateOutcome {
    /// All rows were applied.
    Applied,
    /// The request repeats an earlier one with the same idempotency key. Nothing was changed.
    Replayed(StoredResponse),
    /// The idempotency key was used for another request. Nothing was changed.
    KeyReused,
    /// The rules reject the update. Nothing was changed.
    Rejected {
        /// Why, for all violations together.
        cause: RejectionCause,
        /// All violations, at least one.
        violations: Vec<Violation>,
    },
}

/// Why the rules reject an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RejectionCause {
    /// Every violation names something that does not exist.
    NotFound,
    /// At least one violation is a conflict with the state of the orders.
    Conflict,
}

/// The response to an update, which the database stores for repeats of its idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredResponse {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The JSON.
    pub(crate) body: String,
}

impl UpdateOutcome {
    /// Rejected with these violations.
    pub(super) fn rejected(violations: Vec<Violation>) -> Self {
        let is_not_found = violations.iter().all(Violation::is_not_found);
        let cause = if is_not_found { RejectionCause::NotFound } else { RejectionCause::Conflict };
        Self::Rejected { cause, violations }
    }
}
