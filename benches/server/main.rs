//! Measures the server as a whole: `./dev bench`.
//!
//! - [`client`] and [`driver`]: send requests, closed loop or open loop
//! - [`process`], [`orderql`] and [`usage`]: start servers, and read their CPU time and memory
//! - [`database`], [`keys`] and [`workload`]: what is queried
//! - [`targets`]: what is measured
//! - [`comparison`] with [`equality`], [`scaling`], [`cost`]: the three parts
//! - [`goals`]: the figures that are aimed at

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are rounded anyway"
)]
#![allow(unreachable_pub, reason = "a program has no public interface")]

mod error;
mod output;
mod statistics;
mod usage;
mod process;
mod client;
mod driver;
mod database;
mod orderql;
mod plan_steps;
mod workload;
mod keys;
mod targets;
mod equality;
mod comparison;
mod goals;
mod scaling;
mod cost;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ::time::OffsetDateTime;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Serialize;

use comparison::Comparison;
use database::{Database, Machine};
use error::Result;
use goals::Goal;
use keys::Keys;
use scaling::Scaling;
use targets::http::HttpTarget;
use targets::{Context, Name, peers};
use workload::Workload;

/// Measure orderql against limits and peers.
///
/// Fills a private PostgreSQL with sample orders (reused by the next run), starts all targets, compares their responses, and
/// measures them in turns: responses a second, latencies, CPU time a request of the server and of PostgreSQL, memory. The
/// figures go to standard output and, with everything else, into a JSON file; progress goes to standard error. What is not
/// installed is left out, and reported.
///
/// Trust CPU times before latencies where the machine has other things to do.
#[derive(Debug, Parser)]
#[command(
    name = "./dev bench",
    bin_name = "./dev bench",
    max_term_width = 120,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,

    #[command(flatten)]
    options: Options,

    /// Cargo passes this to every benchmark
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

/// What is measured; without one, load and scaling.
#[derive(Debug, Subcommand)]
enum Part {
    /// The four workloads, against the limits and the peers
    Load(Options),
    /// How orderql's own figures grow: depth, page size, memory, overload, rejections, wrong logins
    Scaling(Options),
    /// Whether the cost of random queries predicts the CPU time that they take
    Cost(cost::Options),
}

#[derive(Debug, Args)]
struct Options {
    #[command(flatten)]
    database: database::Options,

    /// Rounds in which every target is measured once with every workload
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,

    /// Seconds of each measurement
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    seconds: f64,

    /// Only these workloads
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',')]
    only: Vec<Workload>,

    /// Only these targets beside orderql
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    against: Vec<Name>,

    /// A flag for orderql's server, such as --server-flag=--pool-size=8; may be repeated
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    server_flag: Vec<String>,

    /// Where the figures are written [default: bench/load.json in the target folder; bench/scaling.json for scaling alone]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Everything that is written as JSON.
#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    settings: Settings,
    #[serde(flatten)]
    comparison: Comparison,
    ratios: Vec<Goal>,
    scaling: Option<Scaling>,
}

#[derive(Debug, Serialize)]
struct Settings {
    /// Seconds since 1970.
    taken: i64,
    version: &'static str,
    orders: u64,
    seed: u64,
    rounds: usize,
    seconds: f64,
    server_flags: Vec<String>,
}

fn main() -> ExitCode {
    let Arguments { part, options, .. } = Arguments::parse();
    let ended = match part {
        None => measure(&options, true, true),
        Some(Part::Load(options)) => measure(&options, true, false),
        Some(Part::Scaling(options)) => measure(&options, false, true),
        Some(Part::Cost(options)) => cost::run(&options),
    };
    let Err(error) = ended else { return ExitCode::SUCCESS };
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    eprint!("{error}");
    causes.for_each(|cause| eprint!(": {cause}"));
    eprintln!();
    ExitCode::FAILURE
}

fn measure(options: &Options, has_load: bool, has_scaling: bool) -> Result<()> {
    let Options { rounds, seconds, only, against, server_flag, .. } = options;
    let database::Options { orders, seed, .. } = options.database;
    let database = Database::open(&options.database)?;
    let keys = database.block_on(Keys::choose(&database.connect()?, seed))?;
    let needs_peers = has_scaling || against.is_empty() || against.iter().any(|name| name.is_rust_peer());
    let programs = if needs_peers { peers::build().map_err(|error| error.to_string()) } else { Err(String::new()) };
    let context = Context {
        database: &database,
        keys: &keys,
        server_flags: server_flag,
        peers: programs.as_deref().map_err(Clone::clone),
        rounds: *rounds,
        time: Duration::from_secs_f64(*seconds),
        seed,
    };
    let mut orderql = HttpTarget::orderql(&context)?;
    let scaling = if has_scaling { Some(scaling::measure(&context, &mut orderql)?) } else { None };
    let workloads: Vec<_> =
        Workload::value_variants().iter().filter(|one| only.is_empty() || only.contains(one)).copied().collect();
    let comparison =
        if has_load { comparison::run(&context, orderql, &workloads, against)? } else { Comparison::default() };
    let settings = Settings {
        taken: OffsetDateTime::now_utc().unix_timestamp(),
        version: env!("CARGO_PKG_VERSION"),
        orders,
        seed,
        rounds: *rounds,
        seconds: *seconds,
        server_flags: server_flag.clone(),
    };
    let report =
        Report { machine: database.machine()?, settings, ratios: goals::ratios(&comparison), comparison, scaling };
    report.print();
    let name = if has_load { "load.json" } else { "scaling.json" };
    output::write_json(&options.out.clone().map_or_else(|| output::file(name), Ok)?, &report)
}

impl Report {
    fn print(&self) {
        self.machine.print();
        let Settings { orders, rounds, seconds, .. } = &self.settings;
        println!("{orders} orders; medians of {rounds} rounds of {seconds} s; CPU in ms a request, memory in MiB");
        comparison::print(&self.comparison);
        goals::print("ratios", &self.ratios);
        if let Some(scaling) = &self.scaling {
            scaling::print(scaling);
        }
    }
}
