//! Statements, rows and latency against the size of a page: the statements are a number of the query's, whatever it finds.

use std::rc::Rc;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::limits::Limits;
use orderql::query::Request;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Bench, known};
use crate::contestant::{Figures, Window};
use crate::contestants::served::{Served, load};
use crate::measure::Fault;

/// Page sizes.
const SIZES: [u32; 7] = [1, 2, 5, 10, 20, 50, 100];

/// How many places in the walk are asked in turn.
const PLACES: usize = 200;

/// Before a measurement counts.
const WARM_UP: std::time::Duration = std::time::Duration::from_millis(300);

/// What is asked with each size.
const QUERIES: [(&str, &str); 2] = [
    (
        "orders",
        "query Sized($first: Int!, $after: String) { orders(first: $first, after: $after, reverse: true) { edges { node { \
         orderId orderName statusId orderDate grandTotal currencyUomId externalId } } } }",
    ),
    (
        "orders with items",
        "query Sized($first: Int!, $after: String) { orders(first: $first, after: $after, reverse: true) { edges { node { \
         orderId orderDate statusId orderItems(first: 10) { edges { node { orderItemSeqId productId quantity unitPrice } } \
         } } } } }",
    ),
];

/// Figures of one query with one page size.
#[derive(Debug, Serialize)]
pub struct OfSize {
    query: &'static str,
    size: u32,
    statements: usize,
    /// Nodes in an answer, on the average.
    rows: f64,
    /// Asked over one connection.
    figures: Figures,
}

/// Measures all sizes.
pub fn measure(bench: &Bench<'_>, ours: &Served) -> Result<Vec<OfSize>, Fault> {
    let catalog = Catalog::built_in().map_err(|error| Fault::Data(error.to_string()))?;
    let unlimited = Limits { max_cost: u64::MAX, ..Limits::default() };
    let mut line = ours.line()?;
    let cursors = bench.keys.places.iter().take(PLACES).map(|key| ours.cursor(&mut line, key));
    let cursors = cursors.collect::<Result<Vec<_>, _>>()?;
    let mut measured = Vec::new();
    for (name, query) in QUERIES {
        for size in SIZES {
            eprintln!("a page of {size} {name}");
            let variables = |cursor: &String| json!({ "first": size, "after": cursor });
            let Value::Object(of_first) = variables(&cursors[0]) else { continue };
            let request = Request { query: query.to_owned(), variables: of_first, ..Request::default() };
            let compiled = compile(&catalog, &request, &unlimited);
            let compiled = compiled.map_err(|refusals| Fault::Data(refusals.to_string()))?;
            let requests: Vec<_> = cursors.iter().map(|cursor| ours.request(query, &variables(cursor))).collect();
            let mut rows = 0;
            for request in &requests {
                rows += nodes(&line.data(request)?);
            }
            let rows = rows as f64 / requests.len() as f64;
            let window = Window { warm_up: WARM_UP, time: bench.time };
            let figures = load(ours.server(), Rc::new(requests), window, Some(bench.store.postmaster), 1)?;
            measured.push(OfSize { query: name, size, statements: compiled.plan.steps().len(), rows, figures });
        }
    }
    Ok(measured)
}

/// How many edges an answer has.
fn nodes(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => u64::from(fields.contains_key("node")) + fields.values().map(nodes).sum::<u64>(),
        Value::Array(values) => values.iter().map(nodes).sum(),
        _ => 0,
    }
}

/// Prints the figures.
pub fn print(sizes: &[OfSize]) {
    println!(
        "\n{:<22}{:>6}{:>12}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "a page of", "size", "statements", "rows", "p50 ms", "p99 ms", "PG CPU", "our CPU"
    );
    for OfSize { query, size, statements, rows, figures } in sizes {
        println!(
            "{query:<22}{size:>6}{statements:>12}{rows:>9.1}{:>9.3}{:>9.3}{:>9}{:>9}",
            figures.p50_ms,
            figures.p99_ms,
            known(figures.postgresql_cpu_ms, 3),
            known(figures.server_cpu_ms, 3)
        );
    }
}
