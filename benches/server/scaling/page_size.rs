//! Statements, rows and latency of pages of different sizes. The number of statements depends on the query alone.

use std::rc::Rc;
use std::time::Duration;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::limits::Limits;
use orderql::query::Request;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{BenchError, Result};
use crate::output::optional;
use crate::targets::http::HttpTarget;
use crate::targets::{Context, Figures};
use crate::workload::Workload;

const SIZES: [u32; 7] = [1, 2, 5, 10, 20, 50, 100];

/// How many positions are asked for in turn.
const POSITIONS: usize = 200;

const WARM_UP: Duration = Duration::from_millis(300);

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

/// The figures of a query with one page size, over one connection.
#[derive(Debug, Serialize)]
pub struct OfSize {
    query: &'static str,
    size: u32,
    statements: usize,
    /// The mean of nodes in a response.
    rows: f64,
    figures: Figures,
}

/// Measures all sizes.
pub fn measure(context: &Context<'_>, orderql: &HttpTarget<'_>) -> Result<Vec<OfSize>> {
    let catalog = Catalog::built_in()?;
    let unlimited = Limits { max_cost: u64::MAX, ..Limits::default() };
    let mut connection = orderql.connect()?;
    let keys = context.keys.of(Workload::Page).iter().take(POSITIONS);
    let cursors = keys.map(|key| orderql.cursor(&mut connection, key)).collect::<Result<Vec<_>>>()?;
    let mut measured = Vec::new();
    for (name, query) in QUERIES {
        for size in SIZES {
            eprintln!("a page of {size} {name}");
            let variables: Vec<_> = cursors.iter().map(|after| json!({ "first": size, "after": after })).collect();
            let first = variables[0].as_object().cloned().unwrap_or_default();
            let request = Request { query: query.to_owned(), variables: first, ..Request::default() };
            let compiled = compile(&catalog, &request, &unlimited)
                .map_err(|errors| BenchError::Query { errors, query: query.to_owned() })?;
            let requests =
                Rc::new(variables.iter().map(|variables| orderql.request(query, variables)).collect::<Vec<_>>());
            let mut nodes = 0;
            for request in requests.iter() {
                nodes += count_nodes(&connection.data(request)?);
            }
            measured.push(OfSize {
                query: name,
                size,
                statements: compiled.plan.steps().len(),
                rows: nodes as f64 / requests.len() as f64,
                figures: orderql.load(&requests, 1, (WARM_UP, context.time))?,
            });
        }
    }
    Ok(measured)
}

fn count_nodes(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => u64::from(fields.contains_key("node")) + fields.values().map(count_nodes).sum::<u64>(),
        Value::Array(values) => values.iter().map(count_nodes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Prints the figures.
pub fn print(sizes: &[OfSize]) {
    println!(
        "\n{:<22}{:>6}{:>12}{:>9}{:>9}{:>9}{:>9}{:>12}",
        "a page of", "size", "statements", "rows", "p50 ms", "p99 ms", "PG CPU", "server CPU"
    );
    for OfSize { query, size, statements, rows, figures } in sizes {
        let Figures { p50_ms, p99_ms, postgresql_cpu_ms, server_cpu_ms, .. } = figures;
        let (postgresql, server) = (optional(*postgresql_cpu_ms, 3), optional(*server_cpu_ms, 3));
        println!(
            "{query:<22}{size:>6}{statements:>12}{rows:>9.1}{p50_ms:>9.3}{p99_ms:>9.3}{postgresql:>9}{server:>12}"
        );
    }
}
