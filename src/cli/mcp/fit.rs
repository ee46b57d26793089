//! Smaller pages, for queries that cost too much and for data of too many bytes.

use serde_json::{Value, json};

use crate::cli::mcp::page::connections;
use crate::cli::mcp::reply::text;
use crate::cli::query::response::Ordered;
use crate::correction::paging::{is_last, page_size, with_page_size};
use crate::query::Request;

/// The cursors of a smaller page may be longer by so many bytes.
const CURSOR_BYTES: usize = 64;

/// A request whose largest list has a smaller page.
#[derive(Debug, PartialEq)]
pub(super) struct Smaller {
    pub(super) request: Request,
    pub(super) path: String,
    pub(super) size: u64,
}

impl Smaller {
    /// As a fact of a refusal.
    pub(super) fn fact(&self) -> Value {
        json!({ "path": self.path, "first": self.size, "query": self.request.query, "variables": self.request.variables })
    }
}

/// A request that should have at most as many bytes of data, if a smaller page does that. The data is that of the request.
pub(super) fn to_bytes(request: &Request, data: &Ordered, max_bytes: usize) -> Option<Smaller> {
    let whole = text(data).len();
    let connections = connections(data);
    let largest = connections.iter().max_by_key(|connection| connection.bytes)?;
    let room = max_bytes.checked_sub(whole.saturating_sub(largest.bytes) + CURSOR_BYTES)?;
    let size = largest.rows_in(room, is_last(request, &largest.path));
    smaller(request, &largest.path, u64::try_from(size).ok()?)
}

/// A request that should cost at most as much, if a smaller page does that. The report is that of the request.
pub(super) fn to_cost(request: &Request, cost: &Value, max_cost: u64) -> Option<Smaller> {
    let whole = cost["requestedQueryCost"].as_u64()?;
    let lists = cost["fields"].as_array()?.iter().filter_map(|field| {
        let path: Vec<_> = field["path"].as_array()?.iter().filter_map(Value::as_str).collect();
        let size = page_size(request, &path)?;
        let fixed = field["searchPenalty"].as_u64().unwrap_or(0);
        Some((field["requestedSubtreeCost"].as_u64()?.checked_sub(fixed)?, path, size))
    });
    let (part, path, size) = lists.max_by_key(|(part, _, _)| *part)?;
    let room = max_cost.checked_sub(whole.saturating_sub(part))?;
    smaller(request, &path, size.saturating_mul(room) / part.max(1))
}

fn smaller(request: &Request, path: &[&str], size: u64) -> Option<Smaller> {
    let is_smaller = size > 0 && page_size(request, path).is_some_and(|before| size < before);
    let request = with_page_size(request, path, size).filter(|_| is_smaller)?;
    Some(Smaller { request, path: path.join("."), size })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(query: &str) -> Request {
        Request { query: query.to_owned(), ..Request::default() }
    }

    #[test]
    fn the_largest_list_is_made_smaller() {
        let rows = |n: usize| vec![r#"{"node":{"a":"0123456789"}}"#; n].join(",");
        let data = format!(r#"{{"x":{{"small":{{"edges":[{}]}},"big":{{"edges":[{}]}}}}}}"#, rows(2), rows(40));
        let data: Ordered = serde_json::from_str(&data).unwrap();
        let query = "{ x { small(first: 2) { edges { node { a } } } big(first: 50) { edges { node { a } } } } }";
        let smaller = to_bytes(&request(query), &data, 600).unwrap();
        assert_eq!((smaller.path.as_str(), smaller.size), ("x.big", 15));
        assert_eq!(smaller.request.query, query.replace("50", "15"));
        assert_eq!(to_bytes(&request(query), &data, 170), None, "not one row has room");
        assert_eq!(to_bytes(&request("{ ...F }"), &data, 600), None);
    }

    #[test]
    fn the_most_expensive_list_is_made_smaller() {
        let cost = json!({ "requestedQueryCost": 350, "fields": [
            { "path": ["x"], "requestedSubtreeCost": 349 },
            { "path": ["x", "b"], "requestedSubtreeCost": 340, "searchPenalty": 50 },
            { "path": ["x", "b", "edges", "node", "c"], "requestedSubtreeCost": 100 },
        ] });
        let query = "{ x { b(first: 100) { edges { node { c(first: 5) { count } } } } } }";
        let smaller = to_cost(&request(query), &cost, 205).unwrap();
        assert_eq!((smaller.path.as_str(), smaller.size), ("x.b", 50));
        assert_eq!(to_cost(&request(query), &cost, 10), None);
    }
}
