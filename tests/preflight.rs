//! A catalog held against databases that fit it, and against databases that something was taken from.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use orderql::catalog::Catalog;
use orderql::preflight::check;
use orderql::preflight::mismatch::Mismatch;
use support::{Database, empty_database, fresh_database};

async fn mismatches(database: &Database, schema: &Catalog) -> Vec<Mismatch> {
    check(&database.connect().await, schema).await.unwrap()
}

#[tokio::test]
async fn the_built_in_schema_fits_a_migrated_database() {
    let database = fresh_database().await;
    let t = std::time::Instant::now();
    let m = mismatches(&database, &Catalog::built_in().unwrap()).await;
    println!("{:?}", t.elapsed());
    for x in &m { println!("{x}"); }
    assert_eq!(m, []);
}
