//! When the schema that is served is compared with the tables again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{self, Instant};

use crate::api::schema_fit::SchemaFit;

/// The pause after the first check. Each one that follows doubles it: requests that go on to fail must not have the schema read all
/// the time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The checks of a schema: when a request asks for one, and from time to time while the tables do not fit.
pub(super) struct SchemaChecks {
    fit: Arc<SchemaFit>,
    is_due: bool,
    last: Option<Instant>,
    pause: Duration,
}

impl SchemaChecks {
    /// No check was made yet.
    pub(super) fn new(fit: Arc<SchemaFit>) -> Self {
        Self { fit, is_due: false, last: None, pause: FIRST_PAUSE }
    }

    /// Waits until a check is due. If the future is dropped, the check stays due.
    pub(super) async fn due(&mut self) {
        if !self.is_due {
            self.fit.check_requested().await;
            self.is_due = true;
        }
        if let Some(last) = self.last {
            time::sleep_until(last + self.pause).await;
        }
    }

    /// A check is due at once.
    pub(super) fn request_at_once(&mut self) {
        (self.last, self.is_due) = (None, true);
    }

    /// A check was made. It is due once more if it did not find that the tables fit.
    pub(super) fn made(&mut self, fits: bool) {
        let now = Instant::now();
        let follows = self.last.is_some_and(|last| now.duration_since(last) < 2 * LONGEST_PAUSE);
        self.pause = if follows { LONGEST_PAUSE.min(2 * self.pause) } else { FIRST_PAUSE };
        (self.last, self.is_due) = (Some(now), !fits);
    }
}
