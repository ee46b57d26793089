//! Requests that are refused, from text to refusal. The most that a caller can make us do before anything is paid.

use std::fmt::{self, Display};
use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::compiler::Compiler;
use orderql::limits::Limits;
use orderql::query::Request;

use crate::{documents, request};

struct Refused {
    name: String,
    catalog: Arc<Catalog>,
    request: Request,
}

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Each is named with the code that it is refused with.
fn cases() -> Vec<Refused> {
    let catalog = Arc::new(Catalog::built_in().unwrap());
    let case = |document: documents::Document| {
        let request = request(&document);
        let refusals = compile(&catalog, &request, &Limits::default()).unwrap_err();
        let name = format!("{} {}", document.name, refusals.first().code.as_str());
        Refused { name, catalog: Arc::clone(&catalog), request }
    };
    documents::refused().into_iter().map(case).collect()
}

#[divan::bench(args = cases())]
fn cold(bencher: Bencher<'_, '_>, case: &Refused) {
    let limits = Limits::default();
    let bencher = bencher.counter(BytesCount::of_str(&case.request.query));
    bencher.bench(|| compile(&case.catalog, black_box(&case.request), &limits).unwrap_err());
}

#[divan::bench(args = cases())]
fn known(bencher: Bencher<'_, '_>, case: &Refused) {
    let (compiler, limits) = (Compiler::new(Arc::clone(&case.catalog), 1 << 24), Limits::default());
    bencher.bench(|| compiler.compile(black_box(&case.request), &limits).unwrap_err());
}
