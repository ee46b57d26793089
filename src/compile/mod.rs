//! The pure half as one function: from text to plan, or to the refusals that say why not.
//!
//! - [`compile`], [`explain`]: the way from end to end, each time
//! - [`Compiler`]: the same with a memory of texts that were valid, and of the forms that requests for them had

mod cache;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::cost::admit::admit;
use crate::cost::breakdown::{CostNode, breakdown};
use crate::cost::depth::depth;
use crate::cost::estimate::{Estimate, estimate};
use crate::cost::fields::{FieldCost, fields};
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::build::template;
use crate::plan::{Plan, PlanTemplate};
use crate::query::Request;
use crate::query::bind::bind;
use crate::query::bind::resolve::{Resolved, StepArguments, resolve};
use crate::query::operation::Operation;
use crate::query::parse::Source;
use crate::query::validate::validate;

pub use cache::Compiler;

/// What a request comes to: its price, and how to answer it.
#[derive(Debug)]
pub struct Compiled {
    /// The operation's name, where it has one.
    pub operation_name: Option<Arc<str>>,
    /// Its price.
    pub estimate: Estimate,
    /// How to fetch and write the answer; shared with the answer while it is written.
    pub plan: Arc<Plan>,
}

/// Compiles a request: parse, validate, resolve, bind, estimate, admit, plan. Pure: the same request has the same result.
pub fn compile(catalog: &Catalog, request: &Request, limits: &Limits) -> Result<Compiled, GraphqlErrors> {
    let operation = operation(catalog, request)?;
    let resolved = resolve(catalog, &operation, &request.variables, limits)?;
    let Admitted { estimate, template, .. } = admitted(catalog, &operation, &resolved, limits)?;
    Ok(compiled(&operation, resolved.steps, estimate, template))
}

fn compiled(
    operation: &Operation,
    arguments: Vec<StepArguments>,
    estimate: Estimate,
    template: Arc<PlanTemplate>,
) -> Compiled {
    let plan = Arc::new(Plan::new(template, arguments));
    Compiled { operation_name: operation.name.clone(), estimate, plan }
}

/// A request that is within the limits.
struct Admitted {
    depth: u32,
    estimate: Estimate,
    template: Arc<PlanTemplate>,
}

fn admitted(
    catalog: &Catalog,
    operation: &Operation,
    resolved: &Resolved<'_>,
    limits: &Limits,
) -> Result<Admitted, GraphqlErrors> {
    let bound = bind(catalog, operation, resolved);
    let estimate = estimate(&bound);
    let depth = admit(&estimate, &bound, limits)?;
    Ok(Admitted { depth, estimate, template: Arc::new(template(catalog, &bound)) })
}

fn operation(catalog: &Catalog, request: &Request) -> Result<Operation, GraphqlErrors> {
    let source = Source::read(&request.query)?;
    let document = source.parse()?;
    validate(catalog, &document, request.operation_name.as_deref())
}

/// A request laid open, whether or not it would be admitted.
#[derive(Debug)]
pub struct Explanation {
    /// The operation's name, where it has one.
    pub operation_name: Option<Arc<str>>,
    /// The price as a tree that adds up.
    pub cost: Vec<CostNode>,
    /// The price.
    pub estimate: Estimate,
    /// Levels of object nesting.
    pub depth: u32,
    /// What it was held to.
    pub limits: Limits,
    /// Why it would not be admitted.
    pub refusals: Option<GraphqlErrors>,
    /// How it would be answered.
    pub plan: Plan,
}

impl Explanation {
    /// The price as a list of fields that adds up.
    pub fn fields(&self) -> Vec<FieldCost<'_>> {
        fields(&self.cost)
    }
}

/// Explains a request: as [`compile`], but depth and cost beyond the limits are told beside the rest.
pub fn explain(catalog: &Catalog, request: &Request, limits: &Limits) -> Result<Explanation, GraphqlErrors> {
    explain_operation(catalog, &operation(catalog, request)?, request, limits)
}

fn explain_operation(
    catalog: &Catalog,
    operation: &Operation,
    request: &Request,
    limits: &Limits,
) -> Result<Explanation, GraphqlErrors> {
    let resolved = resolve(catalog, operation, &request.variables, limits)?;
    let bound = bind(catalog, operation, &resolved);
    let estimate = estimate(&bound);
    let (cost, depth) = (breakdown(&bound), depth(&bound, limits.max_depth).levels);
    let refusals = admit(&estimate, &bound, limits).err();
    let template = Arc::new(template(catalog, &bound));
    let plan = Plan::new(template, resolved.steps);
    let operation_name = operation.name.clone();
    Ok(Explanation { operation_name, cost, estimate, depth, limits: *limits, refusals, plan })
}
