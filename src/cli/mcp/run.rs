//! Runs queries.

use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::cli::mcp::backend::{Authorization, ToolBackend};
use crate::cli::mcp::fit::{self, Smaller};
use crate::cli::mcp::limits::QueryLimits;
use crate::cli::mcp::page::{full_pages, next_pages};
use crate::cli::mcp::price::cost;
use crate::cli::mcp::reply::{Reply, ToolRefusal, text};
use crate::cli::mcp::untrusted;
use crate::cli::query::response::{Fields, Ordered};
use crate::outline::Outline;
use crate::outline::typed_paths::selected;
use crate::query::Request;

/// Runs a query, unless it costs too much, and returns its data, unless that is too large.
pub(super) async fn run(
    backend: &ToolBackend,
    caller: &Authorization,
    request: &Request,
    limits: QueryLimits,
) -> Result<Reply, ToolRefusal> {
    let (schema, cost) = tokio::join!(backend.schema(caller), cost(backend, caller, request));
    let (schema, cost) = (schema?, cost?);
    let (requested, max_cost) = (cost["requestedQueryCost"].as_u64().unwrap_or(0), limits.cost(&cost));
    if requested > max_cost {
        let smaller = fit::to_cost(backend, caller, &schema, request, &cost, max_cost).await?;
        let bucket = &cost["throttleStatus"]["maximumAvailable"];
        let facts = json!({ "cost": requested, "maxCost": max_cost, "bucketSize": bucket });
        let what =
            format!("the query costs {requested} credits, and maxCost is {max_cost}; your bucket holds {bucket}");
        return Err(refusal("ABOVE_MAX_COST", &what, facts, smaller));
    }
    let response = backend.run(caller, request).await?;
    let request = request.clone();
    // Large data takes more than a millisecond.
    let presented = spawn_blocking(move || present(&schema, &request, limits, response)).await;
    presented.map_err(|error| ToolRefusal::unreachable(&error))?
}

/// The part of a response that the agent gets.
fn present(schema: &Outline, request: &Request, limits: QueryLimits, response: Ordered) -> Result<Reply, ToolRefusal> {
    let Ordered::Object(mut response) = response else {
        return Err(ToolRefusal::new("SERVER_UNREACHABLE", "the response is none of GraphQL"));
    };
    let errors = response.shift_remove("errors").map(|errors| errors.to_value());
    let Some(mut data @ Ordered::Object(_)) = response.shift_remove("data") else {
        return Err(ToolRefusal::by_server(&errors.unwrap_or_default()));
    };
    let mut reply = Reply::new(Vec::new());
    let selected = selected(schema, &request.query, &request.variables);
    let full = selected.as_ref().map(|selected| full_pages(&data, &selected.pages)).unwrap_or_default();
    reply.untrusted = selected.map_or_else(|| untrusted::strings(&data), |selected| selected.texts);
    untrusted::cut(&mut data, &reply.untrusted);
    let bytes = text(&data).len();
    if bytes > limits.max_bytes {
        let smaller = fit::to_bytes(request, &data, limits.max_bytes);
        let facts = json!({ "bytes": bytes, "maxBytes": limits.max_bytes });
        let what = format!("the data has {bytes} bytes, and maxBytes is {}", limits.max_bytes);
        return Err(refusal("ABOVE_MAX_BYTES", &what, facts, smaller));
    }
    let pages = next_pages(request, limits, &data);
    reply.members.push(("data", data));
    reply.members.extend(errors.map(|errors| ("errors", Ordered::Scalar(errors))));
    if !pages.is_empty() {
        let pages = pages.into_iter().map(|(path, handle)| (path, Ordered::Scalar(handle.encode().into())));
        reply.members.push(("pages", Ordered::Object(pages.collect())));
    }
    if !full.is_empty() {
        reply.members.push(("mayGoOn", Ordered::Scalar(full.into())));
    }
    let extensions = response.get("extensions").and_then(Ordered::as_object);
    reply.members.extend(extensions.into_iter().flat_map(notable));
    Ok(reply)
}

