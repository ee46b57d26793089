//! How fast we are, against what could be and what else there is: `./dev bench`.
//!
//! - [`workload`]: the four questions
//! - [`keys`]: the orders and places that they are asked of
//! - [`contestant`], [`contestants`]: who is asked, and [`mod@start`]: how they are started
//! - [`equality`]: whether all answer the same
//! - [`rounds`]: the measurement
//! - [`targets`]: the ratios that are wanted
//! - [`scaling`]: how our own figures grow
//! - [`report`]: tables and JSON
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

mod workload;
mod keys;
mod contestant;
mod contestants;
mod start;
mod equality;
mod rounds;
mod targets;
mod scaling;
mod report;
mod plot;

use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use time::OffsetDateTime;

use contestant::{Contestant, Name, Window};
use keys::Keys;
use measure::Fault;
use measure::command::{self, Sample};
use measure::machine::Machine;
use measure::store::Store;
use report::{Report, Settings};
use rounds::Results;
use scaling::Bench;
use start::{Place, Started};
use workload::Workload;

/// Answers of each workload that are compared before anything is measured.
const COMPARED: usize = 50;

/// Before a measurement counts.
const WARM_UP: Duration = Duration::from_millis(500);

/// Measure orderql against the limits and its peers.
///
/// Fills a private PostgreSQL with sample orders (kept for the next run), starts everybody, compares their answers, and then
/// measures them in turns: answers a second, latencies, CPU time a request of the server and of PostgreSQL, memory. The
/// figures go to standard output and, with everything else, into a JSON file; progress goes to standard error. What is not
/// installed is left out with a word.
///
/// CPU times are the figures to trust where the machine has other things to do.
#[derive(Debug, Parser)]
#[command(name = "./dev bench", bin_name = "./dev bench", max_term_width = 120, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,

    #[command(flatten)]
    options: Options,

    /// What cargo says to every bench
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

/// What is measured; without one, all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
enum Part {
    /// The four workloads, against the limits and the peers
    Load,
    /// How orderql's own figures grow: with a page's depth and size, with connections, with more load than it can take
    Scaling,
}

#[derive(Debug, Args)]
struct Options {
    #[command(flatten)]
    sample: Sample,

    /// Rounds in which everybody is measured once with every workload
    #[arg(long, value_name = "N", default_value_t = 5, global = true)]
    rounds: usize,

    /// Seconds that each measurement takes
    #[arg(long, value_name = "S", default_value_t = 5.0, global = true)]
    seconds: f64,

    /// Only these workloads
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',', global = true)]
    only: Vec<Workload>,

    /// Only these beside orderql itself
    #[arg(long, value_name = "CONTESTANT", value_delimiter = ',', global = true)]
    against: Vec<Name>,

    /// A flag for orderql's server, such as --server-flag=--pool-size=8; may be given several times
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true, global = true)]
    server_flag: Vec<String>,

    /// Where the figures are stored, with a plot beside them [default: bench/load.json in the target folder; of scaling
    /// alone bench/scaling.json]
    #[arg(long, value_name = "FILE", global = true)]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Arguments { part, options, .. } = Arguments::parse();
    command::end(measure(part, &options))
}

fn measure(part: Option<Part>, options: &Options) -> Result<(), Fault> {
    let (folder, runtime) = (command::folder()?, command::runtime()?);
    let Options { rounds, seconds, .. } = *options;
    let Sample { orders, seed, .. } = options.sample;
    let store = Rc::new(runtime.block_on(Store::open(&options.sample.store()))?);
    let client = runtime.block_on(store.connect())?;
    let machine = runtime.block_on(Machine::read(&client))?;
    let keys = Rc::new(runtime.block_on(Keys::choose(&client, seed))?);
    drop(client);

    let place = Place {
        store: &store,
        keys: &keys,
        runtime: runtime.handle(),
        target: command::target(),
        folder: &folder,
        flags: &options.server_flag,
    };
    let mut report = Report {
        machine,
        settings: Settings {
            taken: OffsetDateTime::now_utc().unix_timestamp(),
            version: env!("CARGO_PKG_VERSION"),
            orders,
            seed,
            rounds,
            seconds,
            server_flags: options.server_flag.clone(),
        },
        skipped: start::Skipped::new(),
        workloads: report::measured(&Results::new()),
        ratios: Vec::new(),
        scaling: None,
    };
    let mut ours = place.ours()?;
    let time = Duration::from_secs_f64(seconds);
    if part != Some(Part::Scaling) {
        let is_wanted = |workload: &Workload| options.only.is_empty() || options.only.contains(workload);
        let workloads: Vec<_> = Workload::ALL.into_iter().filter(is_wanted).collect();
        let Started { mut others, skipped } = place.others(&mut ours, &options.against, &workloads);
        let ours: &mut dyn Contestant = &mut ours;
        let mut everybody = vec![ours];
        for other in &mut others {
            everybody.push(other.as_mut());
        }
        for workload in &workloads {
            eprintln!("comparing answers: {workload}");
            equality::compare(&mut everybody, *workload, &keys, COMPARED)?;
        }
        let results = rounds::run(&mut everybody, &workloads, rounds, Window { warm_up: WARM_UP, time }, seed)?;
        report.skipped = skipped;
        report.ratios = targets::ratios(&results);
        report.workloads = report::measured(&results);
    }
    if part != Some(Part::Load) {
        let programs = place.programs();
        let programs = programs.inspect_err(|fault| eprintln!("left out: what refusals cost ({fault})")).ok();
        let (store, keys, flags) = (&store, &keys, options.server_flag.as_slice());
        let bench = Bench { store, keys, folder: &folder, flags, programs: programs.as_deref(), rounds, time, seed };
        report.scaling = Some(scaling::measure(&bench, &mut ours)?);
    }
    report::print(&report);
    let name = if part == Some(Part::Scaling) { "scaling.json" } else { "load.json" };
    let out = options.out.clone().unwrap_or_else(|| folder.join(name));
    command::store(&report, &out)?;
    if report.workloads.is_empty() { Ok(()) } else { command::draw(&plot::picture(&report), &out) }
}
