//! The pure half with a cache. A text that was valid once is not parsed and validated again. A request for it whose plan is
//! cached is not planned again: its values are resolved, priced and checked against the limits, and that is all. The result
//! of introspection in a text without variables is always the same, and cached whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value as Json;

use crate::catalog::Catalog;
use crate::compile::cache::{OperationCache, OperationKey};
use crate::compile::cache_statistics::{CacheStatistics, LookupCounter};
use crate::compile::cached_operation::CachedOperation;
use crate::compile::compiled::Compiled;
use crate::compile::explanation::{Explanation, explain_operation};
use crate::compile::known_price::KnownPrice;
use crate::compile::valid_operation::valid_operation;
use crate::cost::price::Cost;
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::plan::planner::output::Output;
use crate::query::bind::caller::Caller;
use crate::query::{Request, Variables};
use crate::vocabulary::CurrentVocabularies;

/// The part of the cache that one result of introspection may take, so that it does not evict too much.
const MAX_CONSTANT_SHARE: usize = 16;

/// The longest text, in bytes, and the longest values of variables together, that are compiled in less than a millisecond.
const MAX_QUICK_TEXT: usize = 4096;

/// The most selections of a cached operation that are planned in less than a millisecond.
const MAX_QUICK_SELECTIONS: usize = 500;

/// [`compile`](crate::compile::compile) with a cache.
#[derive(Debug)]
pub struct Compiler {
    catalog: Arc<Catalog>,
    /// The number of its view of the schema among the views that share the cache.
    view: u64,
    shared: Arc<SharedCompilers>,
}

/// The state that the compilers of all views of a schema share.
#[derive(Debug)]
struct SharedCompilers {
    operations: OperationCache,
    texts: LookupCounter,
    plans: LookupCounter,
    vocabularies: Arc<CurrentVocabularies>,
    /// How many views there have been.
    views: AtomicU64,
}

/// The facts about a request that follow from its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricedText {
    /// The operation's name, if it has one.
    pub operation_name: Option<Arc<str>>,
    /// The price of every request with this text.
    pub credits: Cost,
}

impl Compiler {
    /// A compiler with a cache of about this many bytes at most.
    pub fn new(catalog: Arc<Catalog>, cache_bytes: usize) -> Self {
        let shared = SharedCompilers {
            operations: OperationCache::new(cache_bytes),
            texts: LookupCounter::default(),
            plans: LookupCounter::default(),
            vocabularies: Arc::default(),
            views: AtomicU64::new(1),
        };
        Self { catalog, view: 0, shared: shared.into() }
    }

    /// A compiler for another view of the same schema, which shares cache and vocabularies.
    #[must_use]
    pub fn for_view(&self, catalog: Arc<Catalog>) -> Self {
        Self { catalog, view: self.shared.views.fetch_add(1, Ordering::Relaxed), shared: Arc::clone(&self.shared) }
    }

    /// The vocabularies that values are looked up in. Empty until somebody replaces them.
    pub fn vocabularies(&self) -> &Arc<CurrentVocabularies> {
        &self.shared.vocabularies
    }

    /// The catalog that requests are compiled against.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The statistics of the cache so far.
    pub fn cache_statistics(&self) -> CacheStatistics {
        let SharedCompilers { operations, texts, plans, .. } = &*self.shared;
        CacheStatistics { texts: texts.read(), plans: plans.read(), bytes: operations.bytes() }
    }

