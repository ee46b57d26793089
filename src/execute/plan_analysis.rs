//! The time, rows and buffers of a statement and each of its branches, by `EXPLAIN (ANALYZE)`.

use std::time::Instant;

use serde::Serialize;
use serde_json::Value as Json;

use crate::database::connection::own_connection::OwnConnection;
use crate::execute::error::ExecuteError;
use crate::execute::sql_literal::arguments;
use crate::execute::statement_log::StatementLog;
use crate::plan::request_plan::Plan;
use crate::plan::step::Step;
use crate::query::bind::step_id::StepId;

/// The times of a statement, and the analyses of its branches.
#[derive(Debug, Default)]
pub struct PlanAnalysis {
    /// Milliseconds of planning.
    pub(crate) planning: f64,
    /// Milliseconds of the execution, with what measuring takes.
    pub(crate) execution: f64,
    /// By step. `None` where PostgreSQL's plan has no node for the page.
    pub(crate) branches: Vec<Option<BranchAnalysis>>,
}

/// The time, rows and buffers of a branch's page, for all of its parents together, without the branches below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchAnalysis {
    pub(crate) milliseconds: f64,
    /// With the row that follows each page. Before version 18, PostgreSQL reports the average of all pages as a whole number.
    pub(crate) rows: u64,
    /// Blocks that were in PostgreSQL's memory.
    pub(crate) buffers_hit: u64,
    /// Blocks that were not.
    pub(crate) buffers_read: u64,
}

/// Runs the statement of a plan, and records it.
pub(crate) async fn analyze(
    connection: OwnConnection,
    plan: &Plan,
    log: &StatementLog,
) -> Result<PlanAnalysis, ExecuteError> {
    log.prepare(connection.backend(), Instant::now());
    log.begin(Instant::now());
    match connection.explain_analyze(plan.sql(), &arguments(plan)).await {
        Ok(text) => {
            connection.release();
            let analysis = PlanAnalysis::read(plan.steps(), &text).ok_or(ExecuteError::Misshapen)?;
            let rows = analysis.branches.iter().map(|branch| branch.map_or(0, |branch| branch.rows));
            log.end(Instant::now(), || rows.collect());
            Ok(analysis)
        }
        Err(error) => {
            // It may still have the prepared statement.
            connection.discard();
            Err(error.into())
        }
    }
}

impl PlanAnalysis {
    /// Reads PostgreSQL's report.
    fn read(steps: &[Step], text: &str) -> Option<Self> {
        let report: Json = serde_json::from_str(text).ok()?;
        let report = report.get(0)?;
        let number = |name: &str| report[name].as_f64();
        let (planning, execution) = (number("Planning Time")?, number("Execution Time")?);
        let mut analysis = Self { planning, execution, branches: vec![None; steps.len()] };
        let root = &report["Plan"];
        let branches = steps.iter().filter(|step| step.parent.is_none()).count();
        analysis.branches(steps, None, if branches == 1 { std::slice::from_ref(root) } else { children(root) });
        Some(analysis)
    }

    /// Reads the branches below a step, whose nodes have their order. A branch with others below it is a loop over its page, which appends
    /// their rows to each row.
    fn branches(&mut self, steps: &[Step], parent: Option<StepId>, nodes: &[Json]) {
        let ids = (0..steps.len()).filter(|id| steps[*id].parent == parent);
        for (id, node) in ids.zip(nodes) {
            let has_children = steps.iter().any(|step| step.parent == Some(id));
            if !has_children {
                self.branches[id] = BranchAnalysis::of(node);
            } else if let Some([page, below]) = within(node, "Nested Loop") {
                self.branches[id] = BranchAnalysis::of(page);
                // The first part is the page's row itself.
                if let Some([_, nodes @ ..]) = within(below, "Append") {
                    self.branches(steps, Some(id), nodes);
                }
            }
        }
    }
}

impl BranchAnalysis {
    fn of(node: &Json) -> Option<Self> {
        let number = |name: &str| node[name].as_f64();
        let loops = number("Actual Loops")?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of rows")]
        let rows = (number("Actual Rows")? * loops).round() as u64;
        let blocks = |name: &str| node[name].as_u64().unwrap_or(0);
        Some(Self {
            milliseconds: (number("Actual Total Time")? * loops * 1e3).round() / 1e3,
            rows,
            buffers_hit: blocks("Shared Hit Blocks"),
            buffers_read: blocks("Shared Read Blocks"),
        })
    }
}

fn children(node: &Json) -> &[Json] {
    node["Plans"].as_array().map_or(&[], Vec::as_slice)
}

/// The children of the next node of a kind, below nodes that pass rows on.
fn within<'p>(mut node: &'p Json, kind: &str) -> Option<&'p [Json]> {
    while node["Node Type"] != kind {
        let [only] = children(node) else { return None };
        node = only;
    }
    Some(children(node))
}
