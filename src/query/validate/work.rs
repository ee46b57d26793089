//! How much work a document is to check. Most rules visit each of its parts once, and the document's limits bound that. What
//! is counted here can grow faster: every operation is checked together with all fragments that it spreads.

use std::cell::Cell;

use crate::query::document_limits::MAX_WORK;

/// A count of visits, up to a limit. It is no time, so the same document always has the same result.
#[derive(Debug, Default)]
pub(super) struct Work {
    visits: Cell<usize>,
}

impl Work {
    /// Adds visits. Returns whether the document may have more of them.
    pub(super) fn add(&self, visits: usize) -> bool {
        self.visits.set(self.visits.get().saturating_add(visits));
        !self.is_too_much()
    }

    /// Whether the document is too much work. Rules stop then; what they have not found does not matter.
    pub(super) fn is_too_much(&self) -> bool {
        self.visits.get() > MAX_WORK
    }

    #[cfg(test)]
    pub(super) fn visits(&self) -> usize {
        self.visits.get()
    }
}
