//! When the statement of a plan ran, and how many rows each of its branches returned: for the log of slow queries, for traces, and for
//! clients that ask. What is recorded stays when the execution is given up.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The record of a plan's statement.
#[derive(Debug, Default)]
pub struct StatementLog {
    sent: OnceLock<Instant>,
    end: OnceLock<(Instant, Box<[u64]>)>,
}

/// How far a statement came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementState<'a> {
    /// It was not sent.
    Unsent,
    /// It was sent, then.
    Running(Instant),
    /// All of its rows are there.
    Done {
        /// When it was sent.
        sent: Instant,
        /// How long it took.
        time: Duration,
        /// How many rows each step has.
        rows: &'a [u64],
    },
}

impl StatementLog {
    /// How far the statement came.
    pub(crate) fn state(&self) -> StatementState<'_> {
        match (self.sent.get(), self.end.get()) {
            (None, _) => StatementState::Unsent,
            (Some(sent), None) => StatementState::Running(*sent),
            (Some(sent), Some((end, rows))) => {
                StatementState::Done { sent: *sent, time: end.duration_since(*sent), rows }
            }
        }
    }

    /// The statement was sent.
    pub(super) fn begin(&self, sent: Instant) {
        // A statement that is run once more is recorded from its first attempt on.
        let _ = self.sent.set(sent);
    }

    /// All rows are there: so many of each step.
    pub(super) fn end(&self, end: Instant, rows: impl FnOnce() -> Box<[u64]>) {
        self.end.get_or_init(|| (end, rows()));
    }
}
