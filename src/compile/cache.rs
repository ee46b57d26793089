//! The memory of the pure half. A text that was valid once is not parsed and validated again; and a request for it whose
//! form was planned before is not planned again: its values are resolved and priced, and that is all. What introspection
//! answers to a text without variables is always the same, and kept whole.

use std::collections::VecDeque;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use lru::LruCache;

use crate::catalog::Catalog;
use crate::compile::{Admitted, Compiled, Explanation, admitted, compiled, explain_operation, operation};
use crate::cost::estimate::Estimate;
use crate::cost::formula::Formula;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::PlanTemplate;
use crate::plan::plan_key::PlanKey;
use crate::query::Request;
use crate::query::bind::resolve::{Resolved, StepArguments, resolve};
use crate::query::operation::Operation;

/// The most forms that are remembered of one operation. Who puts search strings together has some dozens; who has more
/// than these pays for planning.
const MOST_FORMS: usize = 16;

/// The part of the memory that one answer of introspection may take: others should not be forgotten for its sake.
const LARGEST_CONSTANT: usize = 16;

/// [`compile`](super::compile) with a memory.
#[derive(Debug)]
pub struct Compiler {
    catalog: Arc<Catalog>,
    most_bytes: usize,
    texts: Mutex<Texts>,
}

impl Compiler {
    /// A compiler whose memory takes about so many bytes.
    pub fn new(catalog: Arc<Catalog>, cache_bytes: usize) -> Self {
        let texts = Texts { entries: LruCache::unbounded(), bytes: 0, most_bytes: cache_bytes };
        Self { catalog, most_bytes: cache_bytes, texts: Mutex::new(texts) }
    }

    /// The catalog that requests are compiled against.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Compiles a request, as [`compile`](super::compile).
    pub fn compile(&self, request: &Request, limits: &Limits) -> Result<Compiled, GraphqlErrors> {
        let known = self.known(request)?;
        if let Some(outline) = known.constant.get()
            && let Some(estimate) = outline.admit(iter::empty(), limits)
        {
            return Ok(compiled(&known.operation, Vec::new(), estimate, Arc::clone(&outline.template)));
        }
        let resolved = resolve(&self.catalog, &known.operation, &request.variables, limits)?;
        if let Some(outline) = known.outline(&resolved)
            && let Some(estimate) = outline.admit(resolved.steps.iter().map(StepArguments::size), limits)
        {
            return Ok(compiled(&known.operation, resolved.steps, estimate, Arc::clone(&outline.template)));
        }
        if let Some(refusals) = known.refused(&resolved, limits) {
            return Err(refusals);
        }
        // What was not refused just like this before is told from the bound operation.
        let admitted = admitted(&self.catalog, &known.operation, &resolved, limits);
        match &admitted {
            Ok(admitted) => self.remember(&known, &resolved, admitted),
            Err(refusals) => known.refuse(&resolved, limits, refusals),
        }
        self.texts().resize(&request.query, request.operation_name.as_deref(), known.bytes());
        let Admitted { estimate, template, .. } = admitted?;
        Ok(compiled(&known.operation, resolved.steps, estimate, template))
    }

    /// Keeps what a request came to for others like it.
    fn remember(&self, known: &CachedOperation, resolved: &Resolved<'_>, admitted: &Admitted) {
        let Admitted { depth, estimate, template } = admitted;
        let (formula, template) = (Arc::clone(estimate.formula()), Arc::clone(template));
        let outline = CachedPlan { depth: *depth, formula, template };
        if resolved.constants.is_empty() {
            return known.forms().keep(PlanKey::of(&known.operation, resolved), outline);
        }
        // The answers of introspection stand in the template, and they are values.
        let is_constant = resolved.steps.is_empty() && known.operation.variables.is_empty();
        if is_constant && outline.bytes() <= self.most_bytes / LARGEST_CONSTANT {
            // Another request may have been faster, with the same.
            let _ = known.constant.set(outline);
        }
    }

    /// Explains a request, as [`explain`](super::explain).
    pub fn explain(&self, request: &Request, limits: &Limits) -> Result<Explanation, GraphqlErrors> {
        explain_operation(&self.catalog, &self.known(request)?.operation, request, limits)
    }