    /// Compiles a request, as [`compile`](crate::compile::compile), for a caller who may see some rows alone.
    pub fn compile<'c>(&self, request: &Request, caller: impl Into<Caller<'c>>) -> Result<Compiled, GraphqlErrors> {
        let cached = self.operation(request)?;
        let catalog = &self.catalog;
        let grown = || self.shared.operations.update_bytes(self.key(request), cached.bytes());
        let outcome = cached.compile(catalog, &request.variables, caller.into(), Output::Data, grown)?;
        self.shared.plans.count(outcome.is_plan_known);
        let mut compiled = outcome.compiled;
        let terms = compiled.plan.terms();
        if terms.of_selections().next().is_some() {
            compiled.unknown_values = self.shared.vocabularies.get().unknown_values(catalog, &cached.operation, terms);
        }
        Ok(compiled)
    }

    /// Whether compiling a request takes less than about a millisecond. A text that spreads fragments can be much larger than it
    /// looks, and the result of introspection, which is a part of the plan, is as large as the schema, for each alias.
    pub fn is_quick(&self, request: &Request) -> bool {
        // A selection takes two bytes, with what separates it from the next, unless it is spread: most texts need no look-up.
        let has_few_selections = request.query.len() <= MAX_QUICK_SELECTIONS && !request.query.contains('.');
        let find = || self.shared.operations.get(self.key(request));
        let is_small = has_few_selections
            || match find() {
                Some(cached) => cached.operation.selection_count <= MAX_QUICK_SELECTIONS,
                None => request.query.len() <= MAX_QUICK_TEXT && !request.query.contains("..."),
            };
        is_small && variables_are_short(&request.variables) && !may_introspect(&request.query)
    }

    /// The price of a request that is not compiled, if it is known. Its variables and cursors are not looked at.
    pub fn known_price(&self, request: &Request, limits: &Limits) -> Option<PricedText> {
        let cached = self.shared.operations.get(self.key(request))?;
        let credits = (*cached.known_price())?.within(limits)?;
        Some(PricedText { operation_name: cached.operation.name.clone(), credits })
    }

    /// Inserts the price of a request that compiled into the cache, for [`Self::known_price`]. Worthwhile where the next one may be sent
    /// in vain.
    pub fn insert_price(&self, request: &Request, limits: &Limits, credits: Cost) {
        if let Some(cached) = self.shared.operations.get(self.key(request)) {
            let mut known = cached.known_price();
            if known.and_then(|price| price.within(limits)).is_none() {
                *known = KnownPrice::of(&self.catalog, &cached.operation, limits, credits);
            }
        }
    }

    /// Explains a request, as [`explain`](crate::compile::explanation::explain).
    pub fn explain<'c>(&self, request: &Request, caller: impl Into<Caller<'c>>) -> Result<Explanation, GraphqlErrors> {
        explain_operation(&self.catalog, &self.operation(request)?.operation, request, caller.into())
    }

    /// The key of the request's operation in the cache.
    fn key<'r>(&self, request: &'r Request) -> OperationKey<'r> {
        OperationKey { view: self.view, text: &request.query, name: request.operation_name.as_deref() }
    }

    /// The request's operation, from the cache if its text is there.
    fn operation(&self, request: &Request) -> Result<Arc<CachedOperation>, GraphqlErrors> {
        let found = self.shared.operations.get(self.key(request));
        self.shared.texts.count(found.is_some());
        if let Some(cached) = found {
            return Ok(cached);
        }
        let max_constant_bytes = self.shared.operations.capacity() / MAX_CONSTANT_SHARE;
        let operation = valid_operation(&self.catalog, request)?;
        let cached = Arc::new(CachedOperation::new(operation, max_constant_bytes));
        self.shared.operations.insert(self.key(request), Arc::clone(&cached));
        Ok(cached)
    }
}

/// Whether a text may select `__schema` or `__type`.
fn may_introspect(text: &str) -> bool {
    text.match_indices('_').any(|(at, _)| {
        let name = &text[at..];
        name.starts_with("__schema") || (name.starts_with("__type") && !name.starts_with("__typename"))
    })
}

