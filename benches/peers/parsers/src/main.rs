//! orderql's compiler beside other parsers and validators, with the same documents and schema.
//!
//! - `documents`: the documents
//! - `dynamic_schema`: the schema for async-graphql
//! - `graphql_js`: graphql-js, which runs in Node
//!
//! A document that a validator rejects is not timed with it.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../../../micro/documents.rs"]
mod documents;
mod dynamic_schema;
mod graphql_js;

use std::env;
use std::sync::LazyLock;

use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mimalloc::MiMalloc;
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::limits::Limits;
use orderql::query::parse::Source;
use orderql::query::validate::validate;

use crate::documents::{Document, accepted, rejected};

/// The server's allocator, for all but graphql-js.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::built_in().unwrap());
static APOLLO: LazyLock<Valid<Schema>> =
    LazyLock::new(|| Schema::parse_and_validate(CATALOG.sdl(), "schema.graphql").unwrap());
static ASYNC_GRAPHQL: LazyLock<async_graphql::dynamic::Schema> =
    LazyLock::new(|| dynamic_schema::build(CATALOG.sdl()).unwrap());

fn main() {
    divan::main();
    // Cargo's argument, without which divan runs everything once, as a test.
    if env::args().any(|argument| argument == "--bench") {
        graphql_js::run(CATALOG.sdl(), &documents(|_| true));
    }
}

fn documents(accepts: fn(&str) -> bool) -> Vec<Document> {
    accepted().into_iter().chain(rejected()).filter(|document| accepts(&document.text)).collect()
}

fn bench(bencher: Bencher<'_, '_>, document: &Document, validate: fn(&str) -> bool) {
    bencher.counter(BytesCount::of_str(&document.text)).bench(|| validate(black_box(&document.text)));
}

/// From text to cost and SQL, or to an error, without a cache.
#[divan::bench(args = documents(|_| true))]
fn orderql_compile(bencher: Bencher<'_, '_>, document: &Document) {
    let (request, limits) = (document.request(), Limits { max_cost: 10_000, bucket_size: 10_000, ..Limits::default() });
    bencher.bench(|| compile(&CATALOG, black_box(&request), &limits).is_ok());
}

#[divan::bench(args = documents(orderql_accepts))]
fn orderql_validate(bencher: Bencher<'_, '_>, document: &Document) {
    bench(bencher, document, orderql_accepts);
}

fn orderql_accepts(text: &str) -> bool {
    Source::read(text).and_then(|source| validate(&CATALOG, &source.parse()?, None)).is_ok()
}

#[divan::bench(args = documents(apollo_accepts))]
fn apollo_compiler_validate(bencher: Bencher<'_, '_>, document: &Document) {
    bench(bencher, document, apollo_accepts);
}

fn apollo_accepts(text: &str) -> bool {
    ExecutableDocument::parse_and_validate(&APOLLO, text, "query.graphql").is_ok()
}

#[divan::bench(args = documents(async_graphql_accepts))]
fn async_graphql_validate(bencher: Bencher<'_, '_>, document: &Document) {
    bench(bencher, document, async_graphql_accepts);
}

fn async_graphql_accepts(text: &str) -> bool {
    dynamic_schema::accepts(&ASYNC_GRAPHQL, text)
}
