//! How a statement finds the rows of its page, in words.

use crate::plan::access_path::{AccessPath, Lookup};
use crate::plan::request_plan::Plan;
use crate::query::bind::ids::StepId;

/// The access path of a collection root as lines of text; none for other steps.
pub(super) fn lines(plan: &Plan, step: StepId) -> Vec<String> {
    let path = &plan.steps()[step].access_path;
    let Some(bound) = plan.rows_examined(step) else { return Vec::new() };
    let mut lines: Vec<_> = path.lookups.iter().map(|lookup| looked_up(path, lookup)).collect();
    if !path.is_exhaustive {
        let otherwise = if lines.is_empty() { "In" } else { "Otherwise in" };
        let order = path.index.join(", ");
        lines.push(match (path.window, path.prefix) {
            (0, Some(prefix)) if prefix.is_list() => format!("{otherwise} order ({order}), a range for each value"),
            (0, _) => format!("{otherwise} order ({order})"),
            (window, _) => format!("{otherwise} order ({order}), a window of {window} rows"),
        });
    }
    let fills = if path.has_window() { "may come short: it ends with its window" } else { "fills its pages" };
    lines.push(format!("Examines {bound} rows at most, and {fills}"));
    lines
}

fn looked_up(path: &AccessPath, lookup: &Lookup) -> String {
    if path.is_exhaustive {
        return format!("By index ({}), sorted", lookup.columns.join(", "));
    }
    format!("By index ({}), sorted, if at most {} rows match", lookup.columns.join(", "), lookup.rows)
}
