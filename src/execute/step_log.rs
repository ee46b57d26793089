//! When the steps of a plan ran, and how many rows they fetched: for the log of slow queries and for traces. What is recorded
//! stays when the execution is given up.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::database::metrics::{Operation, record};
use crate::execute::error::ExecuteError;
use crate::query::bind::ids::StepId;

/// The record of a plan's steps.
#[derive(Debug, Default)]
pub struct StepLog(Vec<Entry>);

#[derive(Debug, Default)]
struct Entry {
    sent: OnceLock<Instant>,
    end: OnceLock<(Instant, u64)>,
}

/// How far a step came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepState {
    /// It waited for its parents.
    Unsent,
    /// Its statement was sent, then.
    Running(Instant),
    /// All of its rows are there.
    Done {
        /// When its statement was sent.
        sent: Instant,
        /// How long it took.
        time: Duration,
        /// How many rows it fetched.
        rows: u64,
    },
}

impl StepLog {
    /// The record of so many steps, of which none has begun.
    pub fn new(steps: usize) -> Self {
        Self((0..steps).map(|_| Entry::default()).collect())
    }

    /// How far each step came.
    pub(crate) fn states(&self) -> impl Iterator<Item = StepState> {
        self.0.iter().map(|entry| match (entry.sent.get(), entry.end.get()) {
            (None, _) => StepState::Unsent,
            (Some(sent), None) => StepState::Running(*sent),
            (Some(sent), Some((end, rows))) => {
                StepState::Done { sent: *sent, time: end.duration_since(*sent), rows: *rows }
            }
        })
    }

    /// A step has begun, if it had not before.
    pub(super) fn begin(&self, step: StepId) {
        if let Some(entry) = self.0.get(step) {
            entry.sent.get_or_init(Instant::now);
        }
    }

    /// All rows of a step are there.
    pub(super) fn end(&self, step: StepId, rows: u64) {
        if let Some(entry) = self.0.get(step) {
            entry.end.get_or_init(|| (Instant::now(), rows));
        }
    }

    /// Runs a step, records it, and measures its statement. The step returns how many rows it fetched.
    pub(super) async fn recorded(
        &self,
        step: StepId,
        running: impl Future<Output = Result<usize, ExecuteError>>,
    ) -> Result<(), ExecuteError> {
        let sent = Instant::now();
        let entry = self.0.get(step);
        if let Some(entry) = entry {
            // Each step runs once, so its cells are empty.
            let _ = entry.sent.set(sent);
        }
        let result = running.await;
        let end = Instant::now();
        match &result {
            Ok(rows) => {
                record(Operation::Select, end.duration_since(sent), None);
                if let Some(entry) = entry {
                    let _ = entry.end.set((end, *rows as u64));
                }
            }
            Err(ExecuteError::Database(error)) => record(Operation::Select, end.duration_since(sent), Some(error)),
            Err(ExecuteError::UnwritableType(_) | ExecuteError::Misshapen) => {}
        }
        result.map(drop)
    }
}
