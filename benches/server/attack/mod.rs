//! `./dev attack`: hostile clients of a server with its default settings, and their effect on other callers.
//!
//! - [`attacks`]: the attacks, a function each
//! - [`attacker`]: the connections that they use, and what they count
//! - [`bystander`]: a caller who sends a cheap query at a constant rate meanwhile, and an operator who probes the server
//! - [`mixed`]: all attacks on one server, several at a time, and what it holds afterwards

mod attacker;
mod attacks;
mod bystander;
mod mixed;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::database::{Database, DatabaseOptions, LIMITED_USER, UNLIMITED_USER};
use crate::error::Result;
use crate::orderql;
use crate::output;
use crate::process::{ServerProcess, free_address};
use crate::report::{Report, Row};
use crate::usage::{CpuTimes, peak_mib};
use attacker::{Attacker, MAX_MEMORY_MIB, SOURCE, Tally};
use attacks::{Attack, LARGE_VALUES, NO_LARGE_VALUES};
use bystander::Bystander;

/// How many times its quiet latency the bystander's 99th percentile may be.
const MAX_SLOWDOWN: f64 = 10.0;

/// How long an operator may wait for the response to a probe.
const MAX_PROBE_MS: f64 = 50.0;

/// Attack a server with its default settings, in one way after the other, and see what becomes of its other callers.
///
/// Prints what each attack achieved: its requests, the server's CPU time and peak memory, the statuses of the responses, and
/// the latencies of a bystander before and during the attack. Ends with 1 if the server takes more than 256 MiB, if a
/// response has a status of 5xx other than 503 with Retry-After, if the bystander's 99th percentile grows more than tenfold, or if a
/// probe on the operators' listener takes more than 50 ms (99th percentile).
#[derive(Debug, Args)]
pub struct AttackOptions {
    /// Orders in the database
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    orders: u64,

    /// Seconds of each attack
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    seconds: f64,

    /// Attack one server for so many minutes, by three attacks at a time, and see whether its memory, descriptors and connections
    /// grow, in place of one server for each attack
    #[arg(long, value_name = "MINUTES", conflicts_with_all = ["seconds", "only"])]
    mixed: Option<u64>,

    /// Only these attacks
    #[arg(long, value_name = "ATTACK", value_delimiter = ',')]
    only: Vec<Attack>,

    /// Where the figures are written [default: bench/attack.json in the target folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the attacks. Returns whether the server stood all of them.
pub fn run(options: &AttackOptions) -> Result<bool> {
    let database = Database::open(&DatabaseOptions::of(options.orders))?;
    let time = Duration::from_secs_f64(options.seconds);
    let mut report = Report::default();
    match options.mixed {
        Some(minutes) => mixed::measure(&database, minutes, &mut report)?,
        None => one_by_one(options, &database, time, &mut report)?,
    }
    let is_met = report.is_met();
    let out = options.out.clone().map_or_else(|| output::file("attack.json"), Ok)?;
    let AttackOptions { orders, seconds, mixed, .. } = options;
    report.finish(&out, &database.machine()?, &json!({ "orders": orders, "seconds": seconds, "mixed": mixed }))?;
    Ok(is_met)
}

/// Attacks a new server in each way.
fn one_by_one(options: &AttackOptions, database: &Database, time: Duration, report: &mut Report) -> Result<()> {
    let mut rows = Vec::new();
    let all = Attack::value_variants().iter().copied();
    for attack in all.filter(|attack| options.only.is_empty() || options.only.contains(attack)) {
        eprintln!("{} s of {}", options.seconds, attack.name());
        if attack == Attack::LargeValues {
            database.write(LARGE_VALUES)?;
        }
        rows.push(measure(attack, database, time, report)?);
        if attack == Attack::LargeValues {
            database.write(NO_LARGE_VALUES)?;
        }
    }
    report.table("attacks", rows);
    Ok(())
}

/// Attacks a new server.
fn measure(attack: Attack, database: &Database, time: Duration, report: &mut Report) -> Result<Row> {
    let admin = free_address()?;
    let server = orderql::start_attacked(database, admin, attack == Attack::StalledLog)?;
    let token = orderql::sign_in(&server, LIMITED_USER)?;
    let bystander = Bystander::new(server.address, &orderql::sign_in(&server, UNLIMITED_USER)?);
    let quiet = bystander.watch(time / 2)?.join()?;

    let before = CpuTimes::of(server.id());
    let watching = bystander.watch(time)?;
    let probing = Bystander::probe(admin).watch(time)?;
    let attacker = Attacker { address: server.address, source: SOURCE, token, time, tally: Tally::default() };
    attack.run(&attacker)?;
    let attacked = watching.join()?;
    let probe_ms = probing.join()?.latencies.percentile_ms(99.0);
    let tally = attacker.tally;
    let (statuses, failures) = (tally.statuses(), tally.failures() + attacked.failures);
    let name = attack.name();
    let peak = peak_mib(server.id());
    if let Some(peak) = peak {
        report.at_most(&format!("{name}: peak memory (MiB)"), peak, MAX_MEMORY_MIB);
    }
    report.at_most(&format!("{name}: statuses 5xx but 503 with Retry-After"), failures as f64, 0.0);
    let slowdown = attacked.latencies.percentile_ms(99.0) / quiet.latencies.percentile_ms(99.0);
    report.at_most(&format!("{name}: bystander's p99, during the attack / before"), slowdown, MAX_SLOWDOWN);
    report.at_most(&format!("{name}: p99 of probes on the operators' listener (ms)"), probe_ms, MAX_PROBE_MS);
    Ok(vec![
        ("attack", json!(name)),
        ("requests", json!(tally.requests())),
        ("server_cpu_s", json!(cpu_seconds(&server, before.as_ref()))),
        ("peak_mib", json!(peak)),
        ("quiet_p50_ms", json!(quiet.latencies.percentile_ms(50.0))),
        ("quiet_p99_ms", json!(quiet.latencies.percentile_ms(99.0))),
        ("p50_ms", json!(attacked.latencies.percentile_ms(50.0))),
        ("p99_ms", json!(attacked.latencies.percentile_ms(99.0))),
        ("probe_p99_ms", json!(probe_ms)),
        ("bystander", json!(attacked.statuses)),
        ("statuses", json!(statuses)),
    ])
}

fn cpu_seconds(server: &ServerProcess, before: Option<&CpuTimes>) -> Option<f64> {
    Some(CpuTimes::of(server.id())?.since(before?).as_secs_f64())
}
