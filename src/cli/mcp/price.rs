//! Prices queries.

use serde_json::{Value, json};

use crate::cli::mcp::backend::{Authorization, ToolBackend};
use crate::cli::mcp::reply::{Reply, ToolRefusal};
use crate::cli::query::response::Ordered;
use crate::query::Request;

/// The most fields of a price that are listed.
const LISTED_FIELDS: usize = 5;

/// The price of a query.
pub(super) async fn price(
    backend: &ToolBackend,
    caller: &Authorization,
    request: &Request,
) -> Result<Reply, ToolRefusal> {
    let cost = cost(backend, caller, request).await?;
    let fields = cost["fields"].as_array().cloned().unwrap_or_default();
    let mut fields: Vec<_> =
        fields.into_iter().filter(|field| field["requestedSubtreeCost"].as_u64() > Some(0)).collect();
    fields.sort_by_key(|field| std::cmp::Reverse(field["requestedSubtreeCost"].as_u64()));
    let fields = fields.iter().take(LISTED_FIELDS).map(|field| {
        let path = field["path"].as_array().into_iter().flatten().filter_map(Value::as_str);
        json!({ "path": path.collect::<Vec<_>>().join("."), "cost": field["requestedSubtreeCost"] })
    });
    Ok(Reply::new(vec![
        ("cost", Ordered::Scalar(cost["requestedQueryCost"].clone())),
        ("maxCost", Ordered::Scalar(cost["maxCost"].clone())),
        ("depth", Ordered::Scalar(cost["depth"].clone())),
        ("credits", Ordered::Scalar(cost["throttleStatus"]["currentlyAvailable"].clone())),
        ("mostExpensive", Ordered::Scalar(fields.collect())),
    ]))
}

/// The report of a query that is valid.
pub(super) async fn cost(
    backend: &ToolBackend,
    caller: &Authorization,
    request: &Request,
) -> Result<Value, ToolRefusal> {
    let report = backend.price(caller, request).await?.to_value();
    match report.get("errors") {
        Some(errors) => Err(ToolRefusal::by_server(errors)),
        None => Ok(report["extensions"]["cost"].clone()),
    }
}
