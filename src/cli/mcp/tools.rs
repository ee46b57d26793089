//! The tools: their list, which is a file, and their arguments.

use rmcp::model::{JsonObject, Tool};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};
use tokio::task::spawn_blocking;

use crate::cli::mcp::backend::{Authorization, ToolBackend};
use crate::cli::mcp::changes::{self, ChangesArguments};
use crate::cli::mcp::explain::{self, ExplainArguments};
use crate::cli::mcp::handle::Handle;
use crate::cli::mcp::limits::QueryLimits;
use crate::cli::mcp::reply::{Reply, ToolRefusal};
use crate::cli::mcp::{price, run};
use crate::cli::query::response::Ordered;
use crate::outline::search::search;
use crate::query::{Request, Variables};

const LIST: &str = include_str!("tools.json");

/// The bytes of an answer of the search.
const SEARCH_BYTES: usize = 4096;

/// The bytes of the words of a search, and of any other argument: a handle has the query, its variables and a cursor.
const MAX_WORDS: usize = 2048;
const MAX_ARGUMENT: usize = 256 * 1024;

/// The tools in the order of the file.
pub(super) fn list() -> serde_json::Result<Vec<Tool>> {
    serde_json::from_str(LIST)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    words: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
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
    #[serde(default, deserialize_with = "whole")]
    max_cost: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    max_bytes: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandleText {
    handle: String,
}

/// The bytes of data that are returned unless an agent says how many.
const DEFAULT_BYTES: usize = 20_000;

/// A whole number, which JSON may also write as `100.0`.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    let written = number.to_string();
    let digits = written.strip_suffix(".0").unwrap_or(&written);
    digits.parse().map(Some).map_err(|_| D::Error::custom(format!("{number} is no whole number")))
}

/// Calls a tool.
pub(super) async fn call(
    name: &str,
    arguments: JsonObject,
    backend: &ToolBackend,
    caller: &Authorization,
) -> Result<Reply, ToolRefusal> {
    check_lengths(&arguments)?;
    match name {
        "search_schema" => search_schema(backend, caller, read::<SearchArguments>(arguments)?.words).await,
        "price_query" => {
            let QueryArguments { query, variables } = read(arguments)?;
            price::price(backend, caller, &request(query, variables)).await
        }
        "run_query" => {
            let LimitedQuery { query, variables, max_cost, max_bytes } = read(arguments)?;
            let max_bytes = max_bytes.map_or(DEFAULT_BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            run::run(backend, caller, &request(query, variables), QueryLimits { max_cost, max_bytes }).await
        }
        "page_on" => page_on(backend, caller, &read::<HandleText>(arguments)?.handle).await,
        "explain_error" => explain::explain(backend, caller, read::<ExplainArguments>(arguments)?).await,
        "changes_since" => changes::changes(backend, caller, read::<ChangesArguments>(arguments)?).await,
        _ => Err(ToolRefusal::new("UNKNOWN_TOOL", "there is no such tool; list the tools")),
    }
}

async fn search_schema(backend: &ToolBackend, caller: &Authorization, words: String) -> Result<Reply, ToolRefusal> {
    let schema = backend.schema(caller).await?;
    // It takes more than a millisecond.
    let found = spawn_blocking(move || search(&schema, &words, SEARCH_BYTES)).await;
    let found = found.map_err(|error| ToolRefusal::unreachable(&error))?;
    let value = |value: serde_json::Result<Value>| Ordered::Scalar(value.unwrap_or_default());
    let example = found.example.map(|example| ("example", Ordered::Scalar(example.into())));
    let roots = ("roots", value(serde_json::to_value(found.roots)));
    let objects = ("objects", value(serde_json::to_value(found.objects)));
    let mut members: Vec<_> = example.into_iter().chain([roots, objects]).collect();
    if !found.nearest.is_empty() {
        members.push((
            "nothingHas",
            Ordered::Scalar("these words; the words of the schema that are spelt most like them:".into()),
        ));
        members.push(("nearest", value(serde_json::to_value(found.nearest))));
    }
    Ok(Reply::new(members))
}

async fn page_on(backend: &ToolBackend, caller: &Authorization, handle: &str) -> Result<Reply, ToolRefusal> {
    let handle = Handle::decode(handle).map_err(|error| ToolRefusal::new("HANDLE_INVALID", &error.to_string()))?;
    let limits = QueryLimits { max_cost: handle.max_cost, max_bytes: handle.max_bytes };
    run::run(backend, caller, &handle.request(), limits).await
}

/// Fails if an argument is longer than it may be.
fn check_lengths(arguments: &JsonObject) -> Result<(), ToolRefusal> {
    for (name, value) in arguments {
        let max = if name == "words" { MAX_WORDS } else { MAX_ARGUMENT };
        let length = value.as_str().map_or_else(|| value.to_string().len(), str::len);
        if length > max {
            let message = format!("the argument `{name}` has {length} bytes; at most {max} are allowed");
            return Err(ToolRefusal::new("BAD_ARGUMENTS", &message));
        }
    }
    Ok(())
}

fn request(query: String, variables: Option<Variables>) -> Request {
    Request { query, variables: variables.unwrap_or_default(), operation_name: None }
}

fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ToolRefusal> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolRefusal::new("BAD_ARGUMENTS", &format!("these are no arguments of the tool: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_whole_number_may_have_a_decimal_point() {
        let read = |max_cost: Value| {
            read::<LimitedQuery>(json!({ "query": "", "maxCost": max_cost }).as_object().unwrap().clone())
        };
        assert_eq!(read(json!(100.0)).unwrap().max_cost, Some(100));
        assert_eq!(read(Value::Null).unwrap().max_cost, None);
        for wrong in [json!(1.5), json!(-1), json!(-1.0), json!("100"), json!(1e30)] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn long_arguments_are_refused() {
        let check = |name: &str, value: Value| check_lengths(&JsonObject::from_iter([(name.to_owned(), value)]));
        assert!(check("words", "x".repeat(2048).into()).is_ok() && check("words", "x".repeat(2049).into()).is_err());
        assert!(check("query", "x".repeat(2049).into()).is_ok());
        assert!(check("error", json!(["x".repeat(1 << 18)])).is_err());
    }

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
