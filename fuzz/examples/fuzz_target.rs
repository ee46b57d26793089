//! A fuzz target on the library: a query for one's own schema, of which this checks that whatever is admitted costs no more
//! than allowed, reads a bounded number of pages, and has no text of the query in its SQL.
//!
//! `cargo run --no-default-features --example fuzz_target -- INPUT…` runs it on files. Under libFuzzer it is
//! `libfuzzer_sys::fuzz_target!(|data: &[u8]| target(data));`.

#![allow(clippy::expect_used, reason = "a target fails by panicking")]

use std::sync::LazyLock;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::limits::Limits;
use orderql::query::Request;

/// Read once. Put your own schema file here.
static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::built_in().expect("the schema file is valid"));

fn target(data: &[u8]) {
    let Ok(query) = str::from_utf8(data) else { return };
    let request = Request { query: query.to_owned(), ..Request::default() };
    let limits = Limits { max_cost: 500, ..Limits::DEFAULT };
    // What is refused has errors with codes and places; `support/refusal.rs` checks them.
    let Ok(compiled) = compile(&CATALOG, &request, &limits) else { return };
    assert!(compiled.estimate.cost() <= 500);
    let steps = compiled.plan.steps();
    assert!(steps.len() as u64 <= compiled.estimate.cost(), "each connection and lookup costs a credit at least");
    assert!(!compiled.plan.sql().contains('\''), "a literal in the SQL");
}

fn main() -> std::io::Result<()> {
    for path in std::env::args_os().skip(1) {
        target(&std::fs::read(path)?);
    }
    Ok(())
}
