//! The catalog asked for everything that it declares: every root, every connection and every field over sample rows,
//! every search key with every comparator, and every sort key. What the answers must be is asked of PostgreSQL by
//! statements of the test's own, and what is declared is held against the curated schema's table, written down here.

use crate::support::database::{Database, loaded_database};

mod collection_roots;
mod every_field;
mod introspection;
mod schema_errors;
mod search_keys;
mod sort_keys;

/// The demo's rows, with values where it has none.
pub async fn sample() -> Database {
    let database = loaded_database().await;
    database.connect().await.batch_execute(include_str!("rows.sql")).await.unwrap();
    database
}
