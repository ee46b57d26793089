//! A valid operation with the plans and errors that requests for it had.

use std::collections::VecDeque;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::catalog::Catalog;
use crate::compile::compiled::Compiled;
use crate::compile::known_price::KnownPrice;
use crate::cost::estimate::Estimate;
use crate::cost::evaluation::evaluate;
use crate::cost::limit_check::{check_limits, check_response_size};
use crate::cost::limit_exceeded::response_too_large;
use crate::cost::operation_cost::OperationCost;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::planner::output::Output;
use crate::plan::planner::template;
use crate::plan::request_plan::Plan;
use crate::plan::template::PlanTemplate;
use crate::query::Variables;
use crate::query::bind::bind;
use crate::query::bind::caller::Caller;
use crate::query::bind::resolve::{Resolved, resolve};
use crate::query::bind::search_terms::StepTerms;
use crate::query::bind::shape::{Shape, TermShapes};
use crate::query::bind::step_values::StepValues;
use crate::query::operation::Operation;

/// The most plans that are cached for one operation. A client that puts search strings together needs some dozens at most. A
/// client with more than these pays for planning.
const MAX_PLANS: usize = 16;

/// A valid operation, and the results of requests for it.
#[derive(Debug)]
pub(super) struct CachedOperation {
    pub(super) operation: Operation,
    /// The largest plan that is cached because it is the same for every request.
    max_constant_bytes: usize,
    /// The plan of every request for it, if that is always the same.
    constant: OnceLock<CachedPlan>,
    plans: Mutex<CachedPlans>,
    /// The last request that was not admitted. Being rejected is free for the caller, so repeating it must be cheap.
    rejection: Mutex<Option<CachedRejection>>,
    /// The price of every request for it, once one of them was too expensive for its caller's bucket.
    known_price: Mutex<Option<KnownPrice>>,
}

/// The result of a request for a cached operation.
pub(super) struct CachedOutcome {
    pub(super) compiled: Compiled,
    /// Whether its plan was cached.
    pub(super) is_plan_known: bool,
}

impl CachedOutcome {
    /// Fails if the response may be too large.
    fn within(self, limits: &Limits) -> Result<Self, GraphqlErrors> {
        let Compiled { max_response_bytes, estimate, .. } = &self.compiled;
        let checked = check_response_size(*max_response_bytes, estimate.cost(), limits);
        if checked.is_passed() { Ok(self) } else { Err(response_too_large(&checked)) }
    }
}

impl CachedOperation {
    /// An operation without plans.
    pub(super) fn new(operation: Operation, max_constant_bytes: usize) -> Self {
        Self {
            operation,
            max_constant_bytes,
            constant: OnceLock::new(),
            plans: Mutex::default(),
            rejection: Mutex::default(),
            known_price: Mutex::default(),
        }
    }

