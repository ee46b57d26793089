//! The results: tables and goals, printed and written as JSON.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::output;

/// The cells of a row, each with the name of its column.
pub type Row = Vec<(&'static str, Value)>;

/// All results of a run.
#[derive(Debug, Default)]
pub struct Report {
    tables: Vec<(&'static str, Vec<Row>)>,
    goals: Vec<Row>,
}

impl Report {
    /// Adds a table.
    pub fn table(&mut self, name: &'static str, rows: Vec<Row>) {
        self.tables.push((name, rows));
    }

    /// Adds a figure that should be `bound` at least.
    pub fn at_least(&mut self, what: &str, value: f64, bound: f64) {
        self.goal(what, value, &format!("≥ {bound}"), value >= bound);
    }

    /// Adds a figure that should be `bound` at most.
    pub fn at_most(&mut self, what: &str, value: f64, bound: f64) {
        self.goal(what, value, &format!("≤ {bound}"), value <= bound);
    }

    fn goal(&mut self, what: &str, value: f64, goal: &str, is_met: bool) {
        let met = if is_met { "met" } else { "NOT MET" };
        self.goals.push(vec![
            ("figure", json!(what)),
            ("value", json!(value)),
            ("goal", json!(goal)),
            ("result", json!(met)),
        ]);
    }

    /// Whether every figure meets its goal.
    pub fn is_met(&self) -> bool {
        self.goals.iter().flatten().all(|(column, value)| *column != "result" || value == "met")
    }

    /// Prints all tables and writes them, together with what they were measured on and with.
    pub fn finish(self, path: &Path, machine: &Value, settings: &Value) -> Result<()> {
        println!("{}\n{}", line(machine), line(settings));
        let Self { mut tables, goals } = self;
        tables.push(("goals", goals));
        for (name, rows) in &tables {
            print(name, rows);
        }
        let tables = tables.into_iter().map(|(name, rows)| {
            let rows = rows.into_iter().map(|row| row.into_iter().map(|(column, value)| (column.to_owned(), value)));
            (name.to_owned(), rows.map(Map::from_iter).map(Value::Object).collect())
        });
        let tables: Map<_, _> = tables.collect();
        output::write_json(path, &json!({ "machine": machine, "settings": settings, "tables": tables }))
    }
}

/// An object as a line of text.
pub fn line(object: &Value) -> String {
    let fields = object.as_object().into_iter().flatten();
    fields.map(|(name, value)| format!("{name}: {}", cell(value))).collect::<Vec<_>>().join(", ")
}

/// Prints rows that have the same columns.
pub fn print(name: &str, rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    let columns = first.iter().map(|(column, _)| (*column).to_owned()).collect();
    let mut lines = vec![columns];
    lines.extend(rows.iter().map(|row| row.iter().map(|(_, value)| cell(value)).collect::<Vec<_>>()));
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..first.len()).map(width).collect();
    println!("\n{name}");
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        println!("{}", cells.collect::<Vec<_>>().join("  "));
    }
}

/// A value as text, a number with as many digits as mean something.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(figure) if number.is_f64() && figure.abs() >= 100.0 => format!("{figure:.0}"),
            Some(figure) if number.is_f64() && figure.abs() >= 10.0 => format!("{figure:.1}"),
            Some(figure) if number.is_f64() => format!("{figure:.3}"),
            _ => number.to_string(),
        },
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
