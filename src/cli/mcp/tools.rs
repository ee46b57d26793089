//! The tools: their list, which is a file, and their arguments.

use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::mcp::backend::{Backend, Caller};
use crate::cli::mcp::changes::{self, Changes};
use crate::cli::mcp::explain::{self, Explained};
use crate::cli::mcp::handle::Handle;
use crate::cli::mcp::limits::Limits;
use crate::cli::mcp::reply::{Refusal, Reply};
use crate::cli::mcp::run;
use crate::cli::query::response::Ordered;
use crate::outline::search::search;
use crate::query::{Request, Variables};

const LIST: &str = include_str!("tools.json");

/// The bytes of an answer of the search.
const SEARCH_BYTES: usize = 4096;

/// The tools in the order of the file.
pub(super) fn list() -> serde_json::Result<Vec<Tool>> {
    serde_json::from_str(LIST)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
    #[serde(default)]
    variables: Option<Variables>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LimitedQuery {
    query: String,
    #[serde(default)]
    variables: Option<Variables>,
    #[serde(default = "default_cost")]
    max_cost: u64,
    #[serde(default = "default_bytes")]
    max_bytes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandleText {
    handle: String,
}

const fn default_cost() -> u64 {
    200
}

const fn default_bytes() -> usize {
    20_000
}

/// Calls a tool.
pub(super) async fn call(
    name: &str,
    arguments: JsonObject,
    backend: &Backend,
    caller: &Caller,
) -> Result<Reply, Refusal> {
    match name {
        "search_schema" => search_schema(backend, caller, &read::<Words>(arguments)?.words).await,
        "price_query" => {
            let Query { query, variables } = read(arguments)?;
            run::price(backend, caller, &request(query, variables)).await
        }
        "run_query" => {
            let LimitedQuery { query, variables, max_cost, max_bytes } = read(arguments)?;
            run::run(backend, caller, &request(query, variables), Limits { max_cost, max_bytes }).await
        }
        "page_on" => page_on(backend, caller, &read::<HandleText>(arguments)?.handle).await,
        "explain_error" => explain::explain(backend, caller, read::<Explained>(arguments)?).await,
        "changes_since" => changes::changes(backend, caller, read::<Changes>(arguments)?).await,
        _ => Err(Refusal::new("UNKNOWN_TOOL", "there is no such tool; list the tools")),
    }
}

async fn search_schema(backend: &Backend, caller: &Caller, words: &str) -> Result<Reply, Refusal> {
    let schema = backend.schema(caller).await?;
    let found = search(&schema, words, SEARCH_BYTES);
    let value = |value: serde_json::Result<Value>| Ordered::Scalar(value.unwrap_or_default());
    let example = found.example.map(|example| ("example", Ordered::Scalar(example.into())));
    let roots = ("roots", value(serde_json::to_value(found.roots)));
    Ok(Reply::new(
        example.into_iter().chain([roots, ("objects", value(serde_json::to_value(found.objects)))]).collect(),
    ))
}

async fn page_on(backend: &Backend, caller: &Caller, handle: &str) -> Result<Reply, Refusal> {
    let handle = Handle::decode(handle).map_err(|error| Refusal::new("HANDLE_INVALID", &error.to_string()))?;
    let limits = Limits { max_cost: handle.max_cost, max_bytes: handle.max_bytes };
    run::run(backend, caller, &handle.request(), limits).await
}

fn request(query: String, variables: Option<Variables>) -> Request {
    Request { query, variables: variables.unwrap_or_default(), operation_name: None }
}

fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Refusal::new("BAD_ARGUMENTS", &format!("these are no arguments of the tool: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_list_is_small_and_reads_only() {
        let tools = list().unwrap();
        let text = json!(tools).to_string();
        assert!(text.len() < 6000, "{}", text.len());
        for tool in &tools {
            assert!(tool.annotations.as_ref().unwrap().read_only_hint == Some(true), "{}", tool.name);
        }
        insta::assert_snapshot!(serde_json::to_string_pretty(&tools).unwrap());
    }
}
