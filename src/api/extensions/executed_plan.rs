//! How a query was executed, beside its data, for clients that ask for it and may see plans: the rows of each branch of its statement,
//! and the statement's time.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::execute::statement_log::{StatementLog, StatementState};
use crate::plan::request_plan::Plan;

/// The plan of a query, and its statement as it is executed.
#[derive(Debug)]
pub(crate) struct ExecutedPlan {
    plan: Arc<Plan>,
    log: Arc<StatementLog>,
}

impl ExecutedPlan {
    /// The statement that the log records.
    pub(crate) fn new(plan: Arc<Plan>, log: &Arc<StatementLog>) -> Self {
        Self { plan, log: Arc::clone(log) }
    }

    /// The plan as far as it was executed.
    pub(crate) fn extension(&self) -> PlanExtension<'_> {
        let (time, rows) = match self.log.state() {
            StatementState::Done { time, rows, .. } => (Some(milliseconds(time)), rows),
            StatementState::Unsent | StatementState::Running(_) => (None, &[][..]),
        };
        let branches = self.plan.steps().iter().enumerate();
        let branches = branches.map(|(id, step)| ExecutedBranch { field: &step.name, rows: rows.get(id).copied() });
        PlanExtension { milliseconds: time, branches: branches.collect() }
    }
}

/// `extensions.plan`.
#[derive(Debug, Serialize)]
pub(crate) struct PlanExtension<'a> {
    milliseconds: Option<f64>,
    branches: Vec<ExecutedBranch<'a>>,
}

/// A branch of the statement.
#[derive(Debug, Serialize)]
struct ExecutedBranch<'a> {
    field: &'a str,
    rows: Option<u64>,
}

/// Milliseconds, with as many decimals as mean something.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}
