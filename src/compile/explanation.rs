//! Everything that is known about a request, whether or not it is admitted.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::compile::valid_operation::valid_operation;
use crate::cost::breakdown::{CostNode, breakdown};
use crate::cost::estimate::Estimate;
use crate::cost::evaluation::{Evaluation, evaluate};
use crate::cost::fields::{FieldCost, fields};
use crate::cost::limit_check::{CheckedGate, LimitCheck, check_response_size};
use crate::cost::limit_exceeded::response_too_large;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::planner::output::Output;
use crate::plan::planner::template;
use crate::plan::request_plan::Plan;
use crate::query::Request;
use crate::query::bind::bind;
use crate::query::bind::caller::Caller;
use crate::query::bind::resolve::resolve;
use crate::query::operation::Operation;

/// An explained request.
#[derive(Debug)]
pub struct Explanation {
    /// The operation's name, if it has one.
    pub operation_name: Option<Arc<str>>,
    /// The price as a tree that adds up.
    pub cost: Vec<CostNode>,
    /// The price.
    pub estimate: Estimate,
    /// Levels of object nesting.
    pub depth: u32,
    /// The limits that it was checked against.
    pub limits: Limits,
    /// The result of that check.
    pub check: LimitCheck,
    /// How many bytes the response may have, and are allowed.
    pub response_size: CheckedGate,
    /// The errors of a request that is not admitted.
    pub errors: Option<GraphqlErrors>,
    /// How it would be executed.
    pub plan: Plan,
}

impl Explanation {
    /// The price as a list of fields that adds up.
    pub fn fields(&self) -> Vec<FieldCost<'_>> {
        fields(&self.cost)
    }
}

/// Explains a request. As [`compile`](crate::compile::compile), but depth and cost above the limits are part of the result.
pub fn explain<'c>(
    catalog: &Catalog,
    request: &Request,
    caller: impl Into<Caller<'c>>,
) -> Result<Explanation, GraphqlErrors> {
    explain_operation(catalog, &valid_operation(catalog, request)?, request, caller.into())
}

/// Explains a request for an operation.
pub(crate) fn explain_operation(
    catalog: &Catalog,
    operation: &Operation,
    request: &Request,
    caller: Caller<'_>,
) -> Result<Explanation, GraphqlErrors> {
    let Caller { limits, rows } = caller;
    let resolved = resolve(catalog, operation, &request.variables, caller)?;
    let terms = resolved.terms(rows)?;
    let bound = bind(catalog, operation, &resolved);
    let Evaluation { estimate, check, errors } = evaluate(&bound, &resolved.values, limits);
    let (depth, cost) = (estimate.depth(), breakdown(&bound, &estimate));
    let template = Arc::new(template(catalog, &bound, &terms.shapes, Output::Data)?);
    let plan = Plan::new(template, resolved.values, terms, rows.clone());
    let response_size = check_response_size(plan.max_response_bytes(), estimate.cost(), limits);
    let too_large = || (!response_size.is_passed()).then(|| response_too_large(&response_size));
    let (errors, operation_name) = (errors.or_else(too_large), operation.name.clone());
    Ok(Explanation { operation_name, cost, estimate, depth, limits: *limits, check, response_size, errors, plan })
}
