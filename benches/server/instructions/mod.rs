//! `./dev bench instructions`: how many instructions the server executes for a request. Unlike times, they are almost the same in every
//! run and on every machine, so that a small change can be measured, and a test can watch over them.
//!
//! - [`callgrind`]: a server that counts its instructions
//! - [`expected`]: the committed figures

mod callgrind;
mod expected;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::client::Status;
use crate::database::{Database, DatabaseOptions};
use crate::error::Result;
use crate::keys::Keys;
use crate::statistics::median;
use crate::targets::Context;
use crate::targets::http::HttpTarget;
use crate::workload::Workload;
use callgrind::Counter;
use expected::{Expected, Profile, TOLERANCE};

/// The committed figures hold for a database of so many orders.
const ORDERS: u64 = 20_000;

/// How often the requests are counted.
const ROUNDS: usize = 5;

/// Count the instructions that the server executes for a request.
///
/// Runs the server in valgrind with one thread, and sends each workload over one connection: N requests to warm up, and then five
/// times N that are counted. The median of the five counts is the figure, because now and then the server does something beside the
/// requests. Only instructions outside the kernel are counted. `./dev bench instructions` builds the server.
#[derive(Debug, Args)]
pub struct InstructionsOptions {
    /// N, the requests of a count
    #[arg(long, value_name = "N", default_value_t = 200)]
    requests: usize,

    /// Only these workloads
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',')]
    only: Vec<Workload>,

    /// The profile that the server is built in
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,

    /// Count another build's instructions, such as one to compare with
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// A flag for the server, such as --server-flag=--access-log=all; may be repeated
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    server_flag: Vec<String>,

    /// End with 1 if a figure differs from the committed one of the profile by more than 3 %
    #[arg(long)]
    check: bool,

    /// Let figures differ by so many percent, as those of another machine may
    #[arg(long, value_name = "PERCENT", requires = "check")]
    tolerance: Option<f64>,

    /// Replace the committed figures
    #[arg(long, conflicts_with = "check")]
    update: bool,
}

/// Counts the instructions, and prints them beside the committed figures. Returns false if these are to be checked and differ.
pub fn run(options: &InstructionsOptions) -> Result<bool> {
    let InstructionsOptions { requests, only, profile, program, server_flag, check, tolerance, update } = options;
    callgrind::require()?;
    let mut expected = Expected::read()?;
    let data = DatabaseOptions::of(ORDERS);
    let database = Database::open(&data)?;
    let keys = database.block_on(Keys::choose(&database.connect()?, data.seed))?;
    let context = Context {
        database: &database,
        keys: &keys,
        server_flags: server_flag,
        other: None,
        peers: Err(String::new()),
        rounds: 1,
        connections: 1,
        time: Duration::ZERO,
        seed: data.seed,
    };
    let program = program.as_deref().unwrap_or(Path::new(env!("CARGO_BIN_EXE_orderql")));
    eprintln!("starting {} in callgrind, where it is some fifty times slower", program.display());
    let (server, mut counter) = callgrind::start(program, &database.url(), server_flag)?;
    let target = HttpTarget::of_server(&context, server)?;
    println!("{:<8} {:>12} {:>10} {:>11}", "workload", "instructions", "expected", "difference");
    let mut are_as_expected = true;
    let all = Workload::value_variants().iter().copied();
    for workload in all.filter(|workload| only.is_empty() || only.contains(workload)) {
        eprintln!("{workload}: {requests} requests to warm up, and {ROUNDS} times {requests} that are counted");
        let counted = count(&mut counter, &target, workload, *requests)?;
        let figure = expected.of(*profile, workload);
        let difference = figure.map(|figure| counted as f64 / figure as f64 - 1.0);
        let tolerance = tolerance.map_or(TOLERANCE, |percent| percent / 100.0);
        let is_as_expected = difference.is_some_and(|difference| difference.abs() <= tolerance);
        are_as_expected &= is_as_expected;
        let figure = figure.map_or_else(|| "none".to_owned(), |figure| figure.to_string());
        let difference = difference.map_or_else(String::new, |difference| format!("{:+.1} %", difference * 100.0));
        let remark = if is_as_expected { "" } else { "  not as expected" };
        println!("{workload:<8} {counted:>12} {figure:>10} {difference:>11}{remark}");
        expected.set(*profile, workload, counted);
    }
    if *update {
        expected.write()?;
    }
    eprintln!("callgrind_annotate explains the counts: {}.*", counter.profiles.display());
    if *check && !are_as_expected {
        eprintln!("if the change is meant, commit to the new figures: run this with --update in place of --check");
    }
    Ok(are_as_expected || !check)
}

/// The instructions of one request of a workload.
fn count(counter: &mut Counter, target: &HttpTarget<'_>, workload: Workload, requests: usize) -> Result<u64> {
    let messages = target.first_requests(workload, requests)?;
    let mut connection = target.connect()?;
    let mut send = || -> Result<()> {
        for message in &messages {
            if let (Status::Error(_), response) = connection.send(message)? {
                return Err(connection.unexpected(&response));
            }
        }
        Ok(())
    };
    send()?;
    counter.reset()?;
    let mut counts = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        send()?;
        counts.push(counter.read()? as f64 / messages.len().max(1) as f64);
    }
    Ok(median(counts).round() as u64)
}
