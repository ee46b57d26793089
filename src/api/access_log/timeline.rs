//! When the stages of a query ran, and its plan: for the access log, the log of slow queries, and traces.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::execute::statement_log::{StatementLog, StatementState};
use crate::plan::request_plan::Plan;

/// When the stages of a query ran, as far as it came.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// From its text to its plan.
    pub compile: Option<Stage>,
    /// That plan.
    pub plan: Option<Arc<Plan>>,
    /// Waiting for its caller's other queries, and for credits.
    pub admission: Option<Stage>,
    /// How long it waited for changes.
    pub parked: Duration,
    /// Waiting for a connection to the database.
    pub connection: Option<Stage>,
    pub statement: Arc<StatementLog>,
    /// Writing the response, or its first part.
    pub write: Option<Stage>,
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

    /// Waiting: for other queries, for credits and for a connection.
    pub(crate) fn waiting(&self) -> Option<Duration> {
        let stages = [self.admission, self.connection];
        stages.into_iter().flatten().map(Stage::time).reduce(|one, other| one + other)
    }
}
