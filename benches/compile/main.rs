//! What the pure half costs, in time and in allocations: `cargo bench --bench compile`.
//!
//! - [`stages`]: each stage by itself, and all of them with and without a memory
//! - [`refusals`]: requests that are refused
//! - [`small`]: search strings and cursors

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::panic, reason = "a bench fails by panicking")]

#[path = "../documents/mod.rs"]
mod documents;
mod stages;
mod refusals;
mod small;

use documents::Document;
use orderql::limits::Limits;
use orderql::query::Request;

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

/// Enough for the specification's worked case.
const AMPLE: Limits = Limits { max_cost: 10_000, max_page_size: 100, max_depth: 6 };

fn request(document: &Document) -> Request {
    let variables = serde_json::from_str(document.variables).unwrap();
    Request { query: document.text.clone(), variables, ..Request::default() }
}
