//! Measures the server as a whole: `./dev bench`.
//!
//! - [`client`] and [`driver`]: send requests, closed loop or open loop
//! - [`process`], [`orderql`] and [`usage`]: start servers, and read their CPU time and memory
//! - [`database`], [`keys`] and [`workload`]: what is queried
//! - [`targets`]: what is measured
//! - [`comparison`] with [`equality`], [`scaling`], [`crowd`], [`network`], [`large`], [`telemetry`], [`cluster`], [`changes`], [`cost`]: the
//!   parts
//! - [`instructions`]: how many instructions a request takes
//! - [`attack`]: what hostile clients can do
//! - [`report`]: the results

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are rounded anyway"
)]
#![allow(unreachable_pub, reason = "a program has no public interface")]
#![allow(clippy::too_many_lines, reason = "a measurement is told in one piece")]

mod error;
mod output;
mod statistics;
mod report;
mod rounds;
mod usage;
mod process;
mod client;
mod driver;
mod database;
mod orderql;
mod plan_parameters;
mod workload;
mod keys;
mod targets;
mod equality;
mod comparison;
mod scaling;
mod crowd;
mod network;
mod telemetry;
mod cluster;
mod changes;
mod large;
mod cost;
mod instructions;
mod attack;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde_json::json;
use time::OffsetDateTime;

use database::{Database, DatabaseOptions};
use error::Result;
use keys::Keys;
use report::Report;
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
    options: LoadOptions,

    /// Cargo passes this to every benchmark
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

/// What is measured; without one, load, scaling and crowd.
#[derive(Debug, Subcommand)]
enum Part {
    /// The four workloads, against the limits and the peers
    Load(LoadOptions),
    /// How orderql's own figures grow: depth, page size, memory, rejections
    Scaling(LoadOptions),
    /// What callers notice of each other: overload, one caller with most of the load
    Crowd(LoadOptions),
    /// What the network between server and database costs
    Network(LoadOptions),
    /// What metrics, the access log and an idle tracer cost
    Telemetry(LoadOptions),
    /// Several servers and replicas; a store that servers share, and that its outage delays nothing
    Cluster(LoadOptions),
    /// Large responses: their first byte, and the server's memory
    Large(LoadOptions),
    /// What the triggers of the change feed cost writers, and how soon requests that wait for changes are answered
    Changes(LoadOptions),
    Cost(cost::CostOptions),
    Instructions(instructions::InstructionsOptions),
    Attack(attack::AttackOptions),
}

#[derive(Debug, Args)]
struct LoadOptions {
    #[command(flatten)]
    database: DatabaseOptions,

    /// Rounds in which every target is measured once with every workload
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,

    /// Seconds of each measurement
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    seconds: f64,

    /// Connections of the part load to every server; the limits use as many as are best for them
    #[arg(long, value_name = "N", default_value_t = targets::CONNECTIONS)]
    connections: usize,

    /// Only these workloads
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',')]
    only: Vec<Workload>,

    /// Only these targets beside orderql
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    against: Vec<Name>,

    /// Another build of orderql to compare with on the same database, such as the one before a change
    #[arg(long, value_name = "FILE")]
    other: Option<PathBuf>,

    /// A flag for orderql's server, such as --server-flag=--pool-size=8; may be repeated
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    server_flag: Vec<String>,

    /// Where the figures are written [default: bench/load.json in the target folder; bench/PART.json for another part]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Arguments { part, options, .. } = Arguments::parse();
    let ended = match part {
        None => measure(&options, &[Measured::Scaling, Measured::Crowd, Measured::Load]),
        Some(Part::Load(options)) => measure(&options, &[Measured::Load]),
        Some(Part::Scaling(options)) => measure(&options, &[Measured::Scaling]),
        Some(Part::Crowd(options)) => measure(&options, &[Measured::Crowd]),
        Some(Part::Network(options)) => measure(&options, &[Measured::Network]),
        Some(Part::Telemetry(options)) => measure(&options, &[Measured::Telemetry]),
        Some(Part::Cluster(options)) => measure(&options, &[Measured::Cluster]),
        Some(Part::Large(options)) => measure(&options, &[Measured::Large]),
        Some(Part::Changes(options)) => changes::run(&options),
        Some(Part::Cost(options)) => cost::run(&options),
        Some(Part::Instructions(options)) => match instructions::run(&options) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::FAILURE,
            Err(error) => Err(error),
        },
        Some(Part::Attack(options)) => match attack::run(&options) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::FAILURE,
            Err(error) => Err(error),
        },
    };
    let Err(error) = ended else { return ExitCode::SUCCESS };
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    eprint!("{error}");
    causes.for_each(|cause| eprint!(": {cause}"));
    eprintln!();
    ExitCode::FAILURE
}

