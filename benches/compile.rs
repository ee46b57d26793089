//! What the pure half costs: `cargo bench --bench compile`.
//!
//! Each stage by itself, and all of them with and without the memory of texts, over documents of several sizes.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::sync::Arc;

use divan::{Bencher, black_box, counter::BytesCount};
use orderql::catalog::Catalog;
use orderql::compile::{Compiler, compile};
use orderql::cost::estimate::estimate;
use orderql::limits::Limits;
use orderql::plan::build::template;
use orderql::query::bind::bind;
use orderql::query::bind::resolve::resolve;
use orderql::query::parse::parse;
use orderql::query::validate::validate;
use orderql::query::{Request, Variables};

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

const QUERIES: [(&str, &str); 3] = [
    ("point", include_str!("queries/point.graphql")),
    ("page", include_str!("queries/page.graphql")),
    ("detail", include_str!("queries/detail.graphql")),
];
const NAMES: [&str; 3] = ["point", "page", "detail"];

fn request(name: &str) -> Request {
    let query = QUERIES.iter().find(|(known, _)| *known == name).unwrap().1.to_owned();
    let variables = Variables::from_iter([("orderId".to_owned(), "DEMO10090".into())]);
    Request { query, variables, ..Request::default() }
}

#[divan::bench(args = NAMES)]
fn parsing(bencher: Bencher<'_, '_>, name: &str) {
    let request = request(name);
    bencher.counter(BytesCount::of_str(&request.query)).bench(|| parse(black_box(&request.query)).unwrap());
}

#[divan::bench(args = NAMES)]
fn validating(bencher: Bencher<'_, '_>, name: &str) {
    let (catalog, request) = (Catalog::built_in().unwrap(), request(name));
    let document = parse(&request.query).unwrap();
    bencher.bench(|| validate(&catalog, black_box(&document), None).unwrap());
}

#[divan::bench(args = NAMES)]
fn binding(bencher: Bencher<'_, '_>, name: &str) {
    let (catalog, request, limits) = (Catalog::built_in().unwrap(), request(name), Limits::default());
    let operation = validate(&catalog, &parse(&request.query).unwrap(), None).unwrap();
    let resolved = resolve(&catalog, &operation, &request.variables, &limits).unwrap();
    bencher.bench(|| bind(&catalog, black_box(&operation), &resolved));
}

#[divan::bench(args = NAMES)]
fn resolving(bencher: Bencher<'_, '_>, name: &str) {
    let (catalog, request, limits) = (Catalog::built_in().unwrap(), request(name), Limits::default());
    let operation = validate(&catalog, &parse(&request.query).unwrap(), None).unwrap();
    bencher.bench(|| resolve(&catalog, black_box(&operation), &request.variables, &limits).unwrap());
}

#[divan::bench(args = NAMES)]
fn estimating(bencher: Bencher<'_, '_>, name: &str) {
    let (catalog, request, limits) = (Catalog::built_in().unwrap(), request(name), Limits::default());
    let operation = validate(&catalog, &parse(&request.query).unwrap(), None).unwrap();
    let resolved = resolve(&catalog, &operation, &request.variables, &limits).unwrap();
    let bound = bind(&catalog, &operation, &resolved);
    bencher.bench(|| estimate(black_box(&bound)));
}

#[divan::bench(args = NAMES)]
fn planning(bencher: Bencher<'_, '_>, name: &str) {
    let (catalog, request, limits) = (Catalog::built_in().unwrap(), request(name), Limits::default());
    let operation = validate(&catalog, &parse(&request.query).unwrap(), None).unwrap();
    let resolved = resolve(&catalog, &operation, &request.variables, &limits).unwrap();
    let bound = bind(&catalog, &operation, &resolved);
    bencher.bench(|| template(&catalog, black_box(&bound)));
}

#[divan::bench(args = NAMES)]
fn compiling_cold(bencher: Bencher<'_, '_>, name: &str) {
    let (catalog, request, limits) = (Catalog::built_in().unwrap(), request(name), Limits::default());
    bencher.bench(|| compile(&catalog, black_box(&request), &limits).unwrap());
}

#[divan::bench(args = NAMES)]
fn compiling_again(bencher: Bencher<'_, '_>, name: &str) {
    let compiler = Compiler::new(Arc::new(Catalog::built_in().unwrap()), 1 << 20);
    let (request, limits) = (request(name), Limits::default());
    bencher.bench(|| compiler.compile(black_box(&request), &limits).unwrap());
}
