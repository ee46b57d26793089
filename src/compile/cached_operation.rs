//! A valid operation with the plans and errors that requests for it had.

use std::collections::VecDeque;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::catalog::Catalog;
use crate::catalog::scope::RowScope;
use crate::compile::compiled::Compiled;
use crate::compile::known_price::KnownPrice;
use crate::cost::connection_price::ConnectionPrices;
use crate::cost::estimate::Estimate;
use crate::cost::evaluation::{Admitted, evaluate};
use crate::cost::limit_check::{check_limits, check_response_size};
use crate::cost::limit_exceeded::response_too_large;
use crate::cost::price_key::PriceKey;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::build::output::Output;
use crate::plan::build::template;
use crate::plan::plan_key::PlanKey;
use crate::plan::template::PlanTemplate;
use crate::query::Variables;
use crate::query::bind::bind;
use crate::query::bind::resolve::{Priced, Resolved, StepArguments, resolve};
use crate::query::bind::search_terms::StepTerms;
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
pub(super) struct Outcome {
    pub(super) compiled: Compiled,
    /// Whether its plan was cached.
    pub(super) is_plan_known: bool,
}

impl Outcome {
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

    /// Compiles a request: resolve, estimate, admit, expand searches, plan, as far as that is not known from requests like it.
    /// `grown` is called when the operation takes more memory than before.
    pub(super) fn compile(
        &self,
        catalog: &Catalog,
        variables: &Variables,
        (limits, rows): (&Limits, &RowScope),
        output: Output<'_>,
        grown: impl Fn(),
    ) -> Result<Outcome, GraphqlErrors> {
        if let Some(plan) = self.constant.get()
            && let Some(Admitted { estimate, .. }) = plan.admit(iter::empty(), limits)
        {
            let terms = StepTerms::default();
            let compiled = Compiled::new(&self.operation, estimate, plan.template(), Vec::new(), terms, rows);
            return Outcome { compiled, is_plan_known: true }.within(limits);
        }
        let priced = resolve(catalog, &self.operation, variables, limits, rows)?;
        let admitted = match self.price(&priced, limits) {
            Some(admitted) => admitted,
            None => self.admit(catalog, &priced, limits, &grown)?,
        };
        let resolved = priced.expand(rows)?;
        let plan = self.plan(&resolved);
        let is_plan_known = plan.is_some();
        let template = if let Some(plan) = plan {
            plan.template()
        } else {
            let bound = bind(catalog, &self.operation, &priced);
            let template = Arc::new(template(catalog, &bound, &resolved.terms, output)?);
            self.insert_plan(&resolved, CachedPlan::new(&admitted, &template));
            grown();
            template
        };
        let terms = resolved.terms;
        let compiled = Compiled::new(&self.operation, admitted.estimate, template, priced.steps, terms, rows);
        Outcome { compiled, is_plan_known }.within(limits)
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

    /// Depth and price of a request, if one with the same price but for page sizes was planned, and this one is admitted.
    fn price(&self, priced: &Priced<'_>, limits: &Limits) -> Option<Admitted> {
        let has_its_price = |(key, _): &&(PlanKey, _)| key.price.matches(&self.operation, priced);
        let plan = self.plans().entries.iter().find(has_its_price).map(|(_, plan)| Arc::clone(plan))?;
        plan.admit(priced.steps.iter().map(StepArguments::rows), limits)
    }

    /// Evaluates a request. Fails if it is not admitted.
    fn admit(
        &self,
        catalog: &Catalog,
        priced: &Priced<'_>,
        limits: &Limits,
        grown: impl Fn(),
    ) -> Result<Admitted, GraphqlErrors> {
        if let Some(known) = self.last_rejection().as_ref().filter(|last| last.matches(&self.operation, priced, limits))
        {
            return Err(known.errors.clone());
        }
        evaluate(&bind(catalog, &self.operation, priced), limits).admitted().inspect_err(|errors| {
            let sizes = priced.steps.iter().map(StepArguments::rows).collect();
            let key = PriceKey::of(&self.operation, priced);
            *self.last_rejection() = Some(CachedRejection { key, sizes, limits: *limits, errors: errors.clone() });
            grown();
        })
    }

    /// The plan of a request, if one with the same key was inserted.
    fn plan(&self, resolved: &Resolved<'_, '_>) -> Option<Arc<CachedPlan>> {
        let plans = self.plans();
        let (_, plan) = plans.entries.iter().find(|(key, _)| key.matches(&self.operation, resolved))?;
        Some(Arc::clone(plan))
    }

    /// Inserts the plan of a request.
    fn insert_plan(&self, resolved: &Resolved<'_, '_>, plan: CachedPlan) {
        let Priced { steps, constants, .. } = resolved.priced;
        if constants.is_empty() {
            return self.plans().insert(PlanKey::of(&self.operation, resolved), plan);
        }
        // The results of introspection are literals of the template, so it is valid for one set of values.
        let is_constant = steps.is_empty() && self.operation.variables.is_empty();
        if is_constant && plan.bytes() <= self.max_constant_bytes {
            // Another request may have inserted the same.
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

/// A request that was not admitted, and its errors. They depend on the key of its price, its page sizes and the limits.
#[derive(Debug)]
struct CachedRejection {
    key: PriceKey,
    sizes: Vec<u32>,
    limits: Limits,
    errors: GraphqlErrors,
}

impl CachedRejection {
    /// Whether a request for the same operation has the same errors.
    fn matches(&self, operation: &Operation, priced: &Priced<'_>, limits: &Limits) -> bool {
        self.limits == *limits
            && self.key.matches(operation, priced)
            && priced.steps.iter().map(StepArguments::rows).eq(self.sizes.iter().copied())
    }

    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        self.key.bytes() + size_of_val(self.sizes.as_slice()) + self.errors.bytes()
    }
}

/// What requests with one key have in common.
#[derive(Debug)]
struct CachedPlan {
    depth: u32,
    prices: Arc<ConnectionPrices>,
    template: Arc<PlanTemplate>,
}

impl CachedPlan {
    /// What a planned request has in common with others.
    fn new(admitted: &Admitted, template: &Arc<PlanTemplate>) -> Self {
        let Admitted { depth, estimate } = admitted;
        Self { depth: *depth, prices: Arc::clone(estimate.prices()), template: Arc::clone(template) }
    }

    /// Depth and price of a request with these page sizes, if it is admitted.
    fn admit(&self, sizes: impl Iterator<Item = u32>, limits: &Limits) -> Option<Admitted> {
        let (depth, estimate) = (self.depth, Estimate::new(Arc::clone(&self.prices), sizes));
        check_limits(depth, estimate.cost(), limits).is_admitted().then_some(Admitted { depth, estimate })
    }

    /// The template of the plan.
    fn template(&self) -> Arc<PlanTemplate> {
        Arc::clone(&self.template)
    }

    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        self.template.bytes() + self.prices.bytes()
    }
}

/// The newest plans of one operation, the oldest first.
#[derive(Debug, Default)]
struct CachedPlans {
    entries: VecDeque<(PlanKey, Arc<CachedPlan>)>,
    bytes: usize,
}

impl CachedPlans {
    fn insert(&mut self, key: PlanKey, plan: CachedPlan) {
        let bytes = |key: &PlanKey, plan: &CachedPlan| key.bytes() + plan.bytes();
        if self.entries.iter().any(|(other, _)| *other == key) {
            return;
        }
        self.bytes += bytes(&key, &plan);
        self.entries.push_back((key, Arc::new(plan)));
        if self.entries.len() > MAX_PLANS
            && let Some((key, plan)) = self.entries.pop_front()
        {
            self.bytes -= bytes(&key, &plan);
        }
    }
}
