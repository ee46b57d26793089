//! Random queries on PostgreSQL. Every response equals the response of a resolver without plans and SQL, no statement reads more
//! than its access path says, and the pages of a connection have all its rows in both directions.
//!
//! `FUZZ_QUERIES` sets the number of queries, `FUZZ_SEED` another seed. A query that fails is made small and written to
//! `tests/data/failing_queries`.

pub mod check;
pub mod pagination;
pub mod row_values;

use std::path::{Path, PathBuf};
use std::{env, fs};

use orderql::catalog::Catalog;
use orderql::query::Request;
use orderql_generator::change::shrink;
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::execute::random_queries::check::Checker;
use crate::execute::random_queries::pagination::Pagination;
use crate::execute::random_queries::row_values::RowValues;
use crate::support::database::loaded_database;
use crate::support::naive_resolver::tables::Tables;
use crate::support::random::Random;

/// The choices of a query. Small ones are small queries.
const BYTES: usize = 1500;

/// Pages that are read after so many queries.
const QUERIES_OF_PAGES: u64 = 20;

fn number(variable: &str, default: u64) -> u64 {
    let number = env::var(variable).map_or(default, |number| number.parse().unwrap());
    println!("{variable}={number}");
    number
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/failing_queries")
}

/// A request as a client sends it.
pub fn written(request: &Request) -> Value {
    json!({ "query": request.query, "operationName": request.operation_name, "variables": request.variables })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_response_is_that_of_a_naive_resolver() {
    let (queries, seed) = (number("FUZZ_QUERIES", 300), number("FUZZ_SEED", 1));
    let database = loaded_database().await;
    let catalog = Catalog::built_in().unwrap();
    let tables = Tables::read(&database.connect().await, &catalog).await;
    let checker = Checker::new(&database, &tables).await;
    let (values, settings) = (RowValues(&tables), Settings { introspection: false, ..Settings::default() });
    for number in 0..queries {
        let length = 20 + usize::try_from(number).unwrap() * 37 % BYTES;
        let bytes = bytes_of_seed(seed << 32 | number, length);
        let generated = generate(&catalog, &values, settings, &mut Choices::new(&bytes));
        let Err(error) = checker.check(&generated.request()).await else { continue };
        let smallest = shrink(&generated, |smaller| {
            let request = smaller.request();
            block_in_place(|| Handle::current().block_on(checker.check(&request))).is_err()
        });
        let request = smallest.request();
        let file = folder().join(format!("seed_{seed}_{number}.json"));
        fs::write(&file, format!("{:#}\n", written(&request))).unwrap();
        let smaller_error = checker.check(&request).await.err();
        panic!("query {number}: {error}\nsmaller, in {}: {smaller_error:?}", file.display());
    }
    checker.assert_enough(queries);
    for number in 0..queries / QUERIES_OF_PAGES {
        let mut random = Random(seed << 32 | number);
        Pagination::random(&mut random, &catalog, &tables).check(&checker).await;
    }
}

#[tokio::test]
async fn queries_that_failed_once_are_right() {
    let database = loaded_database().await;
    let tables = Tables::read(&database.connect().await, &Catalog::built_in().unwrap()).await;
    let checker = Checker::new(&database, &tables).await;
    for file in fs::read_dir(folder()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let request: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let request = Request {
            query: request["query"].as_str().unwrap().to_owned(),
            operation_name: request["operationName"].as_str().map(str::to_owned),
            variables: request["variables"].as_object().cloned().unwrap_or_default(),
        };
        if let Err(error) = checker.check(&request).await {
            panic!("{}: {error}", path.display());
        }
    }
}
