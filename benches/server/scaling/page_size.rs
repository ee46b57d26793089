//! Rows and latency of pages of different sizes.

use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::Result;
use crate::report::Report;
use crate::targets::Context;
use crate::targets::figures::Window;
use crate::targets::http::HttpTarget;
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

/// Measures all sizes, over one connection.
pub fn measure(context: &Context<'_>, orderql: &HttpTarget<'_>, report: &mut Report) -> Result<()> {
    let mut connection = orderql.connect()?;
    let keys = context.keys.of(Workload::Page).iter().take(POSITIONS);
    let cursors = keys.map(|key| orderql.cursor(&mut connection, key)).collect::<Result<Vec<_>>>()?;
    let mut rows = Vec::new();
    for (name, query) in QUERIES {
        for size in SIZES {
            eprintln!("a page of {size} {name}");
            let variables: Vec<_> = cursors.iter().map(|after| json!({ "first": size, "after": after })).collect();
            let requests =
                Rc::new(variables.iter().map(|variables| orderql.request(query, variables)).collect::<Vec<_>>());
            let mut nodes = 0;
            for request in requests.iter() {
                nodes += count_nodes(&connection.data(request)?);
            }
            let figures = orderql.load(&requests, 1, Window::closed(WARM_UP, context.time))?;
            rows.push(figures.row(vec![
                ("query", json!(name)),
                ("size", json!(size)),
                ("rows", json!(nodes as f64 / requests.len() as f64)),
            ]));
        }
    }
    report.table("page_size", rows);
    Ok(())
}

fn count_nodes(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => u64::from(fields.contains_key("node")) + fields.values().map(count_nodes).sum::<u64>(),
        Value::Array(values) => values.iter().map(count_nodes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
