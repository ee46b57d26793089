//! Each stage by itself, and all of them: without a memory, and with one that has seen the text before.

use std::fmt::{self, Display};
use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::compiler::Compiler;
use orderql::cost::admission::admit;
use orderql::cost::depth::depth;
use orderql::cost::estimate::estimate;
use orderql::plan::build::template;
use orderql::query::Request;
use orderql::query::bind::bind;
use orderql::query::bind::resolve::resolve;
use orderql::query::operation::Operation;
use orderql::query::parse::Source;
use orderql::query::validate::validate;

use crate::{AMPLE, documents, request};

/// What a stage is given.
struct Case {
    name: &'static str,
    catalog: Catalog,
    request: Request,
}

impl Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Case {
    fn operation(&self) -> Operation {
        let source = Source::read(&self.request.query).unwrap();
        validate(&self.catalog, &source.parse().unwrap(), None).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let case = |document: documents::Document| Case {
        name: document.name,
        catalog: Catalog::built_in().unwrap(),
        request: request(&document),
    };
    documents::answered().into_iter().map(case).collect()
}

#[divan::bench(args = cases())]
fn a_parse(bencher: Bencher<'_, '_>, case: &Case) {
    let text = &case.request.query;
    bencher.counter(BytesCount::of_str(text)).bench(|| {
        let source = Source::read(black_box(text)).unwrap();
        black_box(source.parse().unwrap());
    });
}

#[divan::bench(args = cases())]
fn b_validate(bencher: Bencher<'_, '_>, case: &Case) {
    let source = Source::read(&case.request.query).unwrap();
    let document = source.parse().unwrap();
    bencher.bench(|| validate(&case.catalog, black_box(&document), None).unwrap());
}

#[divan::bench(args = cases())]
fn c_resolve(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    bencher.bench(|| resolve(&case.catalog, black_box(&operation), &case.request.variables, &AMPLE).unwrap());
}

#[divan::bench(args = cases())]
fn d_bind(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    let resolved = resolve(&case.catalog, &operation, &case.request.variables, &AMPLE).unwrap();
    bencher.bench(|| bind(&case.catalog, black_box(&operation), &resolved));
}

#[divan::bench(args = cases())]
fn e_cost(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    let resolved = resolve(&case.catalog, &operation, &case.request.variables, &AMPLE).unwrap();
    let bound = bind(&case.catalog, &operation, &resolved);
    bencher.bench(|| admit(depth(black_box(&bound)), estimate(black_box(&bound)).cost(), &AMPLE));
}

#[divan::bench(args = cases())]
fn f_plan(bencher: Bencher<'_, '_>, case: &Case) {
    let operation = case.operation();
    let resolved = resolve(&case.catalog, &operation, &case.request.variables, &AMPLE).unwrap();
    let bound = bind(&case.catalog, &operation, &resolved);
    bencher.bench(|| template(&case.catalog, black_box(&bound)));
}

#[divan::bench(args = cases())]
fn g_compile_cold(bencher: Bencher<'_, '_>, case: &Case) {
    bencher.bench(|| compile(&case.catalog, black_box(&case.request), &AMPLE).unwrap());
}

#[divan::bench(args = cases())]
fn h_compile_known(bencher: Bencher<'_, '_>, case: &Case) {
    let compiler = Compiler::new(Arc::new(Catalog::built_in().unwrap()), 1 << 24);
    bencher.bench(|| compiler.compile(black_box(&case.request), &AMPLE).unwrap());
}