    /// The request's operation, from memory where its text was valid before.
    fn known(&self, request: &Request) -> Result<Arc<CachedOperation>, GraphqlErrors> {
        if let Some(known) = self.texts().get(&request.query, request.operation_name.as_deref()) {
            return Ok(known);
        }
        let operation = operation(&self.catalog, request)?;
        let known = Arc::new(CachedOperation::new(operation));
        self.texts().keep(&request.query, request.operation_name.as_deref(), Arc::clone(&known));
        Ok(known)
    }

    /// The texts hold no invariant that a panic elsewhere could have broken.
    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A valid operation, and what requests for it came to.
#[derive(Debug)]
struct CachedOperation {
    operation: Operation,
    /// What every request for it comes to, where that is the same always.
    constant: OnceLock<CachedPlan>,
    forms: Mutex<CachedPlans>,
    /// The last request that asked too much. To say no is free for who asks, so it had better be cheap to say it again.
    refused: Mutex<Option<Refused>>,
}

impl CachedOperation {
    fn new(operation: Operation) -> Self {
        Self { operation, constant: OnceLock::new(), forms: Mutex::default(), refused: Mutex::default() }
    }

    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        let refused = self.last_refused().as_ref().map_or(0, Refused::bytes);
        self.operation.bytes() + self.constant.get().map_or(0, CachedPlan::bytes) + self.forms().bytes + refused
    }

    /// The refusals of a request, if the last one that was refused asked for as much.
    fn refused(&self, resolved: &Resolved<'_>, limits: &Limits) -> Option<GraphqlErrors> {
        let last = self.last_refused();
        let refused = last.as_ref().filter(|refused| refused.fits(&self.operation, resolved, limits))?;
        Some(refused.refusals.clone())
    }

    /// Keeps the refusals of a request.
    fn refuse(&self, resolved: &Resolved<'_>, limits: &Limits, refusals: &GraphqlErrors) {
        let sizes = resolved.steps.iter().map(StepArguments::size).collect();
        let form = PlanKey::of(&self.operation, resolved);
        *self.last_refused() = Some(Refused { form, sizes, limits: *limits, refusals: refusals.clone() });
    }

    fn last_refused(&self) -> MutexGuard<'_, Option<Refused>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What requests of the same form have in common, if there was one before.
    fn outline(&self, resolved: &Resolved<'_>) -> Option<Arc<CachedPlan>> {
        let forms = self.forms();
        let (_, outline) = forms.kept.iter().find(|(form, _)| form.fits(&self.operation, resolved))?;
        Some(Arc::clone(outline))
    }

    fn forms(&self) -> MutexGuard<'_, CachedPlans> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that asked too much. What is said of that depends on its form, its page sizes and the caller's limits.
#[derive(Debug)]
struct Refused {
    form: PlanKey,
    sizes: Vec<u32>,
    limits: Limits,
    refusals: GraphqlErrors,
}

impl Refused {
    /// Whether a request for the same operation asks for as much.
    fn fits(&self, operation: &Operation, resolved: &Resolved<'_>, limits: &Limits) -> bool {
        self.limits == *limits
            && self.form.fits(operation, resolved)
            && resolved.steps.iter().map(StepArguments::size).eq(self.sizes.iter().copied())
    }

    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        self.form.bytes() + size_of_val(self.sizes.as_slice()) + self.refusals.bytes()
    }
}

/// What requests of one form have in common.
#[derive(Debug)]
struct CachedPlan {
    depth: u32,
    formula: Arc<Formula>,
    template: Arc<PlanTemplate>,
}

impl CachedPlan {
    /// The price of a request with steps of these sizes, if it is within the limits.
    fn admit(&self, sizes: impl Iterator<Item = u32>, limits: &Limits) -> Option<Estimate> {
        let estimate = Arc::clone(&self.formula).estimate(sizes);
        (self.depth <= limits.max_depth && estimate.cost() <= limits.max_cost).then_some(estimate)
    }

    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        self.template.bytes() + self.formula.bytes()
    }
}

/// The newest forms of requests for one operation.
#[derive(Debug, Default)]
struct CachedPlans {
    kept: VecDeque<(PlanKey, Arc<CachedPlan>)>,
    bytes: usize,
}

