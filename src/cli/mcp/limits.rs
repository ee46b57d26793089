//! The limits that an agent sets for a query.

use serde_json::Value;

/// The highest cost of a query if neither the agent nor the caller's bucket says it.
const DEFAULT_COST: u64 = 200;

/// The highest cost of a query, and the most bytes of its data.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryLimits {
    /// `None` for what the caller's bucket can pay twice.
    pub(super) max_cost: Option<u64>,
    pub(super) max_bytes: usize,
}

impl QueryLimits {
    /// The highest cost of a query. The report has the caller's bucket and limit.
    pub(super) fn cost(&self, report: &Value) -> u64 {
        let twice = report["throttleStatus"]["maximumAvailable"].as_u64().map(|bucket| bucket / 2);
        let default = twice.unwrap_or(DEFAULT_COST).min(report["maxCost"].as_u64().unwrap_or(u64::MAX)).max(1);
        self.max_cost.unwrap_or(default)
    }
}
