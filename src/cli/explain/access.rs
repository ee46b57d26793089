//! How a statement finds the rows of its page, in words.

use crate::plan::access_path::expected_pages::ExpectedPages;
use crate::plan::access_path::{Lookup, ParentRows, Strategy};
use crate::plan::request_plan::Plan;
use crate::query::bind::step_id::StepId;

/// The access path of a collection root, of a bounded list, or of a list with a window, as lines of text; none for other steps.
pub(super) fn lines(plan: &Plan, step: StepId) -> Vec<String> {
    let path = &plan.steps()[step].access_path;
    let Some(bound) = plan.rows_examined(step) else { return Vec::new() };
    let order = path.index().join(", ");
    let mut lines = match &path.strategy {
        Strategy::Order(scan) if scan.prefix.is_some_and(|prefix| prefix.is_list()) => {
            vec![format!("In order ({order}), a range for each value")]
        }
        Strategy::Order(_) => vec![format!("In order ({order})")],
        Strategy::Window(window) => {
            let lookups = window.lookups.iter().map(|lookup| looked_up(lookup, plan.lookup_rows(step, lookup)));
            let otherwise = if window.lookups.is_empty() { "In" } else { "Otherwise in" };
            let rows = path.window_of(plan.size(step));
            lookups.chain([format!("{otherwise} order ({order}), a window of {rows} rows")]).collect()
        }
        Strategy::Key(key) => vec![format!("By index ({}), sorted", key.column)],
        Strategy::Parent(ParentRows { columns, at_most, .. }) => {
            let (columns, at_most) = (columns.join(", "), counted(*at_most, "row"));
            vec![format!("By index ({columns}), sorted; null if there are more than {at_most}")]
        }
    };
    lines.extend(path.ties().map(|ties| {
        format!("Sorted by the key; null if more than {} have one value of the last column", counted(ties, "row"))
    }));
    lines.extend(path.counted.as_ref().map(|count| format!("Counts in order ({})", count.path.index().join(", "))));
    lines.push(format!("Examines {bound} rows at most"));
    let is_totals = plan.steps()[step].is_totals();
    lines.extend(plan.expected_pages(step).map(|pages| {
        if is_totals { summed_rows(pages, plan.rows(step)) } else { pages_of_rows(pages, plan.size(step)) }
    }));
    lines
}

/// How many pages a client reads for a page of this many rows, and why.
fn pages_of_rows(ExpectedPages { fewest, one_row_of, checked }: ExpectedPages<'_>, size: u32) -> String {
    let Some(rows) = one_row_of else { return format!("Fills its pages: 1 page for {}", counted(size, "row")) };
    let (share, others) = if rows == 1 {
        ("all rows of the window match".to_owned(), format!("N × {fewest}"))
    } else {
        (format!("1 of {rows} rows of the window matches"), format!("N / {rows}"))
    };
    let (keys, pages, size) = (checked.join(", "), counted(fewest, "page"), counted(size, "row"));
    let are = if checked.len() == 1 { "is" } else { "are" };
    format!(
        "May come short: {keys} {are} checked row by row; {pages} for {size} if {share}, {others} pages if 1 of N does"
    )
}

/// How many rows are added up, and what may end that before.
fn summed_rows(ExpectedPages { one_row_of, checked, .. }: ExpectedPages<'_>, rows: u32) -> String {
    let rows = counted(rows, "row");
    if one_row_of.is_none() {
        return format!("Adds up {rows} at most");
    }
    let are = if checked.len() == 1 { "is" } else { "are" };
    format!("Adds up {rows} at most, and fewer if its window ends: {} {are} checked row by row", checked.join(", "))
}

fn counted(number: u32, name: &str) -> String {
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}

fn looked_up(lookup: &Lookup, rows: u32) -> String {
    let index = lookup.columns.join(", ");
    if lookup.is_merged() {
        return format!("By index ({index}), the ranges of its rows merged, if at most {rows} rows match there");
    }
    let is_rare = if lookup.is_text { "a word is rare and " } else { "" };
    format!("By index ({index}), sorted, if {is_rare}at most {rows} rows match")
}
