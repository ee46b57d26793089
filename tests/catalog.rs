//! The catalog asked for everything that it declares: every root, every connection and every field over sample rows,
//! every search key with every comparator, and every sort key. What the answers must be is asked of PostgreSQL by
//! statements of the test's own, and what is declared is held against the curated schema's table, written down here.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "catalog/everything.rs"]
mod everything;
#[path = "catalog/roots.rs"]
mod roots;
#[path = "catalog/search.rs"]
mod search;
#[path = "catalog/sort.rs"]
mod sort;
mod support;

use support::{Database, loaded_database};

/// The demo's rows, with values where it has none.
async fn sample() -> Database {
    let database = loaded_database().await;
    database.connect().await.batch_execute(include_str!("catalog/rows.sql")).await.unwrap();
    database
}
