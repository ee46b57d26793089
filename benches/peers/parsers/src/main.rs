//! orderql's pure half beside the parsers and validators of others, over the same documents and the same schema.
//!
//! - `contestant`: who is timed
//! - `apollo`, `asynchronous`, `graphql_js`: the others
//! - `clock`: how
//!
//! All are timed in turns, so that what else the machine does hits all alike; graphql-js, in a process of its own, comes last.

#[path = "../../../documents/mod.rs"]
mod documents;
mod apollo;
mod asynchronous;
mod clock;
mod contestant;
mod graphql_js;
mod ours;

use std::fmt::Write as _;

use orderql::catalog::Catalog;

use crate::apollo::Apollo;
use crate::asynchronous::AsyncGraphql;
use crate::contestant::{Contestant, Fault};
use crate::documents::Document;
use crate::ours::{Compile, ParseAndValidate};

fn main() -> Result<(), Fault> {
    let catalog = Catalog::built_in().map_err(|error| Fault::Schema(error.to_string()))?;
    let documents: Vec<Document> = documents::answered().into_iter().chain(documents::refused()).collect();
    let apollo = Apollo::new(catalog.sdl())?;
    let asynchronous = AsyncGraphql::new(catalog.sdl())?;
    let contestants: [&dyn Contestant; 4] = [&Compile(&catalog), &ParseAndValidate(&catalog), &apollo, &asynchronous];
    let mut columns: Vec<Column> = Vec::new();
    let times = clock::times(&contestants, &documents);
    columns.extend(contestants.iter().zip(times).map(|(contestant, times)| Column { name: contestant.name(), times }));
    match graphql_js::times(catalog.sdl(), &documents) {
        Ok(times) => columns.push(Column { name: "graphql-js", times: times.into_iter().map(Some).collect() }),
        Err(fault) => eprintln!("graphql-js is left out: {fault}"),
    }
    print!("{}", table(&documents, &columns));
    Ok(())
}

/// A contestant's medians in nanoseconds; none where it does not do a document's work.
struct Column {
    name: &'static str,
    times: Vec<Option<f64>>,
}

/// Microseconds, and how many times as long as the first column.
fn table(documents: &[Document], columns: &[Column]) -> String {
    let mut table = format!("{:<14} {:>7}", "", "bytes");
    for column in columns {
        let _ = write!(table, " {:>20}", column.name);
    }
    table.push_str("   (µs, and as often as the first)\n");
    for (place, document) in documents.iter().enumerate() {
        let _ = write!(table, "{:<14} {:>7}", document.name, document.text.len());
        let first = columns.first().and_then(|column| column.times[place]);
        for column in columns {
            let _ = match (column.times[place], first) {
                (Some(time), Some(first)) => write!(table, " {:>12.1} {:>6.1}×", time / 1000.0, time / first),
                (Some(time), None) => write!(table, " {:>12.1}        ", time / 1000.0),
                (None, _) => write!(table, " {:>20}", "–"),
            };
        }
        table.push('\n');
    }
    table
}
