//! The work of a page, from PostgreSQL's counters: index entries and rows read, and buffers of each scan.

use std::fmt::Write;

use orderql::plan::access_path::Strategy;
use serde_json::Value as Json;

use crate::query::bounded_search::random_search::RandomSearch;
use crate::query::bounded_search::search_page::{PageArguments, SearchPage};
use crate::support::plan_shape::reads_all;
use crate::support::query_plan::MeasuredStatement;

/// Rows that are read however small the page is: those after the ends of windows and look-ups, which say that there are more.
const SPARE_ROWS: usize = 8;

/// The rows that a view reads at most to compute a column: the first item of a return, and its order; the inventory item of a
/// product at a facility, or the two that there are.
const COMPUTED_ROWS: usize = 2;

/// The rows of a group in the fulfilment queue that are read to know its row: an open item, and the one that comes next.
const QUEUE_ROWS: usize = 2;

/// How many rows are read of each shipment that left: the entry that says so, the entries of the shipment that it is compared with
/// (itself and one that repeats it), and the shipment.
const DEPARTURE_ROWS: usize = 4;

/// Pages of an index from its root to a leaf, of a table of this size, and one for a range that begins on the next leaf.
const INDEX_DEPTH: f64 = 4.0;

/// The fewest index entries on a page: the widest, on a page that was split.
const ENTRIES_OF_PAGE: f64 = 16.0;

/// Checks that a page examined no more than its search may, given the rows of the search window.
pub fn check_work(
    measured: &MeasuredStatement,
    search: &RandomSearch<'_>,
    arguments: &PageArguments,
    page: &SearchPage,
    window: usize,
) -> Result<(), String> {
    let path = &page.compiled.plan.steps()[0].access_path;
    // The rows of a page and the one after it; a page that ends with a window has the two rows at its end as well.
    let page_rows = arguments.size + 2;
    let list = path.prefix().filter(|prefix| prefix.is_list() && !prefix.is_sort_column);
    let values = list.and_then(|prefix| prefix.list).map_or(1, |term| search.terms[term].values.len());
    // Each row of a page is found, read by its key, and joined to another one.
    let relations = 2 + usize::from(arguments.joined && !search.root.joined.is_empty());
    let computed = 1 + search.terms.iter().filter(|term| is_computed(search, term.key)).count().min(1) * COMPUTED_ROWS;
    let of_key = if let Strategy::Key(key) = &path.strategy { Some(search.terms[key.term].values.len()) } else { None };
    let found = if path.window().is_some() {
        // Semi-joins and probes have shares of the window.
        // Fewer rows are examined where a column is computed, and more for larger pages.
        window * arguments.size.max(50) / 50
    } else if let Some(values) = of_key {
        values * (1 + arguments.probes()) * computed
    } else {
        merged_rows(values, arguments.size + 1) + values * arguments.probes()
    };
    // Without a search beside the order, each part that a cursor divides the order into is read up to a page: PostgreSQL may read
    // rows with a cursor's value that are beyond it.
    let cursors = usize::from(arguments.after.is_some()) + usize::from(arguments.before.is_some());
    let is_merged = path.filters().is_empty() && !path.prefix().is_some_and(|prefix| prefix.is_list());
    let parts = if is_merged && cursors > 0 { 2 * cursors } else { 1 };
    // The page and its count have half of the window each, or the count all of it; without one, the rows are counted beside those of
    // the page.
    let counts_a_range = path.counted.as_ref().map_or(path, |count| &count.path).filters().is_empty();
    let counted = match arguments.count_up_to {
        Some(_) if of_key.is_some() => found,
        Some(most) if counts_a_range => most + search.terms.iter().map(|term| term.values.len()).max().unwrap_or(1),
        Some(_) => window / 2,
        None => 0,
    };
    let rows_of_row = match search.root.name {
        "shipGroups" => QUEUE_ROWS,
        "shippedShipments" => DEPARTURE_ROWS,
        _ => 1,
    };
    let bound = (found + counted + parts * relations * page_rows + SPARE_ROWS) * rows_of_row;
    let rows = usize::try_from(measured.rows).unwrap();
    if rows > bound {
        return Err(format!("{rows} rows were examined, more than {bound}"));
    }
    // The planner's own bound is of the page alone. A semi-join reads a row of another relation for each row.
    let semi_joins =
        search.terms.iter().filter(|term| search.root.connection.search_keys[term.key].semi_join.is_some());
    let claim = path.bound(u32::try_from(arguments.size).unwrap(), of_key.unwrap_or(values));
    let probe_rows = path.window().map_or(0, |window| window.probe_rows);
    let probes = arguments.probes() * (usize::try_from(probe_rows).unwrap() + values);
    let claim = ((usize::try_from(claim).unwrap() + probes) * (1 + semi_joins.count()) * computed
        + parts * relations * page_rows
        + SPARE_ROWS)
        * rows_of_row;
    if rows > claim {
        return Err(format!("{rows} rows were examined, and the access path allows {claim}"));
    }
    check_node(measured.plan.json(), bound, search)
}

