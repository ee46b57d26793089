//! The connections of a response that no list is around, so that they can be paged through.

use serde_json::{Value, json};

use crate::cli::mcp::handle::Handle;
use crate::cli::mcp::limits::QueryLimits;
use crate::cli::mcp::reply::text;
use crate::cli::query::response::Ordered;
use crate::correction::paging;
use crate::outline::typed_paths::SelectedPage;
use crate::query::Request;

/// A page of a list.
#[derive(Debug)]
pub(super) struct ListedPage<'a> {
    /// The keys of the response that lead to it.
    pub(super) path: Vec<&'a str>,
    /// The bytes of its rows.
    pub(super) bytes: usize,
    rows: &'a [Ordered],
    fields: &'a Ordered,
}

/// The connections of the data.
pub(super) fn connections(data: &Ordered) -> Vec<ListedPage<'_>> {
    let mut found = Vec::new();
    add(data, &mut Vec::new(), &mut found);
    found
}

fn add<'a>(value: &'a Ordered, path: &mut Vec<&'a str>, found: &mut Vec<ListedPage<'a>>) {
    if let Some(edges @ Ordered::List(rows)) = value.get("edges") {
        found.push(ListedPage { path: path.clone(), bytes: text(edges).len(), rows, fields: value });
    } else {
        for (name, field) in value.as_object().into_iter().flatten() {
            path.push(name);
            add(field, path, found);
            path.pop();
        }
    }
}

impl ListedPage<'_> {
    /// How many of its rows have as many bytes together at most: of the first ones, or of the last ones.
    pub(super) fn rows_in(&self, bytes: usize, is_last: bool) -> usize {
        let mut sizes: Vec<_> = self.rows.iter().map(|row| text(row).len() + 1).collect();
        if is_last {
            sizes.reverse();
        }
        let sums = sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        sums.take_while(|sum| *sum <= bytes).count()
    }

    /// The cursor from which the list goes on, if there is more and the query asks for both.
    fn more(&self, is_last: bool) -> Option<String> {
        let [flag, cursor] = if is_last { ["hasPreviousPage", "startCursor"] } else { ["hasNextPage", "endCursor"] };
        let page = self.fields.get("pageInfo")?;
        let has_more = page.get(flag)?.to_value() == true;
        let Value::String(cursor) = page.get(cursor)?.to_value() else { return None };
        has_more.then_some(cursor)
    }
}

/// The pages that have as many rows as they may and do not say whether there are more: the paths, with the rows.
pub(super) fn full_pages(data: &Ordered, pages: &[SelectedPage]) -> Vec<Value> {
    let full = pages.iter().filter(|page| !page.says_more && has_full(data, &page.path, page.size));
    let path = |page: &SelectedPage| {
        let names = page.path.iter().map(String::as_str).filter(|name| !matches!(*name, "edges" | "*" | "node"));
        names.collect::<Vec<_>>().join(".")
    };
    full.map(|page| json!({ "path": path(page), "rows": page.size })).collect()
}

fn has_full(value: &Ordered, path: &[String], size: u64) -> bool {
    match (value, path.split_first()) {
        (Ordered::List(values), Some((_, rest))) => values.iter().any(|value| has_full(value, rest, size)),
        (value, Some((name, rest))) => value.get(name).is_some_and(|field| has_full(field, rest, size)),
        (value, None) => value.get("edges").is_some_and(|edges| edges.values().len() as u64 >= size),
    }
}

/// For each connection of the data that goes on its path and a handle.
pub(super) fn next_pages(request: &Request, limits: QueryLimits, data: &Ordered) -> Vec<(String, Handle)> {
    let next = |connection: &ListedPage<'_>| {
        let cursor = connection.more(paging::is_last(request, &connection.path))?;
        let Request { query, variables, .. } = paging::beyond(request, &connection.path, &cursor)?;
        let handle = Handle { query, variables, max_cost: limits.max_cost, max_bytes: limits.max_bytes };
        Some((connection.path.join("."), handle))
    };
    connections(data).iter().filter_map(next).collect()
}
