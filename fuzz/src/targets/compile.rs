//! `compile`: a document, its variables as JSON and the caller's limits, separated by NUL characters, to a plan.
//!
//! - Refusals are in document order, within the cap, each once, at places that the text has.
//! - With a cache, cold or warm, the result is the same: a plan for equal shapes has equal SQL. The cache also gets the same
//!   document with other values, whose plan it may have already.
//! - The SQL text has no string literal.
//! - The plan has the parameters that its SQL names, and parents before their children.
//! - Nothing that is admitted costs more than the limit, or nests deeper.
//! - Memory is bounded.

use std::collections::BTreeSet;
use std::sync::Arc;

use orderql::compile::compile;
use orderql::compile::compiled::Compiled;
use orderql::compile::compiler::Compiler;
use orderql::compile::explanation::explain;
use orderql::error::graphql_error::GraphqlErrors;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::Value as Json;

use crate::support::allocation::{Allowance, within};
use crate::support::catalog::catalog;
use crate::support::input::texts;
use crate::support::refusal;

const ALLOWANCE: Allowance = Allowance { per_byte: 20_000, constant: 2_000_000 };
/// With fragments, which a short text can spread into many fields.
const SPREADING: Allowance = Allowance { per_byte: 20_000, constant: 256_000_000 };

/// The most bytes of a cache of plans.
const CACHE: usize = 1 << 20;

/// Runs the target.
pub fn run(data: &[u8]) {
    let Some([query, variables, limits]) = texts(data) else { return };
    let Some(request) = request(query, variables) else { return };
    let limits = self::limits(limits);
    let allowance = if query.contains("fragment") { SPREADING } else { ALLOWANCE };
    let catalog = catalog();
    let fresh = within(allowance, data.len(), || compile(catalog, &request, &limits));
    match &fresh {
        Ok(compiled) => check_compiled(&request, compiled, &limits),
        Err(errors) => refusal::check(errors, query),
    }
    // That takes five times as long as all before. An eighth of the inputs is enough, and each input is always the same.
    if data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)).is_multiple_of(8) {
        check_cached(&fresh, &request, &limits);
    }
}

/// Compiles the request with a cache.
fn check_cached(fresh: &Result<Compiled, GraphqlErrors>, request: &Request, limits: &Limits) {
    let catalog = catalog();
    // The second time the plan is in the cache.
    let compiler = Compiler::new(Arc::clone(catalog), CACHE);
    let other = Request { variables: other_values(request), ..request.clone() };
    assert_same(fresh, &compiler.compile(request, limits));
    assert_same(fresh, &compiler.compile(request, limits));
    if other.variables != request.variables {
        assert_same(&compile(catalog, &other, limits), &compiler.compile(&other, limits));
        assert_same(fresh, &compiler.compile(request, limits));
    }
}

fn request(query: &str, variables: &str) -> Option<Request> {
    let variables = match variables.trim() {
        "" => serde_json::Map::new(),
        text => serde_json::from_str(text).ok()?,
    };
    Some(Request { query: query.to_owned(), operation_name: None, variables })
}

/// Limits of the form `max cost, max page size, max depth, bucket size`; missing ones are the defaults.
fn limits(text: &str) -> Limits {
    let mut numbers = text.split(',').map(|number| number.trim().parse::<u32>().ok());
    let mut next = || numbers.next().flatten();
    let mut limits = Limits { max_cost: 100_000, bucket_size: 100_000, ..Limits::DEFAULT };
    limits.max_cost = next().map_or(limits.max_cost, u64::from);
    limits.max_page_size = next().unwrap_or(limits.max_page_size);
    limits.max_depth = next().unwrap_or(limits.max_depth);
    limits.bucket_size = next().map_or(limits.bucket_size, u64::from);
    limits
}

fn check_compiled(request: &Request, compiled: &Compiled, limits: &Limits) {
    assert!(compiled.estimate.cost() <= limits.highest_cost());
    let explanation = explain(catalog(), request, limits).expect("what is compiled can be explained");
    assert_eq!(explanation.estimate.cost(), compiled.estimate.cost());
    assert!(explanation.depth <= limits.max_depth);
    assert_eq!(explanation.errors, None);
    let total = explanation.cost.iter().fold(0_u64, |sum, line| sum.saturating_add(line.total));
    assert_eq!(total, compiled.estimate.cost(), "the tree does not add up");

    let (plan, sql) = (&compiled.plan, compiled.plan.sql());
    for (index, step) in plan.steps().iter().enumerate() {
        assert!(step.parent.is_none_or(|parent| parent < index), "a step's parents come before it");
    }
    assert_eq!(plan.needs_database(), !sql.is_empty());
    assert!(!sql.contains('\''), "a string literal in {sql}");
    let named: BTreeSet<_> = placeholders(sql).collect();
    assert!(named.into_iter().eq(1..=plan.parameters().len()), "the parameters of {sql}");
}

/// The numbers of the placeholders in an SQL text.
fn placeholders(sql: &str) -> impl Iterator<Item = usize> {
    sql.split('$').skip(1).filter_map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    })
}

/// The variables with other values of the same types.
fn other_values(request: &Request) -> serde_json::Map<String, Json> {
    let mut variables = request.variables.clone();
    for value in variables.values_mut() {
        match value {
            Json::Number(number) => {
                if let Some(number) = number.as_i64().filter(|number| *number > 1) {
                    *value = (number - 1).into();
                }
            }
            Json::String(text) => *text = text.replace('1', "2").replace('a', "b"),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => {}
        }
    }
    variables
}

fn assert_same(fresh: &Result<Compiled, GraphqlErrors>, cached: &Result<Compiled, GraphqlErrors>) {
    match (fresh, cached) {
        (Ok(fresh), Ok(cached)) => {
            assert_eq!(fresh.estimate.cost(), cached.estimate.cost());
            assert_eq!(fresh.plan.response_template().ops, cached.plan.response_template().ops);
            assert_eq!(fresh.plan.steps(), cached.plan.steps());
            assert_eq!(fresh.plan.columns(), cached.plan.columns());
            assert_eq!(fresh.plan.sql(), cached.plan.sql());
            assert!(fresh.plan.parameters().eq(cached.plan.parameters()), "the values of {}", fresh.plan.sql());
        }
        (Err(fresh), Err(cached)) => assert_eq!(fresh, cached),
        (fresh, cached) => panic!("{fresh:?} without a cache, {cached:?} with one"),
    }
}
