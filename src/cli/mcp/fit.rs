//! Fewer rows, for queries that cost too much and for data of too many bytes.

use serde_json::{Value, json};

use crate::cli::mcp::backend::{Authorization, ToolBackend};
use crate::cli::mcp::page::connections;
use crate::cli::mcp::price::cost;
use crate::cli::mcp::reply::{ToolRefusal, text};
use crate::cli::query::response::Ordered;
use crate::correction::paging::{is_last, size, with_size};
use crate::outline::Outline;
use crate::query::Request;

/// Bytes by which the cursors of a smaller page may be longer.
const CURSOR_BYTES: usize = 256;

/// The most lists that are made smaller, and the most prices that are asked for each.
const MAX_LISTS: usize = 3;
const MAX_TRIALS: usize = 8;

/// The rows that totals add up unless a request says how many.
const TOTALS_ROWS: u64 = 1000;

/// A request with fewer rows of a list, or of totals.
#[derive(Debug, PartialEq)]
pub(super) struct Smaller {
    pub(super) request: Request,
    /// The lists that are smaller: the path, the argument that says so, and how many rows there are then.
    pub(super) sizes: Vec<(String, &'static str, u64)>,
}

impl Smaller {
    /// As a fact of a refusal: the query, and what it leaves out.
    pub(super) fn fact(&self) -> Value {
        let left_out = self.sizes.iter().map(|(path, argument, size)| match *argument {
            "rows" => format!("{path} adds up {size} rows; `complete` says whether these are all"),
            "last" => format!("{path} has its last {size} rows; page on for those before"),
            _ => format!(
                "{path} has its first {size} rows; page on for the rest, with pageInfo {{ hasNextPage endCursor }}"
            ),
        });
        let mut fact = json!({
            "query": self.request.query, "variables": self.request.variables, "leavesOut": left_out.collect::<Vec<_>>(),
        });
        if let [(path, argument, size)] = self.sizes.as_slice() {
            fact["path"] = json!(path);
            fact[*argument] = json!(size);
        }
        fact
    }
}

/// A request that should have at most `max_bytes` of data, if a smaller page has. `data` is the data of the given request.
pub(super) fn to_bytes(request: &Request, data: &Ordered, max_bytes: usize) -> Option<Smaller> {
    let whole = text(data).len();
    let connections = connections(data);
    let largest = connections.iter().max_by_key(|connection| connection.bytes)?;
    let room = max_bytes.checked_sub(whole.saturating_sub(largest.bytes) + CURSOR_BYTES)?;
    let rows = u64::try_from(largest.rows_in(room, is_last(request, &largest.path))).ok()?;
    let (argument, _) = size(request, &largest.path).filter(|(_, before)| (1..*before).contains(&rows))?;
    let request = with_size(request, &largest.path, argument, rows)?;
    Some(Smaller { request, sizes: vec![(largest.path.join("."), argument, rows)] })
}

/// A request that costs at most `max_cost`, as the server says, if a request for fewer rows does. The report is about the given request.
pub(super) async fn to_cost(
    backend: &ToolBackend,
    caller: &Authorization,
    schema: &Outline,
    request: &Request,
    report: &Value,
    max_cost: u64,
) -> Result<Option<Smaller>, ToolRefusal> {
    let whole = report["requestedQueryCost"].as_u64().unwrap_or(0);
    let mut smaller = Smaller { request: request.clone(), sizes: Vec::new() };
    for PricedList { part, path, argument, size } in lists(schema, request, report) {
        let path: Vec<_> = path.iter().map(String::as_str).collect();
        let with = |request: &Request, size: u64| with_size(request, &path, argument, size);
        // The most that the list may cost, if prices were in proportion to its rows.
        let room = max_cost.saturating_sub(whole.saturating_sub(part));
        let (mut low, mut high) = (0, size);
        let mut tried = (size.saturating_mul(room) / part.max(1)).clamp(1, size.saturating_sub(1).max(1));
        for _ in 0..MAX_TRIALS {
            if high - low <= 1 || low * 20 >= high * 19 {
                break;
            }
            let Some(trial) = with(&smaller.request, tried) else { break };
            if cost(backend, caller, &trial).await?["requestedQueryCost"].as_u64().is_some_and(|cost| cost <= max_cost)
            {
                low = tried;
            } else {
                high = tried;
            }
            tried = low + (high - low) / 2;
        }
        let Some(request) = with(&smaller.request, low.max(1)) else { continue };
        smaller.request = request;
        smaller.sizes.push((path.join("."), argument, low.max(1)));
        if low > 0 {
            return Ok(Some(smaller));
        }
    }
    Ok(None)
}

/// A list of a request, and what it costs with all that is inside it.
struct PricedList {
    part: u64,
    path: Vec<String>,
    argument: &'static str,
    size: u64,
}

/// The most expensive lists and totals, the most expensive first.
fn lists(schema: &Outline, request: &Request, report: &Value) -> Vec<PricedList> {
    let fields = report["fields"].as_array().into_iter().flatten();
    let mut lists: Vec<_> = fields
        .filter_map(|field| {
            let path: Vec<_> = field["path"].as_array()?.iter().filter_map(Value::as_str).collect();
            let is_totals = || {
                schema
                    .roots()
                    .iter()
                    .any(|root| Some(&root.name.as_str()) == path.last() && root.argument("rows").is_some())
            };
            let (argument, size) = match size(request, &path) {
                Some(("rows", size)) => ("rows", size),
                _ if path.len() == 1 && is_totals() => ("rows", TOTALS_ROWS),
                other => other?,
            };
            let part = field["requestedSubtreeCost"].as_u64()?;
            let part = part.saturating_sub(field["searchPenalty"].as_u64().unwrap_or(0));
            Some(PricedList { part, path: path.into_iter().map(str::to_owned).collect(), argument, size })
        })
        .filter(|list| list.size > 1)
        .collect();
    lists.sort_by_key(|list| std::cmp::Reverse(list.part));
    lists.truncate(MAX_LISTS);
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn request(query: &str) -> Request {
        Request { query: query.to_owned(), ..Request::default() }
    }

    #[test]
    fn the_largest_list_is_made_smaller() {
        let rows = |n: usize| vec![r#"{"node":{"a":"0123456789"}}"#; n].join(",");
        let data = format!(r#"{{"x":{{"small":{{"edges":[{}]}},"big":{{"edges":[{}]}}}}}}"#, rows(2), rows(40));
        let data: Ordered = serde_json::from_str(&data).unwrap();
        let query = "{ x { small(first: 2) { edges { node { a } } } big(first: 50) { edges { node { a } } } } }";
        let smaller = to_bytes(&request(query), &data, 800).unwrap();
        assert_eq!(smaller.sizes, [("x.big".to_owned(), "first", 15)]);
        assert_eq!(smaller.request.query, query.replace("50", "15"));
        assert_eq!(to_bytes(&request(query), &data, 370), None, "not one row has room");
        assert_eq!(to_bytes(&request("{ ...F }"), &data, 800), None);
    }

    #[test]
    fn the_most_expensive_lists_come_first_and_totals_have_their_rows() {
        let schema = Outline::parse(Catalog::built_in().unwrap().sdl()).unwrap();
        let report = json!({ "fields": [
            { "path": ["orderTotals"], "requestedSubtreeCost": 101 },
            { "path": ["orders"], "requestedSubtreeCost": 340, "searchPenalty": 50 },
            { "path": ["orders", "edges", "node", "notes"], "requestedSubtreeCost": 100 },
        ] });
        let query = "{ orderTotals(first: 9) { rowCount } orders(first: 50) { edges { node { notes(last: 5) { edges { cursor } } } } } }";
        let found: Vec<_> = lists(&schema, &request(query), &report)
            .into_iter()
            .map(|list| (list.part, list.path.join("."), list.argument, list.size))
            .collect();
        let list = |part, path: &str, argument, size| (part, path.to_owned(), argument, size);
        assert_eq!(
            found,
            [
                list(290, "orders", "first", 50),
                list(101, "orderTotals", "rows", 1000),
                list(100, "orders.edges.node.notes", "last", 5)
            ]
        );
    }
}
