//! What an agent wants to spend on a query.

use serde_json::Value;

/// What a query may cost if neither the agent nor the caller's bucket says it.
const DEFAULT_COST: u64 = 200;

/// What a query may cost, and the bytes of its data.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryLimits {
    /// `None` for what the caller's bucket can pay twice.
    pub(super) max_cost: Option<u64>,
    pub(super) max_bytes: usize,
}

impl QueryLimits {
    /// What a query may cost. The report has the caller's bucket and limit.
    pub(super) fn cost(&self, report: &Value) -> u64 {
        let twice = report["throttleStatus"]["maximumAvailable"].as_u64().map(|bucket| bucket / 2);
        let default = twice.unwrap_or(DEFAULT_COST).min(report["maxCost"].as_u64().unwrap_or(u64::MAX)).max(1);
        self.max_cost.unwrap_or(default)
    }
}
