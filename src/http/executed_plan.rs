//! How a query was executed, beside its data, for clients that ask for it and may see plans: the rows that each statement
//! returned, and its time.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::execute::step_log::{StepLog, StepState};

/// The steps of a query by their names, as they are executed.
#[derive(Debug)]
pub(crate) struct ExecutedPlan {
    names: Vec<String>,
    log: Arc<StepLog>,
}

impl ExecutedPlan {
    /// The steps that the log records.
    pub(crate) fn new(names: Vec<String>, log: &Arc<StepLog>) -> Self {
        Self { names, log: Arc::clone(log) }
    }

    /// The plan as far as it was executed.
    pub(crate) fn extension(&self) -> PlanExtension<'_> {
        let statements = self.log.states().zip(&self.names).map(|(state, field)| match state {
            StepState::Done { time, rows, .. } => {
                ExecutedStatement { field, rows: Some(rows), milliseconds: Some(milliseconds(time)) }
            }
            StepState::Unsent | StepState::Running(_) => ExecutedStatement { field, rows: None, milliseconds: None },
        });
        PlanExtension { statements: statements.collect() }
    }
}

/// `extensions.plan`.
#[derive(Debug, Serialize)]
pub(crate) struct PlanExtension<'a> {
    statements: Vec<ExecutedStatement<'a>>,
}

/// A statement. It has neither rows nor a time if it was not needed, because no row was there that it would have begun at.
#[derive(Debug, Serialize)]
struct ExecutedStatement<'a> {
    field: &'a str,
    rows: Option<u64>,
    milliseconds: Option<f64>,
}

/// Milliseconds, with as many decimals as mean something.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 1e2
}