    /// Compiles a request: resolve, estimate, admit, expand searches, plan. Results of earlier requests of the same shape are reused.
    /// `grown` is called when the operation takes more memory than before.
    pub(super) fn compile(
        &self,
        catalog: &Catalog,
        variables: &Variables,
        caller: Caller<'_>,
        output: Output<'_>,
        grown: impl Fn(),
    ) -> Result<CachedOutcome, GraphqlErrors> {
        let Caller { limits, rows } = caller;
        if let Some(plan) = self.constant.get()
            && let Some(estimate) = plan.admit(iter::empty(), limits)
        {
            let plan = Plan::new(plan.template(), Vec::new(), StepTerms::default(), rows.clone());
            let compiled = Compiled::new(&self.operation, estimate, plan);
            return CachedOutcome { compiled, is_plan_known: true }.within(limits);
        }
        let resolved = resolve(catalog, &self.operation, variables, caller)?;
        let estimate = match self.price(&resolved, limits) {
            Some(estimate) => estimate,
            None => match self.known_errors(&resolved, limits) {
                Some(errors) => return Err(errors),
                None => self.admit(catalog, &resolved, limits).inspect_err(|_| grown())?,
            },
        };
        let terms = resolved.terms(rows)?;
        let plan = self.plan(&resolved.shape, &terms.shapes);
        let is_plan_known = plan.is_some();
        let template = if let Some(plan) = plan {
            plan.template()
        } else {
            let bound = bind(catalog, &self.operation, &resolved);
            let template = Arc::new(template(catalog, &bound, &terms.shapes, output)?);
            let (shape, cost) = (resolved.shape.clone(), Arc::clone(estimate.operation_cost()));
            let plan = CachedPlan { shape, terms: terms.shapes.clone(), cost, template: Arc::clone(&template) };
            self.insert_plan(plan, resolved.constants.is_empty());
            grown();
            template
        };
        let plan = Plan::new(template, resolved.values, terms, rows.clone());
        let compiled = Compiled::new(&self.operation, estimate, plan);
        CachedOutcome { compiled, is_plan_known }.within(limits)
    }

    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let rejection = self.last_rejection().as_ref().map_or(0, CachedRejection::bytes);
        self.operation.bytes() + self.constant.get().map_or(0, CachedPlan::bytes) + self.plans().bytes + rejection
    }

    /// The price of every request for it, if it is known.
    pub(super) fn known_price(&self) -> MutexGuard<'_, Option<KnownPrice>> {
        self.known_price.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Depth and price of a request, if one of the same shape was planned, and this one is admitted.
    fn price(&self, resolved: &Resolved<'_>, limits: &Limits) -> Option<Estimate> {
        let plan = self.plans().find(|plan| plan.shape == resolved.shape)?;
        plan.admit(resolved.values.iter().map(StepValues::rows), limits)
    }

    /// The errors of the last request that was not admitted, if this one has the same.
    fn known_errors(&self, resolved: &Resolved<'_>, limits: &Limits) -> Option<GraphqlErrors> {
        let rejection = self.last_rejection();
        rejection.as_ref().filter(|last| last.is_of(resolved, limits)).map(|last| last.errors.clone())
    }

    /// Evaluates a request. Fails if it is not admitted, and keeps the errors.
    fn admit(&self, catalog: &Catalog, resolved: &Resolved<'_>, limits: &Limits) -> Result<Estimate, GraphqlErrors> {
        let evaluation = evaluate(&bind(catalog, &self.operation, resolved), &resolved.values, limits);
        evaluation.admitted().inspect_err(|errors| {
            let sizes = resolved.values.iter().map(StepValues::rows).collect();
            let (shape, limits, errors) = (resolved.shape.clone(), *limits, errors.clone());
            *self.last_rejection() = Some(CachedRejection { shape, sizes, limits, errors });
        })
    }

    /// The plan of a request with these shapes, if there is one.
    fn plan(&self, shape: &Shape, terms: &TermShapes) -> Option<Arc<CachedPlan>> {
        self.plans().find(|plan| plan.shape == *shape && plan.terms == *terms)
    }

    /// Inserts the plan of a request, which has results of introspection or none.
    fn insert_plan(&self, plan: CachedPlan, is_without_constants: bool) {
        if is_without_constants {
            return self.plans().insert(plan);
        }
        // The results of introspection are literals of the template, so it is valid for one set of values.
        let is_constant = plan.shape.steps.is_empty() && self.operation.variables.is_empty();
        if is_constant && plan.bytes() <= self.max_constant_bytes {
            // Another request may have inserted this plan already.
            let _ = self.constant.set(plan);
        }
    }

    fn last_rejection(&self) -> MutexGuard<'_, Option<CachedRejection>> {
        self.rejection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plans(&self) -> MutexGuard<'_, CachedPlans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that was not admitted, and its errors. They depend on its shape, its page sizes and the limits.
#[derive(Debug)]
struct CachedRejection {
    shape: Shape,
    sizes: Vec<u32>,
    limits: Limits,
    errors: GraphqlErrors,
}

impl CachedRejection {
    /// Whether a request for the same operation has the same errors.
    fn is_of(&self, resolved: &Resolved<'_>, limits: &Limits) -> bool {
        self.limits == *limits
            && self.shape == resolved.shape
            && resolved.values.iter().map(StepValues::rows).eq(self.sizes.iter().copied())
    }

    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        self.shape.bytes() + size_of_val(self.sizes.as_slice()) + self.errors.bytes()
    }
}

/// The plan and the cost of requests that have the same shape.
#[derive(Debug)]
struct CachedPlan {
    shape: Shape,
    terms: TermShapes,
    cost: Arc<OperationCost>,
    template: Arc<PlanTemplate>,
}

impl CachedPlan {
    /// Depth and price of a request with these page sizes, if it is admitted.
    fn admit(&self, sizes: impl Iterator<Item = u32>, limits: &Limits) -> Option<Estimate> {
        let estimate = Estimate::new(Arc::clone(&self.cost), sizes);
        check_limits(estimate.depth(), estimate.cost(), limits).is_admitted().then_some(estimate)
    }

    /// The template of the plan.
    fn template(&self) -> Arc<PlanTemplate> {
        Arc::clone(&self.template)
    }

    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        self.shape.bytes() + self.terms.bytes() + self.template.bytes() + self.cost.bytes()
    }
}

/// The newest plans of one operation, the oldest first.
#[derive(Debug, Default)]
struct CachedPlans {
    plans: VecDeque<Arc<CachedPlan>>,
    bytes: usize,
}

impl CachedPlans {
    fn find(&self, is_wanted: impl Fn(&CachedPlan) -> bool) -> Option<Arc<CachedPlan>> {
        self.plans.iter().find(|plan| is_wanted(plan)).map(Arc::clone)
    }

    fn insert(&mut self, plan: CachedPlan) {
        if self.find(|other| other.shape == plan.shape && other.terms == plan.terms).is_some() {
            return;
        }
        self.bytes += plan.bytes();
        self.plans.push_back(Arc::new(plan));
        if self.plans.len() > MAX_PLANS
            && let Some(oldest) = self.plans.pop_front()
        {
            self.bytes -= oldest.bytes();
        }
    }
}
