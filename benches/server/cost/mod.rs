//! Whether the cost of random queries predicts the CPU time that they take: `./dev bench cost`.
//!
//! - [`rows`]: rows of the database that give the queries their values
//! - [`queries`]: random queries
//! - [`cpu`]: the CPU time that a query takes
//! - [`explain`]: how PostgreSQL runs it
//! - [`report`]: correlations, tables and JSON
//! - [`plot`]: a scatter plot

mod rows;
mod queries;
mod cpu;
mod explain;
mod report;
mod plot;

use std::path::PathBuf;

use clap::{Args, value_parser};
use orderql::catalog::Catalog;
use serde_json::json;
use time::OffsetDateTime;

use crate::client::Connection;
use crate::database::{Database, DatabaseOptions, UNLIMITED_USER};
use crate::error::Result;
use crate::orderql::{sign_in, start};
use crate::output;
use cpu::Meter;
use report::{GOAL, Outlier, Report};
use rows::Rows;

/// With one connection, a statement that is prepared for one query is prepared for all.
const ONE_CONNECTION: [&str; 1] = ["--pool-size=1"];

/// Compare the cost of random queries with the CPU time that they take.
///
/// Sends random valid queries within the default limits, spread over all root fields, page sizes and depths, with search
/// terms and cursors from real rows, one after the other, on the PostgreSQL that `./dev bench` fills. Reports Spearman's
/// rank correlation of the estimated and the actual cost with the CPU time of the server, of PostgreSQL and of both, and
/// the queries whose cost predicts it worst, with their statements. The figures go to standard output, and into a JSON file
/// with a scatter plot beside it; progress goes to standard error.
#[derive(Debug, Args)]
pub struct CostOptions {
    #[command(flatten)]
    database: DatabaseOptions,

    /// Queries
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u16).range(2..))]
    queries: u16,

    /// Rounds in which every query is measured once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u16).range(1..))]
    rounds: u16,

    /// Where the figures are written, with a plot beside them [default: bench/cost.json in the target folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Measures, prints and writes everything.
pub fn run(options: &CostOptions) -> Result<()> {
    let CostOptions { queries, rounds, out, .. } = options;
    let DatabaseOptions { orders, seed, .. } = options.database;
    let database = Database::open(&options.database)?;
    let client = database.connect()?;
    let catalog = Catalog::built_in()?;

    eprintln!("choosing rows");
    let rows = database.block_on(Rows::choose(&client, &catalog, seed))?;
    let queries = queries::generate(&catalog, &rows, usize::from(*queries), seed)?;
    let server = start(&database, &ONE_CONNECTION)?;
    let mut meter = Meter {
        connection: Connection::open("orderql", server.address)?,
        bearer: sign_in(&server, UNLIMITED_USER)?,
        server: server.id(),
        postmaster: database.postmaster,
    };
    eprintln!("measuring {} queries in {rounds} rounds", queries.len());
    let measured = meter.measure(&queries, usize::from(*rounds), seed)?;

    let points = report::points(&queries, &measured);
    let explain = |index: usize| {
        let statements = database.block_on(explain::explain(&client, &queries[index].explained.plan))?;
        Ok(Outlier { query: index, statements })
    };
    let outliers = report::outliers(&points).into_iter().map(explain).collect::<Result<_>>()?;
    let underpriced = report::underpriced(&points).into_iter().map(explain).collect::<Result<_>>()?;
    let correlations = report::correlations(&points);
    let report = Report {
        machine: database.machine()?,
        settings: json!({
            "taken": OffsetDateTime::now_utc().unix_timestamp(),
            "version": env!("CARGO_PKG_VERSION"),
            "orders": orders,
            "seed": seed,
            "rounds": rounds,
        }),
        goal: GOAL,
        is_met: correlations.first().is_some_and(|first| first.spearman >= GOAL),
        correlations,
        queries: points,
        outliers,
        underpriced,
    };
    report.print();
    let out = out.clone().map_or_else(|| output::file("cost.json"), Ok)?;
    output::write_json(&out, &report)?;
    output::write(&out.with_extension("svg"), &plot::draw(&report))
}
