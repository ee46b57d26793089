//! The pure half as one function: from text to plan, or to the refusals that say why not.

use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use crate::catalog::Catalog;
use crate::cost::admit::admit;
use crate::cost::breakdown::{CostNode, breakdown};
use crate::cost::depth::depth;
use crate::cost::estimate::{Estimate, estimate};
use crate::cost::fields::{FieldCost, fields};
use crate::limits::Limits;
use crate::plan::Plan;
use crate::plan::build::plan;
use crate::query::Request;
use crate::query::bind::bind;
use crate::query::operation::Operation;
use crate::query::parse::parse;
use crate::query::validate::validate;
use crate::refusal::Refusals;

/// What a request comes to: its price, and how to answer it.
#[derive(Debug)]
pub struct Compiled {
    /// The operation's name, where it has one.
    pub operation_name: Option<String>,
    /// Its price.
    pub estimate: Estimate,
    /// How to fetch and write the answer; shared with the answer while it is written.
    pub plan: Arc<Plan>,
}

/// Compiles a request: parse, validate, bind, estimate, admit, plan. Pure: the same request has the same result.
pub fn compile(catalog: &Catalog, request: &Request, limits: &Limits) -> Result<Compiled, Refusals> {
    compile_operation(catalog, &operation(catalog, request)?, request, limits)
}

/// A request laid open, whether or not it would be admitted.
#[derive(Debug)]
pub struct Explanation {
    /// The operation's name, where it has one.
    pub operation_name: Option<String>,
    /// The price as a tree that adds up.
    pub cost: Vec<CostNode>,
    /// The price.
    pub estimate: Estimate,
    /// Levels of object nesting.
    pub depth: u32,
    /// What it was held to.
    pub limits: Limits,
    /// Why it would not be admitted.
    pub refusals: Option<Refusals>,
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
pub fn explain(catalog: &Catalog, request: &Request, limits: &Limits) -> Result<Explanation, Refusals> {
    explain_operation(catalog, &operation(catalog, request)?, request, limits)
}

fn explain_operation(
    catalog: &Catalog,
    operation: &Operation,
    request: &Request,
    limits: &Limits,
) -> Result<Explanation, Refusals> {
    let bound = bind(catalog, operation, &request.variables, limits)?;
    let estimate = estimate(&bound);
    Ok(Explanation {
        operation_name: operation.name.clone(),
        cost: breakdown(&bound),
        depth: depth(&bound, limits.max_depth).levels,
        limits: *limits,
        refusals: admit(estimate.cost(), &bound, limits).err(),
        plan: plan(catalog, &bound),
        estimate,
    })
}

fn operation(catalog: &Catalog, request: &Request) -> Result<Operation, Refusals> {
    let document = parse(&request.query)?;
    validate(catalog, &document, request.operation_name.as_deref())
}

fn compile_operation(
    catalog: &Catalog,
    operation: &Operation,
    request: &Request,
    limits: &Limits,
) -> Result<Compiled, Refusals> {
    let bound = bind(catalog, operation, &request.variables, limits)?;
    let estimate = estimate(&bound);
    admit(estimate.cost(), &bound, limits)?;
    Ok(Compiled { operation_name: operation.name.clone(), estimate, plan: Arc::new(plan(catalog, &bound)) })
}

/// [`compile`] with a memory: a text that was valid once is not parsed and validated again.
#[derive(Debug)]
pub struct Compiler {
    catalog: Arc<Catalog>,
    operations: Mutex<OperationCache>,
}

impl Compiler {
    /// A compiler whose memory takes about so many bytes.
    pub fn new(catalog: Arc<Catalog>, cache_bytes: usize) -> Self {
        let operations = OperationCache { entries: LruCache::unbounded(), bytes: 0, most_bytes: cache_bytes };
        Self { catalog, operations: Mutex::new(operations) }
    }

