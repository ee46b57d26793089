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
    /// A compiler whose memory holds texts of so many bytes together.
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
        let known = self.cache().entries.get(&key).cloned();
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

/// Valid operations by text, the least recently used forgotten first. An operation takes memory in proportion to its
/// text, so the texts' bytes are what is bounded.
#[derive(Debug)]
struct OperationCache {
    entries: LruCache<Key, Arc<Operation>>,
    bytes: usize,
    most_bytes: usize,
}

impl OperationCache {
    fn keep(&mut self, key: Key, operation: Arc<Operation>) {
        self.bytes += key.0.len();
        if let Some((replaced, _)) = self.entries.push(key, operation) {
            self.bytes -= replaced.0.len();
        }
        while self.bytes > self.most_bytes {
            match self.entries.pop_lru() {
                Some((forgotten, _)) => self.bytes -= forgotten.0.len(),
                None => break,
            }
        }
    }
}
