//! The catalog: every root, connection and field of it, every search key with every comparator, and every sort key, on
//! sample rows. The tests get the expected results from PostgreSQL with statements of their own.

use crate::support::database::{Database, loaded_database};

pub mod collection_roots;
mod descriptions;
mod every_field;
mod introspection;
mod labels;
pub mod odd_values;
mod scalars;
mod schema_errors;
mod scopes;
mod search_keys;
mod sort_keys;
mod views;

/// A database with the demo orders, in which half of the nulls have values.
pub async fn sample() -> Database {
    let database = loaded_database().await;
    database.connect().await.batch_execute(include_str!("rows.sql")).await.unwrap();
    database
}
