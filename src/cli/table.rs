//! The output of commands: a table for people, JSON for scripts.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::cli::outcome::Outcome;
use crate::cli::output::write;

/// Rows of the same columns.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    /// The columns' names, as JSON has them.
    pub(crate) columns: [&'static str; N],
    pub(crate) rows: Vec<[Value; N]>,
}

impl<const N: usize> Table<N> {
    /// Prints the rows: as a JSON array of objects, or aligned below the columns' names.
    pub(crate) fn print(&self, json: bool) -> Outcome {
        write(&if json { self.to_json() } else { self.to_text() })
    }

    fn to_json(&self) -> String {
        let object = |row: &[Value; N]| -> Value {
            let pairs = self.columns.iter().zip(row).map(|(name, value)| ((*name).to_owned(), value.clone()));
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        format!("{:#}\n", Value::Array(self.rows.iter().map(object).collect()))
    }

    fn to_text(&self) -> String {
        let heads = self.columns.map(|name| title(name).to_uppercase());
        let mut lines = vec![heads.to_vec()];
        lines.extend(self.rows.iter().map(|row| row.each_ref().map(shown).to_vec()));
        align(&lines)
    }
}

/// Lines of cells, each column as wide as its widest cell.
pub(crate) fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for cells in lines {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{cell:<width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Prints what a command did: a sentence, or the facts as JSON, with whether anything changed.
pub(crate) fn report(json: bool, sentence: &str, changed: bool, facts: &[(&str, &str)]) -> Outcome {
    if json {
        let mut object: Map<_, _> =
            facts.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        object.insert("changed".to_owned(), Value::Bool(changed));
        write(&format!("{:#}\n", Value::Object(object)))
    } else if changed {
        write(&format!("{sentence}\n"))
    } else {
        write(&format!("{sentence} already; nothing changed\n"))
    }
}

/// `createdAt` as `created at`.
fn title(name: &str) -> String {
    let mut title = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            title.push(' ');
        }
        title.push(character.to_ascii_lowercase());
    }
    title
}

/// A value for people.
pub(crate) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "-".to_owned(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    // Users choose names, and unauthenticated clients some details. Neither may control the terminal.
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_aligned_below_their_columns() {
        let table = Table {
            columns: ["user", "createdAt", "groups"],
            rows: vec![
                [json!("demo"), json!("2026-05-01"), json!(["API", "B"])],
                [json!("\u{1b}[2Jé"), json!(null), json!([])],
            ],
        };
        assert_eq!(
            table.to_text(),
            "USER   CREATED AT  GROUPS\ndemo   2026-05-01  API, B\n\u{fffd}[2Jé  -           -\n"
        );
        assert_eq!(
            serde_json::from_str::<Value>(&table.to_json()).unwrap()[0],
            json!({"user": "demo", "createdAt": "2026-05-01", "groups": ["API", "B"]})
        );
    }
}
