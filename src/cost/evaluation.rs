//! What a request costs, and whether its caller may run it.

use crate::cost::depth::depth;
use crate::cost::estimate::{Estimate, estimate};
use crate::cost::limit_check::{LimitCheck, check_limits};
use crate::cost::limit_exceeded;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::query::bind::selection::BoundOperation;
use crate::query::bind::step_values::StepValues;

/// Depth and price of a request, and how they compare with its caller's limits.
pub(crate) struct Evaluation {
    pub(crate) depth: u32,
    pub(crate) estimate: Estimate,
    pub(crate) check: LimitCheck,
    /// The errors of a request that is not admitted.
    pub(crate) errors: Option<GraphqlErrors>,
}

/// Depth and price of a request that is within the limits.
pub(crate) struct Admitted {
    pub(crate) depth: u32,
    pub(crate) estimate: Estimate,
}

/// Evaluates a request with these values.
pub(crate) fn evaluate(operation: &BoundOperation<'_>, values: &[StepValues], limits: &Limits) -> Evaluation {
    let (depth, estimate) = (depth(operation), estimate(operation, values));
    let check = check_limits(depth, estimate.cost(), limits);
    let errors = limit_exceeded::errors(&check, operation, &estimate, limits);
    Evaluation { depth, estimate, check, errors }
}

impl Evaluation {
    /// Fails if the request is not admitted.
    pub(crate) fn admitted(self) -> Result<Admitted, GraphqlErrors> {
        let Self { depth, estimate, errors, .. } = self;
        errors.map_or(Ok(Admitted { depth, estimate }), Err)
    }
}
