//! The check of a query against its caller's limits. Every query passes it, whether it was compiled afresh or is cached, and
//! the cost report reads its result.

use crate::cost::price::Cost;
use crate::limits::Limits;

/// A limit that a query is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Levels of object nesting.
    Depth,
    /// The estimated cost.
    Cost,
    /// The most bytes of the response's data.
    ResponseSize,
}

/// Bytes of a response for each credit that its query costs, whatever the limit is. A field with a value has some dozens.
const BYTES_PER_CREDIT: u64 = 1024;

impl Gate {
    /// Its name in the cost report.
    #[cfg_attr(not(feature = "server"), allow(dead_code, reason = "the server reports it"))]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::Cost => "cost",
            Self::ResponseSize => "responseSize",
        }
    }
}

/// A gate, and what it compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedGate {
    pub(crate) gate: Gate,
    /// The query's number.
    pub measured: u64,
    /// The most that the caller may have.
    pub limit: u64,
}

impl CheckedGate {
    /// Whether the query is within the limit.
    pub fn is_passed(&self) -> bool {
        self.measured <= self.limit
    }
}

/// The result of the check: every gate before planning, in the order in which they reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitCheck([CheckedGate; 2]);

impl LimitCheck {
    /// The gates, in order.
    #[cfg_attr(not(feature = "server"), allow(dead_code, reason = "the server reports it"))]
    pub(crate) fn gates(&self) -> &[CheckedGate] {
        &self.0
    }

    /// The first gate that rejects the query; `None` if it is admitted.
    pub(crate) fn rejected_by(&self) -> Option<&CheckedGate> {
        self.0.iter().find(|gate| !gate.is_passed())
    }

    /// Whether the query is admitted.
    pub fn is_admitted(&self) -> bool {
        self.rejected_by().is_none()
    }
}

/// Checks what a query measures against its caller's limits. A new limit is one more gate here.
pub fn check_limits(depth: u32, cost: Cost, limits: &Limits) -> LimitCheck {
    // A page size is checked where it is read: `PageSize` is within the limit. How large a response may be is known once it is planned.
    let Limits { max_depth, max_cost: _, bucket_size: _, max_page_size: _, response_size: _ } = *limits;
    LimitCheck([
        CheckedGate { gate: Gate::Depth, measured: depth.into(), limit: max_depth.into() },
        CheckedGate { gate: Gate::Cost, measured: cost, limit: limits.highest_cost() },
    ])
}

/// Checks how many bytes the response to a query of this cost may have. A query that costs nothing reads no rows: the results of introspection
/// have a bound of their own, which grows with the schema.
pub(crate) fn check_response_size(bytes: u64, cost: Cost, limits: &Limits) -> CheckedGate {
    let free = if cost == 0 { bytes } else { 0 };
    let limit = limits.response_size.max(cost.saturating_mul(BYTES_PER_CREDIT)).max(free);
    CheckedGate { gate: Gate::ResponseSize, measured: bytes, limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_by_the_first_gate_that_is_exceeded() {
        let limits = Limits { max_depth: 2, max_cost: 10, ..Limits::default() };
        for (depth, cost, rejected_by) in [
            (0, 0, None),
            (2, 10, None),
            (3, 10, Some(Gate::Depth)),
            (2, 11, Some(Gate::Cost)),
            (3, 11, Some(Gate::Depth)),
            (u32::MAX, u64::MAX, Some(Gate::Depth)),
        ] {
            let check = check_limits(depth, cost, &limits);
            assert_eq!(check.rejected_by().map(|gate| gate.gate), rejected_by, "{depth} {cost}");
            assert_eq!(check.is_admitted(), rejected_by.is_none());
            assert_eq!(check.gates().iter().map(|gate| gate.gate.name()).collect::<Vec<_>>(), ["depth", "cost"]);
        }
    }

    #[test]
    fn a_response_may_be_as_large_as_the_limit_or_as_its_credits_pay_for() {
        let limits = Limits { response_size: 10_000, ..Limits::default() };
        for (cost, limit) in [(0, 10_000), (9, 10_000), (10, 10_240), (u64::MAX, u64::MAX)] {
            assert!(check_response_size(limit, cost, &limits).is_passed());
            assert_eq!(check_response_size(0, cost, &limits).limit, limit, "{cost}");
        }
        assert!(!check_response_size(10_001, 9, &limits).is_passed());
    }

    #[test]
    fn rejects_a_cost_that_the_bucket_can_never_hold() {
        let limits = Limits { max_cost: 10, bucket_size: 5, ..Limits::default() };
        for (cost, is_admitted) in [(5, true), (6, false), (10, false), (11, false)] {
            let check = check_limits(0, cost, &limits);
            assert_eq!(check.is_admitted(), is_admitted, "{cost}");
            assert_eq!(check.gates()[1], CheckedGate { gate: Gate::Cost, measured: cost, limit: 5 });
        }
        assert!(check_limits(0, 10, &Limits { bucket_size: 10, ..limits }).is_admitted());
    }
}