impl CachedPlans {
    /// Keeps a form.
    fn keep(&mut self, form: PlanKey, outline: CachedPlan) {
        let bytes = |form: &PlanKey, outline: &CachedPlan| form.bytes() + outline.bytes();
        if self.kept.iter().any(|(kept, _)| *kept == form) {
            return;
        }
        self.bytes += bytes(&form, &outline);
        self.kept.push_back((form, Arc::new(outline)));
        if self.kept.len() > MOST_FORMS
            && let Some((form, outline)) = self.kept.pop_front()
        {
            self.bytes -= bytes(&form, &outline);
        }
    }
}

/// Valid operations by text, the least recently used forgotten first. What is bounded is about the memory that they take:
/// a short text can come to many selections, when it spreads its fragments often.
#[derive(Debug)]
struct Texts {
    entries: LruCache<String, Vec<Entry>>,
    bytes: usize,
    most_bytes: usize,
}

/// An operation of a text.
#[derive(Debug)]
struct Entry {
    /// The name by which requests choose it.
    name: Option<String>,
    known: Arc<CachedOperation>,
    /// What it takes with its forms.
    bytes: usize,
}

impl Texts {
    fn get(&mut self, text: &str, name: Option<&str>) -> Option<Arc<CachedOperation>> {
        let entry = self.entries.get(text)?.iter().find(|entry| entry.name.as_deref() == name)?;
        Some(Arc::clone(&entry.known))
    }

    fn keep(&mut self, text: &str, name: Option<&str>, known: Arc<CachedOperation>) {
        let bytes = known.operation.bytes();
        if text.len() + bytes > self.most_bytes {
            return;
        }
        let mut text_bytes = 0;
        let entries = self.entries.get_or_insert_mut_ref(text, || {
            text_bytes = text.len();
            Vec::with_capacity(1)
        });
        // Another request may have been faster.
        if entries.iter().all(|entry| entry.name.as_deref() != name) {
            entries.push(Entry { name: name.map(str::to_owned), known, bytes });
            self.bytes += text_bytes + bytes;
            self.shrink();
        }
    }

    /// Notes what an operation takes now. One that was forgotten meanwhile takes nothing here.
    fn resize(&mut self, text: &str, name: Option<&str>, bytes: usize) {
        let entries = self.entries.peek_mut(text).into_iter().flatten();
        for entry in entries.filter(|entry| entry.name.as_deref() == name) {
            self.bytes = self.bytes - entry.bytes + bytes;
            entry.bytes = bytes;
        }
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.bytes > self.most_bytes {
            let Some((text, entries)) = self.entries.pop_lru() else { break };
            self.bytes -= taken(&text, &entries);
        }
    }
}

