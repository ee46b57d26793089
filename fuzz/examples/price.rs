//! The cost estimator alone: a document and a schema in, the price tree out. Nothing here does I/O but `main`.
//!
//! `cargo run --no-default-features --example price -- DOCUMENT [SCHEMA]`

use std::error::Error;
use std::fs;

use orderql::catalog::Catalog;
use orderql::compile::explanation::explain;
use orderql::cost::breakdown::CostNode;
use orderql::limits::Limits;
use orderql::query::Request;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = std::env::args_os().skip(1);
    let query = fs::read_to_string(files.next().ok_or("usage: price DOCUMENT [SCHEMA]")?)?;
    let catalog = match files.next() {
        Some(schema) => Catalog::parse(&fs::read_to_string(schema)?)?,
        None => Catalog::built_in()?,
    };
    let request = Request { query, ..Request::default() };
    // Above the limits a query is priced all the same, and `admission` says that it would be refused.
    let explanation = explain(&catalog, &request, &Limits::default())?;
    println!("{:>10} query ({} levels deep, {:?})", explanation.estimate.cost(), explanation.depth, explanation.check);
    print(&explanation.cost, 1);
    Ok(())
}

/// A line for each field: what it adds in all, and how that comes about.
fn print(lines: &[CostNode], level: usize) {
    for line in lines {
        let CostNode { key, field, own, times, penalty, total, .. } = line;
        let name = if key == field { key.clone() } else { format!("{key}: {field}") };
        let times = if *times > 1 { format!(" = {times} × ({own} + what it selects)") } else { String::new() };
        let penalty = if *penalty > 0 { format!(" + {penalty} for its search") } else { String::new() };
        println!("{total:>10} {}{name}{times}{penalty}", "  ".repeat(level));
        print(&line.parts, level + 1);
    }
}
