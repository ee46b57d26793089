//! The cost of a request, and whether its caller may run it.

use crate::cost::estimate::{Estimate, estimate};
use crate::cost::limit_check::{LimitCheck, check_limits};
use crate::cost::limit_exceeded;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::query::bind::selection::BoundOperation;
use crate::query::bind::step_values::StepValues;

/// Depth and price of a request, and how they compare with its caller's limits.
pub(crate) struct Evaluation {
    pub(crate) estimate: Estimate,
    pub(crate) check: LimitCheck,
    /// The errors of a request that is not admitted.
    pub(crate) errors: Option<GraphqlErrors>,
}

/// Evaluates a request with these values.
pub(crate) fn evaluate(operation: &BoundOperation<'_>, values: &[StepValues], limits: &Limits) -> Evaluation {
    let estimate = estimate(operation, values);
    let check = check_limits(estimate.depth(), estimate.cost(), limits);
    let errors = limit_exceeded::errors(&check, operation, &estimate, limits);
    Evaluation { estimate, check, errors }
}

impl Evaluation {
    /// Fails if the request is not admitted.
    pub(crate) fn admitted(self) -> Result<Estimate, GraphqlErrors> {
        self.errors.map_or(Ok(self.estimate), Err)
    }
}