/// A part that measures a server of its own database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measured {
    Load,
    Scaling,
    Crowd,
    Network,
    Telemetry,
    Cluster,
    Large,
}

impl Measured {
    /// The file of its results.
    const fn file(self) -> &'static str {
        match self {
            Self::Load => "load.json",
            Self::Scaling => "scaling.json",
            Self::Crowd => "crowd.json",
            Self::Network => "network.json",
            Self::Telemetry => "telemetry.json",
            Self::Cluster => "cluster.json",
            Self::Large => "large.json",
        }
    }
}

fn measure(options: &LoadOptions, parts: &[Measured]) -> Result<()> {
    let LoadOptions { rounds, seconds, connections, only, against, other, server_flag, .. } = options;
    let DatabaseOptions { orders, seed, .. } = options.database;
    let database = Database::open(&options.database)?;
    let keys = database.block_on(Keys::choose(&database.connect()?, seed))?;
    let has = |part| parts.contains(&part);
    let has_load = has(Measured::Load);
    let needs_peers =
        has(Measured::Scaling) || has_load && against.is_empty() || against.iter().any(|name| name.is_rust_peer());
    let programs = if needs_peers { peers::build().map_err(|error| error.to_string()) } else { Err(String::new()) };
    let context = Context {
        database: &database,
        keys: &keys,
        server_flags: server_flag,
        other: other.as_deref(),
        peers: programs.as_deref().map_err(Clone::clone),
        rounds: *rounds,
        connections: *connections,
        time: Duration::from_secs_f64(*seconds),
        seed,
    };
    let mut orderql = HttpTarget::orderql(&context)?;
    let mut report = Report::default();
    if has(Measured::Scaling) {
        scaling::run(&context, &mut orderql, &mut report)?;
    }
    if has(Measured::Crowd) {
        crowd::run(&context, &mut orderql, &mut report)?;
    }
    if has(Measured::Network) {
        network::run(&context, &mut report)?;
    }
    if has(Measured::Large) {
        large::run(&context, &mut report)?;
    }
    let all = Workload::value_variants().iter().copied();
    let workloads: Vec<_> = all.filter(|workload| only.is_empty() || only.contains(workload)).collect();
    if has(Measured::Telemetry) {
        telemetry::run(&context, &workloads, &mut report)?;
    }
    if has(Measured::Cluster) {
        cluster::run(&context, &workloads, &mut report)?;
    }
    if has_load {
        comparison::run(&context, orderql, &workloads, against, &mut report)?;
    }
    let name = if has_load { Measured::Load } else { parts[0] }.file();
    let out = options.out.clone().map_or_else(|| output::file(name), Ok)?;
    let settings = json!({
        "taken": OffsetDateTime::now_utc().unix_timestamp(),
        "version": env!("CARGO_PKG_VERSION"),
        "orders": orders,
        "seed": seed,
        "rounds": rounds,
        "seconds": seconds,
        "connections": connections,
        "server_flags": server_flag,
    });
    report.finish(&out, &database.machine()?, &settings)
}
