//! The report for people.

use std::fmt::Write as _;

use crate::cli::schema::diff::words::{CLASSES, change, corrected_line, schema_change};
use crate::documents::document::Place;
use crate::schema_diff::change::{Change, Class};
use crate::schema_diff::{Diff, NotValid, OperationDiff};

/// The changes by class and operation, then the changes of the schema.
pub(super) fn render(diff: &Diff, operations: usize) -> String {
    let mut text = String::new();
    for (class, heading) in CLASSES {
        let mut has_heading = false;
        for OperationDiff { operation, place, changes, corrected } in &diff.operations {
            let mut of_class = changes.iter().filter(|change| change.class() == class).peekable();
            if of_class.peek().is_none() {
                continue;
            }
            if !std::mem::replace(&mut has_heading, true) {
                let _ = writeln!(text, "{heading}");
            }
            let _ = writeln!(text, "  {}", named(operation.as_deref(), place));
            for one in of_class {
                let at = own_place(one).filter(|at| *at != place).map(|at| format!("{at} ")).unwrap_or_default();
                let _ = writeln!(text, "    {at}{}", change(one));
            }
            for (at, line) in corrected.iter().filter(|_| class == Class::Breaks).flat_map(|corrected| &corrected.lines)
            {
                let _ = writeln!(text, "    {}", corrected_line(at, line));
            }
        }
    }
    if !diff.not_valid.is_empty() {
        let _ = writeln!(text, "Valid in neither schema");
        for NotValid { operation, place, errors } in &diff.not_valid {
            let _ = writeln!(text, "  {}\n    {}", named(operation.as_deref(), place), errors.first().message);
        }
    }
    if !diff.schema.is_empty() {
        let _ = writeln!(text, "Schema");
        for change in &diff.schema {
            let _ = writeln!(text, "  {}", schema_change(change));
        }
    }
    if diff.is_empty() {
        let _ = writeln!(text, "Nothing changes: {operations} operations compared.");
    }
    text
}

fn named(operation: Option<&str>, place: &Place) -> String {
    format!("{} ({place})", operation.unwrap_or("operation without a name"))
}

/// The place of the change itself.
pub(super) fn own_place(change: &Change) -> Option<&Place> {
    match change {
        Change::Breaks { place, .. } | Change::ChangesSilently { place, .. } | Change::Deprecated { place, .. } => {
            Some(place)
        }
        Change::MoreExpensive(_) | Change::LessExpensive(_) | Change::MoreWork { .. } | Change::ValidNow => None,
    }
}
