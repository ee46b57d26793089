//! Whether the cost of queries is what they take: `./dev bench cost`. Random queries show whether cost predicts CPU time;
//! queries that try to cheat show how much more than a plain page a caller can get.
//!
//! - [`rows`]: rows of the database that give the queries their values
//! - [`queries`] with [`cursor`]: random queries
//! - [`cpu`]: the CPU time that a query takes
//! - [`explain`]: how PostgreSQL runs it
//! - [`report`]: correlations, tables and JSON
//! - [`plot`]: a scatter plot
//! - [`prediction`]: all of that
//! - [`cheats`]: queries that try to cheat
//! - [`daily`]: searches of daily work, page by page
//! - [`writers`]: what indexes and triggers cost those who write orders
//! - [`scopes`]: pages of callers who see some rows only

mod rows;
mod cursor;
mod queries;
mod cpu;
mod explain;
mod report;
mod plot;
mod prediction;
mod cheats;
mod daily;
mod writers;
mod scopes;

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use serde_json::json;
use time::OffsetDateTime;

use crate::database::{Database, DatabaseOptions};
use crate::error::Result;
use crate::output;
use report::Report;

/// Compare the cost of queries with what they take.
///
/// Sends random valid queries within the default limits, spread over all root fields, page sizes and depths, with search
/// terms and cursors from real rows, one after the other, on the PostgreSQL that `./dev bench` fills. Reports Spearman's
/// rank correlation of the estimated and the actual cost with the CPU time of the server, of PostgreSQL and of both, and
/// the queries whose cost predicts it worst, with their statements.
///
/// Then sends queries that try to cheat: every collection with every search key and sort key, for absent, rare, common and
/// distant values, one or two at a time, in both directions, from cursors at the start, in the middle and at the end.
/// Reports the worst of them as multiples of a plain page of 50 rows.
///
/// Then reads the searches of daily work (benches/daily-searches.txt) page by page, in the order of every sort key, and
/// reports the pages that are read for each page of rows, and the most rows that a page examines.
///
/// Then inserts 20,000 orders in bulk, and 2,000 row by row, with orderql's indexes and triggers and without, in transactions that
/// are rolled back, and reports the CPU time of PostgreSQL.
///
/// Then reads pages of daily work by callers who see three stores or three facilities, and reports PostgreSQL's CPU time as a multiple of
/// that of the same pages by a caller who sees all.
///
/// The figures go to standard output, and into a JSON file with a scatter plot beside it; progress goes to standard error.
#[derive(Debug, Args)]
pub struct CostOptions {
    #[command(flatten)]
    database: DatabaseOptions,

    /// Only this part
    #[arg(long, value_name = "PART")]
    only: Option<CostPart>,

    /// Random queries
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u16).range(2..))]
    queries: u16,

    /// Rounds in which every random query and every way of writing is measured once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u16).range(1..))]
    rounds: u16,

    /// Queries that try to cheat, a sample of some hundred thousand; 0 for all. Each root, key and sort key has one at least
    #[arg(long, value_name = "N", default_value_t = 2000)]
    cheats: usize,

    /// A flag for orderql's server, such as --server-flag=--log=info; may be repeated
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    server_flag: Vec<String>,

    /// Where the figures are written, with a plot beside them [default: bench/cost.json in the target folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A part of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CostPart {
    /// How well cost predicts CPU time
    Prediction,
    /// The worst of the queries that try to cheat
    Cheats,
    /// The pages that searches of daily work take
    Daily,
    /// What indexes and triggers cost those who write orders
    Writers,
    /// What it costs that scopes limit the rows
    Scopes,
}

/// Measures, prints and writes everything.
pub fn run(options: &CostOptions) -> Result<()> {
    let CostOptions { only, queries, rounds, cheats, server_flag, out, .. } = options;
    let DatabaseOptions { orders, seed, .. } = options.database;
    let database = Database::open(&options.database)?;
    let is_wanted = |part| only.is_none_or(|only| only == part);
    let prediction = is_wanted(CostPart::Prediction)
        .then(|| prediction::measure(&database, server_flag, usize::from(*queries), usize::from(*rounds), seed))
        .transpose()?;
    let cheats = is_wanted(CostPart::Cheats).then(|| cheats::run(&database, server_flag, *cheats, seed)).transpose()?;
    let daily = is_wanted(CostPart::Daily).then(|| daily::run(&database, server_flag)).transpose()?;
    let writers =
        is_wanted(CostPart::Writers).then(|| writers::run(&database, usize::from(*rounds), seed)).transpose()?;
    let scopes = is_wanted(CostPart::Scopes)
        .then(|| scopes::run(&database, server_flag, usize::from(*rounds), seed))
        .transpose()?;
    let report = Report {
        machine: database.machine()?,
        settings: json!({
            "taken": OffsetDateTime::now_utc().unix_timestamp(),
            "version": env!("CARGO_PKG_VERSION"),
            "orders": orders,
            "seed": seed,
            "rounds": rounds,
            "server_flags": server_flag,
        }),
        prediction,
        cheats,
        daily,
        writers,
        scopes,
    };
    report.print();
    let out = out.clone().map_or_else(|| output::file("cost.json"), Ok)?;
    output::write_json(&out, &report)?;
    match &report.prediction {
        Some(prediction) => output::write(&out.with_extension("svg"), &plot::draw(prediction)),
        None => Ok(()),
    }
}
