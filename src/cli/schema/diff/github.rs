//! The report as commands of a GitHub workflow, which show each change at its place in a pull request.

use std::fmt::Write as _;

use crate::cli::schema::diff::text::own_place;
use crate::cli::schema::diff::words::{CLASSES, change, corrected_line, schema_change};
use crate::documents::document::Place;
use crate::schema_diff::change::Class;
use crate::schema_diff::{Diff, OperationDiff};

/// A line for each change of an operation. Those of the schema follow, which GitHub shows in the log.
pub(super) fn render(diff: &Diff) -> String {
    let mut text = String::new();
    for (class, heading) in CLASSES {
        let level = match class {
            Class::Breaks | Class::ChangesSilently => "error",
            Class::MoreExpensive => "warning",
            Class::Deprecated | Class::LessExpensive | Class::MoreWork | Class::ValidNow => "notice",
        };
        for OperationDiff { operation, place, changes, corrected } in &diff.operations {
            for one in changes.iter().filter(|change| change.class() == class) {
                let title = match operation {
                    Some(operation) => format!("{heading}: {operation}"),
                    None => heading.to_owned(),
                };
                let at = position(own_place(one).unwrap_or(place));
                let mut message = change(one);
                for (at, line) in
                    corrected.iter().filter(|_| class == Class::Breaks).flat_map(|corrected| &corrected.lines)
                {
                    let _ = write!(message, "\n{}", corrected_line(at, line));
                }
                let _ = writeln!(text, "::{level} {at},title={}::{}", property(&title), data(&message));
            }
        }
    }
    for change in &diff.schema {
        let _ = writeln!(text, "{}", schema_change(change));
    }
    text
}

/// The place in the file. The lines of a manifest's entry are not the lines of the file.
fn position(Place { file, location }: &Place) -> String {
    match file.split_once('#') {
        Some((file, _)) => format!("file={}", property(file)),
        None => format!("file={},line={},col={}", property(file), location.line, location.column),
    }
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
