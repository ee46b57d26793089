//! Does the cost tell the truth? `./dev bench cost`: how the costs of random queries go with the CPU time that they take.
//!
//! - [`rows`]: rows of the database from which queries take their values
//! - [`queries`]: random queries
//! - [`cpu`]: what a query takes
//! - [`plans`]: how PostgreSQL answers it
//! - [`report`]: correlations, tables and JSON
//! - [`plot`]: a picture

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are rounded anyhow"
)]
#![allow(unreachable_pub, reason = "what a module has for the others")]

#[path = "../measure/mod.rs"]
mod measure;

mod rows;
mod queries;
mod cpu;
mod plans;
mod report;
mod plot;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use orderql::catalog::Catalog;
use time::OffsetDateTime;

use cpu::Watched;
use measure::Fault;
use measure::command::{self, Sample};
use measure::exchange::Line;
use measure::machine::Machine;
use measure::service::{sign_in, start};
use measure::store::{Store, UNLIMITED_USER};
use report::{Outlier, Report, Settings, WANTED};
use rows::Rows;

/// Requests come one after the other; what is prepared on one connection is prepared for all of them.
const ONE_CONNECTION: &str = "--pool-size=1";

/// Hold the cost of random queries against the CPU time that they take.
///
/// Asks random valid queries within the default limits, spread over all roots, page sizes and depths, with search terms and
/// cursors out of real rows, one after the other on the PostgreSQL that `./dev bench` fills. Reports Spearman's rank
/// correlation of the estimated and the actual cost with the CPU time of the server, of PostgreSQL and of both, and the
/// queries whose cost says least, with their statements. The figures go to standard output, and into a JSON file with a
/// scatter plot beside it; progress goes to standard error.
#[derive(Debug, Parser)]
#[command(name = "./dev bench cost", bin_name = "./dev bench cost", max_term_width = 120)]
struct Arguments {
    #[command(flatten)]
    sample: Sample,

    /// Queries
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u16).range(2..))]
    queries: u16,

    /// Rounds in which every query is measured once
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// Where the figures are stored, with a plot beside them [default: bench/cost.json in the target folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// What cargo says to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    command::end(measure(&Arguments::parse()))
}

fn measure(arguments: &Arguments) -> Result<(), Fault> {
    let Arguments { sample, queries, rounds, out, .. } = arguments;
    let (folder, runtime) = (command::folder()?, command::runtime()?);
    let store = runtime.block_on(Store::open(&sample.store()))?;
    let client = runtime.block_on(plans::client(&store))?;
    let catalog = Catalog::built_in().map_err(|error| Fault::Data(error.to_string()))?;

    eprintln!("choosing rows");
    let rows = runtime.block_on(Rows::choose(&client, &catalog, sample.seed))?;
    let queries = queries::make(&catalog, &rows, usize::from(*queries), sample.seed)?;
    let server = start(&store, &folder, &[ONE_CONNECTION.to_owned()])?;
    let mut watched = Watched {
        line: Line::to("orderql", server.address)?,
        bearer: sign_in(&server, UNLIMITED_USER)?,
        server: server.id(),
        postmaster: store.postmaster,
    };
    eprintln!("asking {} queries in {rounds} rounds", queries.len());
    let measured = cpu::measure(&mut watched, &queries, usize::from(*rounds), sample.seed)?;

    let points = report::points(&queries, &measured);
    let explain = |place: usize| {
        let statements = runtime.block_on(plans::run(&client, &queries[place].explained.plan))?;
        Ok(Outlier { place, statements })
    };
    let outliers = report::outliers(&points).into_iter().map(explain).collect::<Result<_, Fault>>()?;
    let underpriced = report::underpriced(&points).into_iter().map(explain).collect::<Result<_, Fault>>()?;
    let correlations = report::correlations(&points);
    let report = Report {
        machine: runtime.block_on(Machine::read(&client))?,
        settings: Settings {
            taken: OffsetDateTime::now_utc().unix_timestamp(),
            version: env!("CARGO_PKG_VERSION"),
            orders: sample.orders,
            seed: sample.seed,
            rounds: usize::from(*rounds),
        },
        wanted: WANTED,
        is_met: correlations.first().is_some_and(|first| first.spearman >= WANTED),
        correlations,
        queries: points,
        outliers,
        underpriced,
    };
    report::print(&report);
    let out = out.clone().unwrap_or_else(|| folder.join("cost.json"));
    command::store(&report, &out)?;
    command::draw(&plot::picture(&report), &out)
}
