//! The check of a query against its caller's limits. Every query passes it, whether it was compiled afresh or is cached, and
//! the cost report reads its result.

use crate::cost::price::Cost;
use crate::limits::Limits;

/// A limit that a query is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Levels of object nesting.
    Depth,
    /// The estimated cost.
    Cost,
}

impl Gate {
    /// Its name in the cost report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::Cost => "cost",
        }
    }
}

/// A gate, and what it compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedGate {
    /// The gate.
    pub gate: Gate,
    /// What the query has.
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

/// The result of the check: every gate, in the order in which they reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission([CheckedGate; 2]);

impl Admission {
    /// The gates, in order.
    pub fn gates(&self) -> &[CheckedGate] {
        &self.0
    }

    /// The first gate that rejects the query; `None` if it is admitted.
    pub fn rejected_by(&self) -> Option<&CheckedGate> {
        self.0.iter().find(|gate| !gate.is_passed())
    }

    /// Whether the query is admitted.
    pub fn is_admitted(&self) -> bool {
        self.rejected_by().is_none()
    }
}

/// Checks what a query measures against its caller's limits. A new limit is one more gate here.
pub fn admit(depth: u32, cost: Cost, limits: &Limits) -> Admission {
    // A page size is checked where it is read: `PageSize` is within the limit.
    let Limits { max_depth, max_cost: _, bucket_size: _, max_page_size: _ } = *limits;
    Admission([
        CheckedGate { gate: Gate::Depth, measured: depth.into(), limit: max_depth.into() },
        CheckedGate { gate: Gate::Cost, measured: cost, limit: limits.highest_cost() },
    ])
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
            let admission = admit(depth, cost, &limits);
            assert_eq!(admission.rejected_by().map(|gate| gate.gate), rejected_by, "{depth} {cost}");
            assert_eq!(admission.is_admitted(), rejected_by.is_none());
            assert_eq!(admission.gates().iter().map(|gate| gate.gate.name()).collect::<Vec<_>>(), ["depth", "cost"]);
        }
    }

    #[test]
    fn rejects_a_cost_that_the_bucket_can_never_hold() {
        let limits = Limits { max_cost: 10, bucket_size: 5, ..Limits::default() };
        for (cost, is_admitted) in [(5, true), (6, false), (10, false), (11, false)] {
            let admission = admit(0, cost, &limits);
            assert_eq!(admission.is_admitted(), is_admitted, "{cost}");
            assert_eq!(admission.gates()[1], CheckedGate { gate: Gate::Cost, measured: cost, limit: 5 });
        }
        assert!(admit(0, 10, &Limits { bucket_size: 10, ..limits }).is_admitted());
    }
}