/// The parts of a response's extensions that an agent should know.
fn notable(extensions: &Fields) -> Vec<(&'static str, Ordered)> {
    let cost = extensions.get("cost").and_then(|cost| cost.get("requestedQueryCost"));
    let others = ["warnings", "search", "scope", "sync"].map(|name| (name, extensions.get(name)));
    let all = [("cost", cost)].into_iter().chain(others);
    all.filter_map(|(name, value)| Some((name, value?.clone()))).collect()
}

fn refusal(code: &str, what: &str, facts: Value, smaller: Option<Smaller>) -> ToolRefusal {
    let advice = match &smaller {
        Some(Smaller { sizes, .. }) => {
            let sizes = sizes.iter().map(|(path, argument, size)| format!("{argument}: {size} of {path}"));
            format!("{what}; it fits with {}", sizes.collect::<Vec<_>>().join(", "))
        }
        None => format!("{what}; select fewer fields, or ask for smaller pages"),
    };
    let refusal = ToolRefusal::new(code, &advice).with("facts", facts);
    match smaller {
        Some(smaller) => refusal.with("fits", smaller.fact()),
        None => refusal,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::catalog::Catalog;
    use crate::cli::mcp::reply::{UNTRUSTED, result};

    const QUERY: &str = "{ order(orderId: \"1\") { orderId name: orderName notes(first: 9) {
        edges { node { noteInfo } } pageInfo { hasNextPage endCursor } } } }";

    static SCHEMA: LazyLock<Outline> = LazyLock::new(|| Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap());

    proptest! {
        #[test]
        fn what_strangers_wrote_is_a_value_of_the_data_and_nowhere_else(
            text in "STRANGER[a-z\\\\\"{}\\[\\]:,\n\u{0}\u{202e}é<>/$`#*-]{0,60}",
            repeated in 1_usize..40,
            max_bytes in prop_oneof![Just(100_usize), Just(2000), Just(1_000_000)],
        ) {
            let note = text.repeat(repeated);
            let rows: Vec<_> = (0..5).map(|_| json!({ "node": { "noteInfo": note } })).collect();
            let page = json!({ "hasNextPage": true, "endCursor": "abc" });
            let data = json!({ "order": { "orderId": "1", "name": note, "notes": { "edges": rows, "pageInfo": page } } });
            let response = json!({ "data": data, "extensions": { "cost": { "requestedQueryCost": 3 } } });
            let response = serde_json::from_value(response).unwrap();
            let request = Request { query: QUERY.to_owned(), ..Request::default() };
            let limits = QueryLimits { max_cost: Some(100), max_bytes };
            let result = json!(result(present(&SCHEMA, &request, limits, response)));
            let content = result["content"][0]["text"].as_str().unwrap();
            // One JSON value, in which the text is nowhere but in the data.
            let mut content: Value = serde_json::from_str(content).unwrap();
            let data = content.as_object_mut().unwrap().remove("data");
            prop_assert!(!content.to_string().contains("STRANGER"), "{content}");
            prop_assert!(!result["_meta"].to_string().contains("STRANGER"));
            let Some(mut data) = data else {
                prop_assert_eq!(&result["isError"], true);
                return Ok(());
            };
            prop_assert_eq!(&result["_meta"][UNTRUSTED], &json!(["/data/order/name", "/data/order/notes/edges/*/node/noteInfo", "/data/order/orderId"]));
            for pointer in ["/order/name", "/order/notes/edges/4/node/noteInfo"] {
                let value = data.pointer_mut(pointer).unwrap().take();
                let value = value.as_str().unwrap();
                let kept: String = note.chars().take(500).collect();
                prop_assert!(value.starts_with(&kept) && (value == note || value.ends_with(" more characters are cut]")));
                prop_assert!(value.chars().count() <= 550);
            }
        }
    }
}
