//! From a query's text to its plan: each stage, and all of them at once, without a cache (cold) and with one that has the
//! query (cached). The last two compile queries that are rejected, the most that a caller can make the server do for free.

use std::fmt::{self, Display};
use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use orderql::catalog::Catalog;
use orderql::catalog::scope::RowScope;
use orderql::compile::compile;
use orderql::compile::compiler::Compiler;
use orderql::cost::estimate::estimate;
use orderql::cost::limit_check::check_limits;
use orderql::limits::Limits;
use orderql::plan::planner::output::Output;
use orderql::plan::planner::template;
use orderql::query::Request;
use orderql::query::bind::bind;
use orderql::query::bind::resolve::{Resolved, resolve};
use orderql::query::operation::Operation;
use orderql::query::parse::Source;
use orderql::query::validate::validate;

use crate::HIGH_LIMITS;
use crate::documents::{Document, accepted, rejected};

/// Bytes of the cache.
const CACHE: usize = 1 << 24;

struct Case {
    name: String,
    catalog: Arc<Catalog>,
    request: Request,
}

impl Case {
    fn new(document: &Document) -> Self {
        let catalog = Arc::new(Catalog::built_in().unwrap());
        Self { name: document.name.to_owned(), catalog, request: document.request() }
    }

    fn operation(&self) -> Operation {
        let source = Source::read(&self.request.query).unwrap();
        validate(&self.catalog, &source.parse().unwrap(), None).unwrap()
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn accepted_cases() -> Vec<Case> {
    accepted().iter().map(Case::new).collect()
}

/// The cases, each named with its error code.
fn rejected_cases() -> Vec<Case> {
    let case = |document: &Document| {
        let mut case = Case::new(document);
        let errors = compile(&case.catalog, &case.request, &Limits::default()).unwrap_err();
        case.name = format!("{} {}", case.name, errors.first().code.as_str());
        case
    };
    rejected().iter().map(case).collect()
}

#[divan::bench(args = accepted_cases())]
fn a_parse(bencher: Bencher<'_, '_>, case: &Case) {
    let text = &case.request.query;
    bencher.counter(BytesCount::of_str(text)).bench(|| {
        let source = Source::read(black_box(text)).unwrap();
        black_box(source.parse().unwrap());
    });
}

#[divan::bench(args = accepted_cases())]
fn b_validate(bencher: Bencher<'_, '_>, case: &Case) {
    let source = Source::read(&case.request.query).unwrap();
    let document = source.parse().unwrap();
    bencher.bench(|| validate(&case.catalog, black_box(&document), None).unwrap());
}

fn resolved<'a>(case: &'a Case, operation: &'a Operation) -> Resolved<'a> {
    resolve(&case.catalog, operation, &case.request.variables, (&HIGH_LIMITS).into()).unwrap()
}

#[divan::bench(args = accepted_cases())]
fn c_resolve(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    bencher.bench(|| resolved(case, black_box(&operation)).terms(&RowScope::default()).unwrap());
}

#[divan::bench(args = accepted_cases())]
fn d_bind(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    let resolved = resolved(case, &operation);
    bencher.bench(|| bind(&case.catalog, black_box(&operation), &resolved));
}

#[divan::bench(args = accepted_cases())]
fn e_cost(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    let resolved = resolved(case, &operation);
    let bound = bind(&case.catalog, &operation, &resolved);
    bencher.bench(|| {
        let estimate = estimate(black_box(&bound), &resolved.values);
        check_limits(estimate.depth(), estimate.cost(), &HIGH_LIMITS)
    });
}

#[divan::bench(args = accepted_cases())]
fn f_plan(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    let resolved = resolved(case, &operation);
    let bound = bind(&case.catalog, &operation, &resolved);
    let terms = resolved.terms(&RowScope::default()).unwrap();
    bencher.bench(|| template(&case.catalog, black_box(&bound), &terms.shapes, Output::Data).unwrap());
}

#[divan::bench(args = accepted_cases())]
fn g_cold(bencher: Bencher<'_, '_>, case: &Case) {
    bencher.bench(|| compile(&case.catalog, black_box(&case.request), &HIGH_LIMITS).unwrap());
}

#[divan::bench(args = accepted_cases())]
fn h_cached(bencher: Bencher<'_, '_>, case: &Case) {
    let compiler = Compiler::new(Arc::clone(&case.catalog), CACHE);
    bencher.bench(|| compiler.compile(black_box(&case.request), &HIGH_LIMITS).unwrap());
}

#[divan::bench(args = rejected_cases())]
fn i_rejected_cold(bencher: Bencher<'_, '_>, case: &Case) {
    let (bencher, limits) = (bencher.counter(BytesCount::of_str(&case.request.query)), Limits::default());
    bencher.bench(|| compile(&case.catalog, black_box(&case.request), &limits).unwrap_err());
}

#[divan::bench(args = rejected_cases())]
fn j_rejected_cached(bencher: Bencher<'_, '_>, case: &Case) {
    let (compiler, limits) = (Compiler::new(Arc::clone(&case.catalog), CACHE), Limits::default());
    bencher.bench(|| compiler.compile(black_box(&case.request), &limits).unwrap_err());
}
