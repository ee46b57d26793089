//! Whether the tables fit the schema that is served, as far as is known.
//!
//! Owners change their tables while the server runs. A statement that does not fit them any more asks for the two to be compared again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Whether the tables fit the schema.
#[derive(Debug, Default)]
pub(crate) struct SchemaFit {
    /// Why the tables do not fit, by the last check.
    mismatch: Mutex<Option<Arc<String>>>,
    checks: Notify,
}

impl SchemaFit {
    /// The mismatch that the last check found.
    pub(crate) fn mismatch(&self) -> Option<Arc<String>> {
        self.locked().clone()
    }

    /// Asks for a check.
    pub(crate) fn request_check(&self) {
        self.checks.notify_one();
    }

    /// Waits until somebody asks for a check, or has done so since the last time.
    pub(crate) async fn check_requested(&self) {
        self.checks.notified().await;
    }

    /// The tables were checked.
    pub(crate) fn checked(&self, mismatch: Option<String>) {
        *self.locked() = mismatch.map(Arc::new);
    }

    fn locked(&self) -> MutexGuard<'_, Option<Arc<String>>> {
        self.mismatch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