/// Whether the values of variables have few bytes and elements.
fn variables_are_short(variables: &Variables) -> bool {
    let mut left = MAX_QUICK_TEXT;
    let mut pending: Vec<&Json> = variables.values().collect();
    while let Some(value) = pending.pop() {
        let size = match value {
            Json::String(text) => text.len(),
            Json::Array(elements) if elements.len() <= left => {
                pending.extend(elements);
                1
            }
            Json::Object(fields) if fields.len() <= left => {
                pending.extend(fields.values());
                1
            }
            Json::Array(_) | Json::Object(_) => return false,
            Json::Null | Json::Bool(_) | Json::Number(_) => 1,
        };
        match left.checked_sub(size) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use serde_json::json;

    use super::*;
    use crate::catalog::scope::RowScope;
    use crate::compile::compile;
    use crate::error::code::ErrorCode;
    use crate::query::bind::resolve::resolve;

    fn compiler(cache_bytes: usize) -> Compiler {
        Compiler::new(Arc::new(Catalog::built_in().unwrap()), cache_bytes)
    }

    fn request(query: &str, variables: serde_json::Value) -> Request {
        let variables: Variables = serde_json::from_value(variables).unwrap();
        Request { query: query.to_owned(), variables, ..Request::default() }
    }

    #[test]
    fn caches_the_operations_of_a_text_and_checks_the_limits_each_time() {
        let compiler = compiler(1 << 20);
        let query = "query A { orders(first: 10) { edges { node { orderId } } } } query B { __typename }";
        let named = |name: &str, limits: &Limits| {
            let request = Request { operation_name: Some(name.to_owned()), ..request(query, json!({})) };
            compiler.compile(&request, limits)
        };
        let low = Limits { max_cost: 10, ..Limits::default() };
        for _ in 0..2 {
            assert_eq!(named("A", &Limits::default()).unwrap().estimate.cost(), 20);
            assert_eq!(named("B", &Limits::default()).unwrap().estimate.cost(), 0);
            assert_eq!(named("A", &low).unwrap_err().first().code, ErrorCode::CostExceeded);
            assert!(named("C", &Limits::default()).is_err());
        }
        let contents = compiler.shared.operations.contents();
        assert_eq!(contents.iter().map(|(_, operations)| operations.len()).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn tells_quick_requests_from_others() {
        let compiler = compiler(1 << 20);
        let short = "{ orders(first: 10) { edges { node { orderId } } } }";
        let spread = format!("{{ ...F }} fragment F on Query {short}");
        let long = format!("{short} #{}", " ".repeat(MAX_QUICK_TEXT));
        for (text, is_quick) in [(short, true), (&spread, false), (&long, false)] {
            assert_eq!(compiler.is_quick(&request(text, json!({}))), is_quick, "{text}");
            compiler.compile(&request(text, json!({})), &Limits::default()).unwrap();
            assert!(compiler.is_quick(&request(text, json!({}))), "it is cached");
        }
        for variables in [
            json!({ "a": "x".repeat(5000) }),
            json!({ "a": [vec![0; 3000], vec![0; 3000]] }),
            json!({ "a": vec![0; 5000] }),
        ] {
            assert!(!compiler.is_quick(&request(short, variables)));
        }
        assert!(compiler.is_quick(&request(short, json!({ "a": { "b": [1, "two", null, true] } }))));
        for (text, is_quick) in [
            ("{ __typename }", true),
            ("{ __type(name: \"Order\") { name } }", false),
            ("{ s: __schema { types { fields { name } } } }", false),
        ] {
            compiler.compile(&request(text, json!({})), &Limits::default()).unwrap();
            assert_eq!(compiler.is_quick(&request(text, json!({}))), is_quick, "{text}");
        }
        // Selections of a cached operation.
        let fields = (0..600).map(|number| format!("a{number}: orderId ")).collect::<Vec<_>>().concat();
        let wide = format!("{{ orders(first: 1) {{ edges {{ node {{ {fields} }} }} }} }}");
        compiler.compile(&request(&wide, json!({})), &Limits::UNLIMITED).unwrap();
        assert!(!compiler.is_quick(&request(&wide, json!({}))));
    }

    #[test]
    fn variables_share_their_terms() {
        let compiler = compiler(1 << 20);
        let roots = (0..40)
            .map(|number| format!("a{number}: orders(first: 1, query: $q) {{ edges {{ cursor }} }} "))
            .collect::<Vec<_>>()
            .concat();
        let query = format!("query($q: String) {{ {roots} returns(first: 1, query: $q) {{ edges {{ cursor }} }} }}");
        // Forty times as many bytes would be too many.
        let spaces = " ".repeat(5000);
        let variables = json!({ "q": format!("statusId:A,B,A{spaces}statusId:C") });
        let shared = request(&query, variables);
        let operation = valid_operation(compiler.catalog(), &shared).unwrap();
        let rows = RowScope::default();
        let resolved = resolve(
            compiler.catalog(),
            &operation,
            &shared.variables,
            Caller { limits: &Limits::UNLIMITED, rows: &rows },
        )
        .unwrap();
        let terms = resolved.terms(&rows).unwrap();
        assert_eq!(terms.of_selections().count(), 41);
        assert!((0..40).all(|step| ptr::eq(terms.of(step), terms.of(0))));
        assert!(!ptr::eq(terms.of(40), terms.of(0)), "another root has other keys");
        assert_eq!(terms.of(0).iter().map(|term| term.values.len()).collect::<Vec<_>>(), [2, 1]);
        // Values and terms count in every place, because every place sends them to the database.
        let values: Vec<_> = (0..30).map(|number| number.to_string()).collect();
        let variables = json!({ "q": format!("statusId:{}", values.join(",")) });
        let errors = compiler.compile(&request(&query, variables), &Limits::UNLIMITED).unwrap_err();
        assert!(errors.to_string().contains("at most 1000 values together"), "{errors}");
    }

    #[test]
    fn limits_the_conditions_of_a_field() {
        let compile = |conditions: usize| {
            let variables =
                (0..conditions).map(|number| format!("$v{number}: Boolean = true ")).collect::<Vec<_>>().concat();
            let fragment =
                |number| format!("fragment F{number} on Query {{ ...F{} @include(if: $v{number}) }} ", number + 1);
            let fragments: String = (0..conditions).map(fragment).collect();
            let query =
                format!("query({variables}) {{ ...F0 }} {fragments} fragment F{conditions} on Query {{ __typename }}");
            compiler(1 << 20).compile(&request(&query, json!({})), &Limits::default()).map(drop)
        };
        assert_eq!(compile(64), Ok(()));
        let error = compile(65).unwrap_err().to_string();
        assert!(error.contains("a field depends on more than 64 conditions"), "{error}");
    }

    #[test]
    fn caches_the_plan_of_introspection_without_variables() {
        let compiler = compiler(1 << 20);
        let (constant, variable) = (
            "query Q { __type(name: \"Order\") { name } }",
            "query Q($name: String!) { __type(name: $name) { name } }",
        );
        let named = |query: &str, name: &str| {
            compiler.compile(&request(query, json!({ "name": name })), &Limits::default()).unwrap()
        };
        let is_same = |first: &Compiled, second: &Compiled| {
            std::ptr::eq(first.plan.response_template(), second.plan.response_template())
        };
        let text = |compiled: &Compiled| format!("{:?}", compiled.plan.response_template());
        let (first, second) = (named(constant, "Order"), named(constant, "Facility"));
        assert!(is_same(&first, &second));
        assert_eq!((second.estimate.cost(), second.operation_name.as_deref()), (0, Some("Q")));
        assert_ne!(text(&named(variable, "Order")), text(&named(variable, "Facility")));

        // A large result would evict too much.
        let all = "{ __schema { types { name description fields { name description args { name description } } } } }";
        let [first, second] = [(); 2].map(|()| named(all, ""));
        assert!(!is_same(&first, &second));
        let low = Limits { max_depth: 0, ..Limits::default() };
        let request = request(constant, json!({}));
        let fresh = compile(compiler.catalog(), &request, &low).map(|compiled| compiled.estimate.cost());
        let cached = compiler.compile(&request, &low).map(|compiled| compiled.estimate.cost());
        assert_eq!(format!("{cached:?}"), format!("{fresh:?}"));
    }

    #[test]
    fn caches_a_rejection_for_the_same_page_sizes_and_limits_alone() {
        let compiler = compiler(1 << 20);
        let query =
            "query($n: Int!) { orders(first: $n) { edges { node { orderItems(first: 90) { edges { cursor } } } } } }";
        let mut is_rejected = Vec::new();
        for (rows, max_cost) in [(20, 1000), (30, 1000), (30, 900), (20, 1000), (20, 1_000_000), (20, 1000)] {
            let request = request(query, json!({ "n": rows }));
            let limits = Limits { max_cost, bucket_size: u64::MAX, ..Limits::default() };
            let result = |compiled: Result<Compiled, _>| compiled.map(|compiled| compiled.estimate.cost());
            let fresh = result(compile(compiler.catalog(), &request, &limits));
            for _ in 0..2 {
                assert_eq!(result(compiler.compile(&request, &limits)), fresh);
            }
            is_rejected.push(fresh.is_err());
        }
        assert_eq!(is_rejected, [true, true, true, true, false, true]);
        let operation = valid_operation(compiler.catalog(), &request(query, json!({}))).unwrap();
        let cached = compiler.shared.operations.contents()[0].1[0];
        assert!(cached > operation.bytes() + 500);
    }

    #[test]
    fn knows_the_price_of_a_text_whose_variables_do_not_change_it() {
        let compiler = compiler(1 << 20);
        let (default, low) = (Limits::default(), Limits { max_page_size: 1, ..Limits::default() });
        for (query, variables, is_known) in [
            ("query A($id: ID!) { order(orderId: $id) { orderId } }", json!({ "id": "a" }), true),
            ("query A($after: String) { orders(first: 2, after: $after) { edges { cursor } } }", json!({}), true),
            ("query A($n: Int!) { orders(first: $n) { edges { cursor } } }", json!({ "n": 2 }), false),
            ("query A($n: Int!) { orders(last: $n) { edges { cursor } } }", json!({ "n": 2 }), false),
            ("query A($q: String) { orders(first: 2, query: $q) { edges { cursor } } }", json!({}), false),
            (
                "query A($if: Boolean = true) { orders(first: 2) { edges { cursor @include(if: $if) } } }",
                json!({}),
                false,
            ),
            (
                "query A($n: Int!) { order(orderId: 1) { orderItems(first: $n) { edges { cursor } } } }",
                json!({ "n": 2 }),
                false,
            ),
        ] {
            let request = request(query, variables);
            assert_eq!(compiler.known_price(&request, &default), None);
            let credits = compiler.compile(&request, &default).unwrap().estimate.cost();
            assert_eq!(compiler.known_price(&request, &default), None, "it was not inserted");
            compiler.insert_price(&request, &default, credits);
            let known = PricedText { operation_name: Some("A".into()), credits };
            assert_eq!(compiler.known_price(&request, &default), is_known.then_some(known), "{query}");
            assert_eq!(compiler.known_price(&request, &low), None, "a page may be too large for other callers");
        }
    }

    #[test]
    fn bounds_its_cache_by_what_operations_take() {
        let compiler = compiler(100_000);
        let compile =
            |query: &str, limits: &Limits| drop(compiler.compile(&request(query, json!({})), limits).unwrap());
        for number in 0..1000 {
            let query = format!("{{ a{number}: orders(first: 1) {{ edges {{ node {{ orderId }} }} }} }}");
            compile(&query, &Limits::default());
            let contents = compiler.shared.operations.contents();
            let bytes = contents.iter().map(|(text, operations)| text.len() + operations.iter().sum::<usize>());
            assert_eq!(compiler.shared.operations.bytes(), bytes.sum::<usize>());
            assert!(compiler.shared.operations.bytes() <= 100_000);
        }
        let texts = compiler.shared.operations.contents().len();
        assert!((10..1000).contains(&texts), "{texts}");

        // A short text with a thousand selections takes as much as a long one. It does not fit, and evicts nothing.
        let fields = "orderId statusId orderName grandTotal externalId orderDate entryDate createdBy orderTypeId originFacilityId";
        let order = |n| format!("a{n}: orders(first: 1) {{ edges {{ node {{ ...F }} }} }} ");
        let orders = (0..150).map(order).collect::<Vec<_>>().concat();
        let query = format!("{{ {orders} }} fragment F on Order {{ {fields} }}");
        assert!(query.len() < 10_000);
        compile(&query, &Limits { max_cost: 10_000, bucket_size: 10_000, ..Limits::default() });
        assert_eq!(compiler.shared.operations.contents().len(), texts);
    }
}
