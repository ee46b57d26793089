//! When the stages of a query ran, its plan and its charge: for the access log, the log of slow queries, and traces.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::execute::statement_log::{StatementLog, StatementState};
use crate::plan::request_plan::Plan;

/// When the stages of a query ran, as far as they began.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// From its text to its plan.
    pub compile: Option<Stage>,
    /// The plan of the query.
    pub plan: Option<Arc<Plan>>,
    /// Waiting for its caller's other queries, and for credits.
    pub admission: Option<Stage>,
    /// How long it waited for changes.
    pub parked: Duration,
    /// Waiting for a connection to the database, in the last attempt.
    pub connection: Option<Stage>,
    /// Since when it waits for one.
    pub(crate) waiting_since: Option<Instant>,
    /// How long it waited for connections of the attempts before.
    pub waited: Duration,
    pub statement: Arc<StatementLog>,
    /// Writing the response, or its first part.
    pub write: Option<Stage>,
    /// Credits that it is charged.
    pub cost: Option<u64>,
}

/// When a stage ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    /// Its beginning.
    pub start: Instant,
    pub end: Instant,
}

impl Stage {
    /// A stage that ends now.
    pub(crate) fn since(start: Instant) -> Self {
        Self { start, end: Instant::now() }
    }

    /// How long it took.
    pub(crate) fn time(self) -> Duration {
        self.end.duration_since(self.start)
    }
}

impl Timeline {
    /// From sending the statement to the last row that arrived.
    pub(crate) fn database(&self) -> Option<Stage> {
        match self.statement.state() {
            StatementState::Unsent => None,
            StatementState::Running(sent) => Some(Stage::since(sent)),
            StatementState::Done { sent, time, .. } => Some(Stage { start: sent, end: sent + time }),
        }
    }

    /// From now on a connection is waited for.
    pub(crate) fn wait_for_connection(&mut self) {
        self.waited += self.connection.take().map(Stage::time).unwrap_or_default();
        self.waiting_since = Some(Instant::now());
    }

    /// The connection is there, or there is none.
    pub(crate) fn end_of_wait(&mut self) {
        self.connection = self.waiting_since.take().map(Stage::since);
    }

    /// Waiting: for other queries, for credits and for connections, until now if it still waits.
    pub(crate) fn waiting(&self) -> Option<Duration> {
        let stages = [self.admission, self.connection, self.waiting_since.map(Stage::since)];
        let last = stages.into_iter().flatten().map(Stage::time).reduce(|one, other| one + other)?;
        Some(self.waited + last)
    }
}
