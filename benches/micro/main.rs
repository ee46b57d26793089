//! Times the stages of a query, and counts their allocations: `./dev bench micro`.
//!
//! - [`documents`]: the queries
//! - [`compile`]: from a query's text to its plan, stage by stage and at once
//! - [`strings`]: search strings and cursors
//! - [`response_writer`]: from rows to the response

#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod documents;
mod compile;
mod strings;
#[cfg(feature = "tools")]
mod response_writer;

use orderql::limits::Limits;

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

/// Limits that the specification's worked case does not exceed.
const HIGH_LIMITS: Limits = Limits { max_cost: 10_000, bucket_size: 10_000, ..Limits::DEFAULT };

fn main() {
    divan::main();
}
