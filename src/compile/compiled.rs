//! A request that is ready to be executed.

use std::sync::Arc;

use crate::cost::estimate::Estimate;
use crate::plan::request_plan::Plan;
use crate::query::operation::Operation;
use crate::vocabulary::UnknownValue;

/// An admitted request: its price, and how to execute it.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The operation's name, if it has one.
    pub operation_name: Option<Arc<str>>,
    /// Its price.
    pub estimate: Estimate,
    /// How to fetch and write the response; shared with the response while it is written.
    pub plan: Arc<Plan>,
    /// The most bytes of the response's data, about.
    pub max_response_bytes: u64,
    /// Values in its search strings that are not in their keys' vocabularies. The rows are fetched all the same.
    pub unknown_values: Vec<UnknownValue>,
}

impl Compiled {
    pub(super) fn new(operation: &Operation, estimate: Estimate, plan: Plan) -> Self {
        Self {
            operation_name: operation.name.clone(),
            estimate,
            max_response_bytes: plan.max_response_bytes(),
            plan: Arc::new(plan),
            unknown_values: Vec::new(),
        }
    }
}