    /// The catalog that requests are compiled against.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Compiles a request, as [`compile`].
    pub fn compile(&self, request: &Request, limits: &Limits) -> Result<Compiled, Refusals> {
        compile_operation(&self.catalog, &*self.operation(request)?, request, limits)
    }

    /// Explains a request, as [`explain`].
    pub fn explain(&self, request: &Request, limits: &Limits) -> Result<Explanation, Refusals> {
        explain_operation(&self.catalog, &*self.operation(request)?, request, limits)
    }

    /// The request's operation, from memory where its text was valid before.
    fn operation(&self, request: &Request) -> Result<Arc<Operation>, Refusals> {
        let key = (request.query.clone(), request.operation_name.clone());
        let known = self.cache().entries.get(&key).map(|(_, operation)| Arc::clone(operation));
        if let Some(known) = known {
            return Ok(known);
        }
        let valid = Arc::new(operation(&self.catalog, request)?);
        self.cache().keep(key, Arc::clone(&valid));
        Ok(valid)
    }

    /// The cache holds no invariant that a panic elsewhere could have broken.
    fn cache(&self) -> std::sync::MutexGuard<'_, OperationCache> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A query's text and operation name.
type Key = (String, Option<String>);

/// Valid operations by text, the least recently used forgotten first. What is bounded is about the memory that they take:
/// a short text can come to many selections, when it spreads its fragments often.
#[derive(Debug)]
struct OperationCache {
    entries: LruCache<Key, (usize, Arc<Operation>)>,
    bytes: usize,
    most_bytes: usize,
}

impl OperationCache {
    fn keep(&mut self, key: Key, operation: Arc<Operation>) {
        let bytes = key.0.len() + operation.bytes();
        if bytes > self.most_bytes {
            return;
        }
        self.bytes += bytes;
        if let Some((_, (replaced, _))) = self.entries.push(key, (bytes, operation)) {
            self.bytes -= replaced;
        }
        while self.bytes > self.most_bytes {
            match self.entries.pop_lru() {
                Some((_, (forgotten, _))) => self.bytes -= forgotten,
                None => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiler(cache_bytes: usize) -> Compiler {
        Compiler::new(Arc::new(Catalog::built_in().unwrap()), cache_bytes)
    }

    fn ask(compiler: &Compiler, query: &str) -> Result<Compiled, Refusals> {
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
            assert_eq!(named("A", &poor).unwrap_err().first().code, crate::refusal::Code::CostExceeded);
            assert!(named("C", &Limits::default()).is_err());
        }
        assert_eq!(compiler.cache().entries.len(), 2);
    }

    #[test]
    fn memory_is_bounded_by_what_operations_take() {
        let compiler = compiler(100_000);
        for number in 0..1000 {
            ask(&compiler, &format!("{{ a{number}: orders(first: 1) {{ edges {{ node {{ orderId }} }} }} }}")).unwrap();
            let cache = compiler.cache();
            let together: usize = cache.entries.iter().map(|(_, (bytes, _))| bytes).sum();
            assert_eq!(cache.bytes, together);
            assert!(cache.bytes <= 100_000);
        }
        let kept = compiler.cache().entries.len();
        assert!((10..1000).contains(&kept), "{kept}");

        // A short text with a thousand selections is as heavy as a long one, and nothing is forgotten for its sake.
        let fields = "orderId statusId orderName grandTotal externalId orderDate entryDate createdBy orderTypeId originFacilityId";
        let order = |n| format!("a{n}: orders(first: 1) {{ edges {{ node {{ ...F }} }} }} ");
        let orders = (0..150).map(order).collect::<Vec<_>>().concat();
        let limits = Limits { max_cost: 10_000, ..Limits::default() };
        let query = format!("{{ {orders} }} fragment F on Order {{ {fields} }}");
        assert!(query.len() < 10_000);
        compiler.compile(&Request { query, ..Request::default() }, &limits).unwrap();
        assert_eq!(compiler.cache().entries.len(), kept);
    }
}
