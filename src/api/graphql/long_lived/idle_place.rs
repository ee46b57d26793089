//! The place of an export while the export does nothing: while it waits for its client to read, or for credits.
//!
//! Few exports run at the same time, and each has a transaction. One that has waited for long in all gives its place up once another caller
//! waits for one. Its client can go on with another export, which then waits for its turn.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time;

use crate::replicas::read_servers::ExportPlace;

/// How often a place that an export has kept for long enough is looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// A place that is not in use. If it is dropped, the transaction is rolled back.
pub(crate) struct IdlePlace {
    since: Instant,
    /// Dropped when the place is used again.
    resume: oneshot::Sender<()>,
    kept: JoinHandle<Option<ExportPlace>>,
}

impl IdlePlace {
    /// Keeps a place. After `left`, it is kept only until another export waits for it.
    pub(crate) fn new(place: ExportPlace, left: Duration) -> Self {
        let (resume, resumed) = oneshot::channel();
        Self { since: Instant::now(), resume, kept: tokio::spawn(keep(place, left, resumed)) }
    }

    /// Completes when the place has been given up. It cannot be resumed then.
    pub(crate) async fn given_up(&mut self) {
        let _ = (&mut self.kept).await;
    }

    /// The place, unless it has been given up, and for how long it was not used.
    pub(crate) async fn resume(self) -> (Option<ExportPlace>, Duration) {
        let Self { since, resume, kept } = self;
        drop(resume);
        (kept.await.ok().flatten(), since.elapsed())
    }
}

async fn keep(place: ExportPlace, left: Duration, mut resumed: oneshot::Receiver<()>) -> Option<ExportPlace> {
    let mut wait = left;
    // The sender sends nothing: it is dropped.
    while time::timeout(wait, &mut resumed).await.is_err() {
        if place.is_wanted() {
            return None;
        }
        wait = INTERVAL;
    }
    Some(place)
}
