//! `./dev attack --mixed`: all attacks against one server, several at a time, and what stays of them.

use std::fs;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::json;

use crate::attack::attacker::{Attacker, MAX_MEMORY_MIB, SOURCE, Tally};
use crate::attack::attacks::{Attack, LARGE_VALUES, NO_LARGE_VALUES};
use crate::attack::bystander::Bystander;
use crate::database::{Database, LIMITED_USER, UNLIMITED_USER};
use crate::error::{BenchError, Result};
use crate::orderql;
use crate::process::{ServerProcess, free_address};
use crate::report::{Report, Row};
use crate::usage::{begin_peak, peak_mib, resident_mib};

/// Attacks at the same time.
const AT_ONCE: usize = 3;

/// How long a combination lasts.
const ROUND: Duration = Duration::from_mins(1);

/// How long the server is left alone before it is looked at: longer than it waits for the head of a request.
const PAUSE: Duration = Duration::from_secs(20);

/// How much larger the memory of the last third of the rounds may be than that of the third before, by their medians.
const MAX_GROWTH: f64 = 1.1;

/// How many times the memory of one attack three may take at a time: requests and unread responses share a budget, but passwords that are
/// hashed and texts that are compiled come to it.
const MEMORY_OF_SEVERAL: f64 = 1.5;

/// Connections of the pools with their default sizes, those that requests share, and those of the server's own.
const MAX_BACKENDS: f64 = 20.0;

/// What a server holds while nobody asks it for anything.
#[derive(Debug, Clone, Copy)]
struct Held {
    resident_mib: f64,
    descriptors: usize,
    backends: usize,
}

/// Attacks one server for so many minutes, with ever new combinations.
pub fn measure(database: &Database, minutes: u64, report: &mut Report) -> Result<()> {
    database.write(LARGE_VALUES)?;
    let server = orderql::start_attacked(database, free_address()?, false)?;
    let rounds = (minutes * 60).div_ceil((ROUND + PAUSE).as_secs()).max(3);
    let (mut held, mut rows, mut failures, mut peak) = (Vec::new(), Vec::new(), 0, 0.0_f64);
    for round in 0..rounds {
        begin_peak(server.id());
        let (row, failed) = attack(&server, round)?;
        let peak_of_round = peak_mib(server.id()).unwrap_or_default();
        peak = peak.max(peak_of_round);
        let now = Held::of(&server, database)?;
        eprintln!(
            "round {} of {rounds}: {peak_of_round:.0} MiB at most, {:.0} after it, {} descriptors, {} backends, {failed} failures",
            round + 1,
            now.resident_mib,
            now.descriptors,
            now.backends
        );
        held.push(now);
        failures += failed;
        rows.push(row.into_iter().chain([("peak_mib", json!(peak_of_round))]).chain(now.columns()).collect());
    }
    report.table("mixed", rows);
    database.write(NO_LARGE_VALUES)?;
    report.at_most("statuses 5xx but 503 with Retry-After", failures as f64, 0.0);
    report.at_most("peak memory (MiB)", peak, MEMORY_OF_SEVERAL * MAX_MEMORY_MIB);
    let (_, later) = held.split_at(held.len() / 3);
    let (second, last) = later.split_at(later.len() / 2);
    let growth = |figure: fn(&Held) -> f64| median(last, figure) / median(second, figure);
    report.at_most("memory: last third / second", growth(|held| held.resident_mib), MAX_GROWTH);
    // The pool opens and closes connections to PostgreSQL, which are descriptors, too.
    let others = growth(|held| held.descriptors.saturating_sub(held.backends) as f64);
    report.at_most("descriptors but connections to PostgreSQL: last third / second", others, 1.0);
    let most = held.iter().map(|held| held.backends).max().unwrap_or_default();
    report.at_most("connections to PostgreSQL, at most", most as f64, MAX_BACKENDS);
    Ok(())
}

fn median(rounds: &[Held], figure: fn(&Held) -> f64) -> f64 {
    let mut figures: Vec<_> = rounds.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// One combination of attacks, then a pause. Returns what it did, and how many responses no attack may cause.
fn attack(server: &ServerProcess, round: u64) -> Result<(Row, u64)> {
    let all: Vec<_> =
        Attack::value_variants().iter().filter(|attack| **attack != Attack::StalledLog).copied().collect();
    // Each place goes through all attacks at a pace of its own, and the places move against each other after each time.
    let round = usize::try_from(round).unwrap_or_default();
    let attack_at = |place: usize| all[(round * (2 * place + 1) + place * (5 + round / all.len())) % all.len()];
    let attacks: Vec<_> = (0..AT_ONCE).map(attack_at).collect();
    let token = orderql::sign_in(server, LIMITED_USER)?;
    let watching = Bystander::new(server.address, &orderql::sign_in(server, UNLIMITED_USER)?).watch(ROUND)?;
    let (mut requests, mut failures) = (0, 0);
    let tallies: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> =
            attacks.iter().map(|attack| scope.spawn(|| run(*attack, server.address, &token))).collect();
        running
            .into_iter()
            .map(|attack| attack.join().map_err(|_| BenchError::Data("an attack panicked".to_owned()))?)
            .collect::<Result<_>>()
    })?;
    for tally in &tallies {
        requests += tally.requests();
        failures += tally.failures();
    }
    let seen = watching.join()?;
    failures += seen.failures;
    thread::sleep(PAUSE);
    let names: Vec<_> = attacks.iter().map(|attack| attack.name()).collect();
    let row = vec![
        ("attacks", json!(names.join(" + "))),
        ("requests", json!(requests)),
        ("failures", json!(failures)),
        ("p50_ms", json!(seen.latencies.percentile_ms(50.0))),
        ("p99_ms", json!(seen.latencies.percentile_ms(99.0))),
        ("bystander", json!(seen.statuses)),
    ];
    Ok((row, failures))
}

fn run(attack: Attack, address: SocketAddr, token: &str) -> Result<Tally> {
    let attacker = Attacker { address, source: SOURCE, token: token.to_owned(), time: ROUND, tally: Tally::default() };
    attack.run(&attacker)?;
    Ok(attacker.tally)
}

impl Held {
    fn of(server: &ServerProcess, database: &Database) -> Result<Self> {
        let id = server.id();
        let descriptors = fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        let count = "SELECT count(*) FROM pg_stat_activity WHERE starts_with(application_name, 'orderql-')";
        let client = database.connect()?;
        let backends: i64 = database.block_on(client.query_one(count, &[]))?.get(0);
        Ok(Self {
            resident_mib: resident_mib(id).unwrap_or_default(),
            descriptors,
            backends: usize::try_from(backends).unwrap_or_default(),
        })
    }

    fn columns(self) -> Row {
        vec![
            ("resident_mib", json!(self.resident_mib)),
            ("descriptors", json!(self.descriptors)),
            ("backends", json!(self.backends)),
        ]
    }
}
