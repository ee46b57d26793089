//! A valid operation with the plans and errors that requests for it had.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::compile::known_price::KnownPrice;
use crate::compile::stages::Admitted;
use crate::cost::admission::admit;
use crate::cost::estimate::Estimate;
use crate::cost::formula::Formula;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::plan_key::PlanKey;
use crate::plan::template::PlanTemplate;
use crate::query::bind::resolve::{Resolved, StepArguments};
use crate::query::operation::Operation;

/// The most plans that are cached for one operation. A client that puts search strings together needs some dozens at most. A
/// client with more than these pays for planning.
const MAX_PLANS: usize = 16;

/// A valid operation, and the results of requests for it.
#[derive(Debug)]
pub(super) struct CachedOperation {
    pub(super) operation: Operation,
    /// The plan of every request for it, if that is always the same.
    constant: OnceLock<CachedPlan>,
    plans: Mutex<CachedPlans>,
    /// The last request that was not admitted. Being rejected is free for the caller, so repeating it must be cheap.
    rejection: Mutex<Option<CachedRejection>>,
    /// The price of every request for it, once one of them was too expensive for its caller's bucket.
    known_price: Mutex<Option<KnownPrice>>,
}

impl CachedOperation {
    /// An operation without plans.
    pub(super) fn new(operation: Operation) -> Self {
        Self {
            operation,
            constant: OnceLock::new(),
            plans: Mutex::default(),
            rejection: Mutex::default(),
            known_price: Mutex::default(),
        }
    }

    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let rejection = self.last_rejection().as_ref().map_or(0, CachedRejection::bytes);
        self.operation.bytes() + self.constant.get().map_or(0, CachedPlan::bytes) + self.plans().bytes + rejection
    }

    /// The plan of every request for it, if that is always the same and was inserted.
    pub(super) fn constant(&self) -> Option<&CachedPlan> {
        self.constant.get()
    }

    /// Inserts the plan of every request for it.
    pub(super) fn insert_constant(&self, plan: CachedPlan) {
        // Another request may have inserted the same.
        let _ = self.constant.set(plan);
    }

    /// Depth and price of a request, if one with the same price but for page sizes was planned, and this one is admitted. Its
    /// search strings may be unread.
    pub(super) fn price(&self, priced: &Resolved<'_>, limits: &Limits) -> Option<Admitted> {
        let has_its_price = |(key, _): &&(PlanKey, _)| key.has_price_of(&self.operation, priced);
        let plan = self.plans().entries.iter().find(has_its_price).map(|(_, plan)| Arc::clone(plan))?;
        plan.admit(priced.steps.iter().map(StepArguments::size), limits)
    }

    /// The plan of a request, if one with the same key was inserted.
    pub(super) fn plan(&self, resolved: &Resolved<'_>) -> Option<Arc<CachedPlan>> {
        let plans = self.plans();
        let (_, plan) = plans.entries.iter().find(|(key, _)| key.matches(&self.operation, resolved))?;
        Some(Arc::clone(plan))
    }

    /// Inserts the plan of a request.
    pub(super) fn insert_plan(&self, resolved: &Resolved<'_>, plan: CachedPlan) {
        self.plans().insert(PlanKey::of(&self.operation, resolved), plan);
    }

    /// The errors of a request that is not admitted, if the last one had the same key, page sizes and limits.
    pub(super) fn rejection(&self, resolved: &Resolved<'_>, limits: &Limits) -> Option<GraphqlErrors> {
        let last = self.last_rejection();
        let rejection = last.as_ref().filter(|rejection| rejection.matches(&self.operation, resolved, limits))?;
        Some(rejection.errors.clone())
    }

    /// Inserts the errors of a request that is not admitted.
    pub(super) fn insert_rejection(&self, resolved: &Resolved<'_>, limits: &Limits, errors: &GraphqlErrors) {
        let sizes = resolved.steps.iter().map(StepArguments::size).collect();
        let key = PlanKey::of(&self.operation, resolved);
        *self.last_rejection() = Some(CachedRejection { key, sizes, limits: *limits, errors: errors.clone() });
    }

    /// The price of every request for it, if it is known.
    pub(super) fn known_price(&self) -> MutexGuard<'_, Option<KnownPrice>> {
        self.known_price.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_rejection(&self) -> MutexGuard<'_, Option<CachedRejection>> {
        self.rejection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plans(&self) -> MutexGuard<'_, CachedPlans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that was not admitted, and its errors. They depend on the request's key, its page sizes and the limits.
#[derive(Debug)]
struct CachedRejection {
    key: PlanKey,
    sizes: Vec<u32>,
    limits: Limits,
    errors: GraphqlErrors,
}

impl CachedRejection {
    /// Whether a request for the same operation has the same errors.
    fn matches(&self, operation: &Operation, resolved: &Resolved<'_>, limits: &Limits) -> bool {
        self.limits == *limits
            && self.key.matches(operation, resolved)
            && resolved.steps.iter().map(StepArguments::size).eq(self.sizes.iter().copied())
    }

    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        self.key.bytes() + size_of_val(self.sizes.as_slice()) + self.errors.bytes()
    }
}

/// What requests with one key have in common.
#[derive(Debug)]
pub(super) struct CachedPlan {
    depth: u32,
    formula: Arc<Formula>,
    template: Arc<PlanTemplate>,
}

impl CachedPlan {
    /// What a planned request has in common with others.
    pub(super) fn new(admitted: &Admitted, template: &Arc<PlanTemplate>) -> Self {
        let Admitted { depth, estimate } = admitted;
        Self { depth: *depth, formula: Arc::clone(estimate.formula()), template: Arc::clone(template) }
    }

    /// Depth and price of a request with these page sizes, if it is admitted.
    pub(super) fn admit(&self, sizes: impl Iterator<Item = u32>, limits: &Limits) -> Option<Admitted> {
        let (depth, estimate) = (self.depth, Estimate::new(Arc::clone(&self.formula), sizes));
        admit(depth, estimate.cost(), limits).is_admitted().then_some(Admitted { depth, estimate })
    }

    /// The template of the plan.
    pub(super) fn template(&self) -> Arc<PlanTemplate> {
        Arc::clone(&self.template)
    }

    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.template.bytes() + self.formula.bytes()
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
