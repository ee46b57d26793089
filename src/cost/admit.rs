//! Whether an operation's depth and cost are within the caller's limits.

use std::fmt;

use serde_json::json;

use crate::cost::Cost;
use crate::cost::depth::depth;
use crate::limits::Limits;
use crate::query::bind::BoundOperation;
use crate::refusal::{Code, Facts, Reason, Refusal, Refusals};

/// Holds depth, then cost, against the limits.
pub fn admit(cost: Cost, operation: &BoundOperation<'_>, limits: &Limits) -> Result<(), Refusals> {
    let depth = depth(operation, limits.max_depth);
    if depth.levels > limits.max_depth {
        let excess = Excess::Depth { depth: depth.levels, max_depth: limits.max_depth };
        return Err(Refusals::one(Refusal::new(&excess, depth.beyond)));
    }
    if cost > limits.max_cost {
        let excess = Excess::Cost { estimated_cost: cost, max_cost: limits.max_cost };
        return Err(Refusals::one(Refusal::new(&excess, [])));
    }
    Ok(())
}

/// More than a caller may ask.
#[derive(Debug)]
enum Excess {
    Depth { depth: u32, max_depth: u32 },
    Cost { estimated_cost: Cost, max_cost: Cost },
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth { depth, max_depth } => {
                write!(f, "the query nests {depth} levels of objects; at most {max_depth} are allowed; split it")
            }
            Self::Cost { estimated_cost, max_cost } => write!(
                f,
                "the query's estimated cost is {estimated_cost}; at most {max_cost} is allowed; reduce nested page sizes \
                 or select fewer nested collections"
            ),
        }
    }
}

impl Reason for Excess {
    fn code(&self) -> Code {
        match self {
            Self::Depth { .. } => Code::DepthExceeded,
            Self::Cost { .. } => Code::CostExceeded,
        }
    }

    fn facts(&self) -> Facts {
        let facts = match self {
            Self::Depth { depth, max_depth } => [("depth", json!(depth)), ("maxDepth", json!(max_depth))],
            Self::Cost { estimated_cost, max_cost } => {
                [("estimatedCost", json!(estimated_cost)), ("maxCost", json!(max_cost))]
            }
        };
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}