/// The most rows that are examined to merge so many ranges into so many rows: a few of each, and all of a few.
fn merged_rows(ranges: usize, limit: usize) -> usize {
    if ranges < 9 { ranges * (limit + 1) } else { (4 * limit * ranges.isqrt()).min(2 * limit * ranges) }
}

fn is_computed(search: &RandomSearch<'_>, key: usize) -> bool {
    search.root.connection.search_keys[key].is_computed
}

/// Checks a node of a plan and its descendants.
fn check_node(node: &Json, bound: usize, search: &RandomSearch<'_>) -> Result<(), String> {
    let kind = node["Node Type"].as_str().unwrap();
    let children = node["Plans"].as_array().map(Vec::as_slice).unwrap_or_default();
    if reads_all(kind) {
        return Err(format!("a {kind} of {}", node["Relation Name"]));
    }
    if kind.contains("Sort") {
        let sorted: f64 = children.iter().map(rows).sum();
        // The values of a list are sorted, too.
        let values: usize = search.terms.iter().map(|term| term.values.len()).sum();
        if sorted > f64::from(u32::try_from(bound + values).unwrap()) {
            return Err(format!("a sort of {sorted} rows"));
        }
    }
    if node["Index Name"].is_string() {
        check_buffers(node, children, search)?;
    }
    children.iter().try_for_each(|child| check_node(child, bound, search))
}

/// Checks the buffers of an index scan. Entries that it skips are not counted as rows, but they are on pages.
fn check_buffers(node: &Json, children: &[Json], search: &RandomSearch<'_>) -> Result<(), String> {
    let buffers = buffers(node) - children.iter().map(buffers).sum::<f64>();
    let number = |name: &str| node[name].as_f64().unwrap_or_default();
    let loops = number("Actual Loops");
    // A list in the condition is a range for each of its values.
    let condition = node["Index Cond"].as_str().unwrap_or_default();
    let most = search.terms.iter().map(|term| term.values.len()).max().unwrap_or(1);
    let ranges = loops * if condition.contains("ANY") { f64::from(u32::try_from(most).unwrap()) } else { 1.0 };
    // A row count is the average of the loops, rounded to a whole number.
    let rows = rows(node) + loops / 2.0;
    let fetched = if node["Heap Fetches"].is_number() { number("Heap Fetches") + ranges } else { rows };
    let bound = ranges * INDEX_DEPTH + fetched + rows / ENTRIES_OF_PAGE + 2.0;
    if buffers > bound {
        return Err(format!(
            "{buffers} buffers for {rows} rows of {ranges} ranges of {}, more than {bound}",
            node["Index Name"]
        ));
    }
    Ok(())
}

/// The rows that a node returned or discarded, in all its loops.
fn rows(node: &Json) -> f64 {
    let names = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"];
    let rows: f64 = names.iter().map(|name| node[*name].as_f64().unwrap_or_default()).sum();
    rows * node["Actual Loops"].as_f64().unwrap_or_default()
}

fn buffers(node: &Json) -> f64 {
    let names = ["Shared Hit Blocks", "Shared Read Blocks"];
    names.iter().map(|name| node[*name].as_f64().unwrap_or_default()).sum()
}

/// The executed nodes of a plan, one a line.
pub fn outline(node: &Json) -> String {
    let mut text = String::new();
    write_outline(node, 0, &mut text);
    text
}

fn write_outline(node: &Json, depth: usize, text: &mut String) {
    if node["Actual Loops"].as_f64() == Some(0.0) {
        return;
    }
    let _ = write!(text, "\n{}{}", "  ".repeat(depth), node["Node Type"].as_str().unwrap());
    for name in [
        "Subplan Name",
        "Index Name",
        "Relation Name",
        "Alias",
        "Index Cond",
        "Filter",
        "Join Filter",
        "Sort Key",
        "Plan Rows",
        "Total Cost",
    ] {
        if !node[name].is_null() {
            let _ = write!(text, ", {name} {}", node[name]);
        }
    }
    let _ = write!(text, ", {} rows in {} loops, {} buffers", rows(node), node["Actual Loops"], buffers(node));
    for child in node["Plans"].as_array().into_iter().flatten() {
        write_outline(child, depth + 1, text);
    }
}