/// What a text takes with its operations.
fn taken(text: &str, entries: &[Entry]) -> usize {
    text.len() + entries.iter().map(|entry| entry.bytes).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::error::code::ErrorCode;

    fn compiler(cache_bytes: usize) -> Compiler {
        Compiler::new(Arc::new(Catalog::built_in().unwrap()), cache_bytes)
    }

    fn ask(compiler: &Compiler, query: &str) -> Result<Compiled, GraphqlErrors> {
        compiler.compile(&Request { query: query.to_owned(), ..Request::default() }, &Limits::default())
    }

    #[test]
    fn a_text_is_remembered_with_what_it_was_valid_for_and_held_against_the_limits_each_time() {
        let compiler = compiler(1 << 20);
        let query = "query A { orders(first: 10) { edges { node { orderId } } } } query B { __typename }";
        let named = |name: &str, limits: &Limits| {
            let request =
                Request { query: query.to_owned(), operation_name: Some(name.to_owned()), ..Request::default() };
            compiler.compile(&request, limits)
        };
        let poor = Limits { max_cost: 10, ..Limits::default() };
        for _ in 0..2 {
            assert_eq!(named("A", &Limits::default()).unwrap().estimate.cost(), 20);
            assert_eq!(named("B", &Limits::default()).unwrap().estimate.cost(), 0);
            assert_eq!(named("A", &poor).unwrap_err().first().code, ErrorCode::CostExceeded);
            assert!(named("C", &Limits::default()).is_err());
        }
        assert_eq!(compiler.texts().entries.len(), 1);
        assert_eq!(compiler.texts().entries.iter().next().unwrap().1.len(), 2);
    }

    #[test]
    fn an_answer_of_introspection_is_kept_where_it_is_always_the_same() {
        let compiler = compiler(1 << 20);
        let (constant, variable) = (
            "query Q { __type(name: \"Order\") { name } }",
            "query Q($name: String!) { __type(name: $name) { name } }",
        );
        let named = |query: &str, name: &str| {
            let variables = serde_json::from_value(serde_json::json!({ "name": name })).unwrap();
            let request = Request { query: query.to_owned(), variables, ..Request::default() };
            compiler.compile(&request, &Limits::default()).unwrap()
        };
        let shape = |compiled: &Compiled| format!("{:?}", compiled.plan.shape());
        let (first, second) = (named(constant, "Order"), named(constant, "Facility"));
        assert!(std::ptr::eq(first.plan.shape(), second.plan.shape()));
        assert_eq!((second.estimate.cost(), second.operation_name.as_deref()), (0, Some("Q")));
        assert_ne!(shape(&named(variable, "Order")), shape(&named(variable, "Facility")));

        // What else is in it is not forgotten for the sake of a large one.
        let all = "{ __schema { types { name description fields { name description args { name description } } } } }";
        let [first, second] = [(); 2].map(|()| ask(&compiler, all).unwrap());
        assert!(!std::ptr::eq(first.plan.shape(), second.plan.shape()));
        let poor = Limits { max_depth: 0, ..Limits::default() };
        let request = Request { query: constant.to_owned(), ..Request::default() };
        let afresh = compile(compiler.catalog(), &request, &poor).map(|compiled| compiled.estimate.cost());
        let known = compiler.compile(&request, &poor).map(|compiled| compiled.estimate.cost());
        assert_eq!(format!("{known:?}"), format!("{afresh:?}"));
    }

    #[test]
    fn what_is_refused_again_is_told_the_same_and_what_asks_for_more_or_may_less_is_not() {
        let compiler = compiler(1 << 20);
        let query =
            "query($n: Int!) { orders(first: $n) { edges { node { orderItems(first: 90) { edges { cursor } } } } } }";
        let mut told = Vec::new();
        for (rows, max_cost) in [(20, 1000), (30, 1000), (30, 900), (20, 1000), (20, 1_000_000), (20, 1000)] {
            let variables = serde_json::from_value(serde_json::json!({ "n": rows })).unwrap();
            let request = Request { query: query.to_owned(), variables, ..Request::default() };
            let limits = Limits { max_cost, ..Limits::default() };
            let result = |compiled: Result<Compiled, _>| compiled.map(|compiled| compiled.estimate.cost());
            let afresh = result(compile(compiler.catalog(), &request, &limits));
            for _ in 0..2 {
                assert_eq!(result(compiler.compile(&request, &limits)), afresh);
            }
            told.push(afresh.is_err());
        }
        assert_eq!(told, [true, true, true, true, false, true]);
        let texts = compiler.texts();
        let known = &texts.entries.iter().next().unwrap().1[0];
        assert!(known.bytes > known.known.operation.bytes() + 500);
    }

    #[test]
    fn memory_is_bounded_by_what_operations_take() {
        let compiler = compiler(100_000);
        for number in 0..1000 {
            ask(&compiler, &format!("{{ a{number}: orders(first: 1) {{ edges {{ node {{ orderId }} }} }} }}")).unwrap();
            let texts = compiler.texts();
            let together: usize = texts.entries.iter().map(|(text, entries)| taken(text, entries)).sum();
            assert_eq!(texts.bytes, together);
            assert!(texts.bytes <= 100_000);
        }
        let kept = compiler.texts().entries.len();
        assert!((10..1000).contains(&kept), "{kept}");

        // A short text with a thousand selections is as heavy as a long one, and nothing is forgotten for its sake.
        let fields = "orderId statusId orderName grandTotal externalId orderDate entryDate createdBy orderTypeId originFacilityId";
        let order = |n| format!("a{n}: orders(first: 1) {{ edges {{ node {{ ...F }} }} }} ");
        let orders = (0..150).map(order).collect::<Vec<_>>().concat();
        let limits = Limits { max_cost: 10_000, ..Limits::default() };
        let query = format!("{{ {orders} }} fragment F on Order {{ {fields} }}");
        assert!(query.len() < 10_000);
        compiler.compile(&Request { query, ..Request::default() }, &limits).unwrap();
        assert_eq!(compiler.texts().entries.len(), kept);
    }
}
