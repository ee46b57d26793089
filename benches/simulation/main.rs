//! Simulates a service of 1 to 1,000 nodes and a million callers: `./dev bench simulation`.
//!
//! Each query costs one caller some credits at one of the nodes. The buckets are those of `src/throttle/debit.lua`, in millionths
//! of a credit and microseconds: one for each caller in a store that all nodes share, one on each node, or a share of it on each
//! node. What is admitted beyond one bucket, and what is refused although one bucket covers it, is compared with the shared one,
//! which is exact; the calls of the store are compared with what one is measured to take.
//!
//! Everything follows from the seed.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are rounded anyway"
)]
#![allow(unreachable_pub, reason = "a program has no public interface")]

mod buckets;
mod plot;

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

use buckets::{Arrival, Outcome, Service, Strategy};

/// What one Valkey or Redis is measured to take on one core: calls a second.
const STORE_CAPACITY: f64 = 32_000.0;

/// Queries that clients send to a node in a second.
const QUERIES_PER_NODE: u64 = 200;

const CALLERS: u64 = 1_000_000;
const SECOND: i64 = 1_000_000;

/// What queries cost, and how many in a hundred: from single orders to the largest pages with all below them.
const PRICES: [(u64, i64); 5] = [(50, 4), (25, 20), (15, 62), (8, 200), (2, 391)];

/// The figures of one number of nodes.
#[derive(Debug)]
struct Figures {
    nodes: u64,
    /// Calls of the store, a second.
    calls: f64,
    /// What was refused, of all queries.
    refused: f64,
    /// What was refused without a call, of what was refused.
    refused_locally: f64,
    /// Credits that were admitted beyond those of one bucket, of these: with a bucket on each node, with shares, and with the shared
    /// store that is away for a third of the time.
    beyond: [f64; 3],
    /// Credits that shares refuse although one bucket covers them, of these.
    wrongly_refused: f64,
}

fn main() -> io::Result<()> {
    let value = |name: &str| env::args().skip_while(|argument| argument != name).nth(1);
    let seed = value("--seed").and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let seconds: u64 = value("--seconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(60);
    let path = value("--out").map_or_else(|| PathBuf::from("target/simulation.svg"), PathBuf::from);

    println!("{CALLERS} callers, {QUERIES_PER_NODE} queries a second for each node, {seconds} s, seed {seed}");
    println!(
        "| nodes | queries/s | store calls/s | load of a store | wait for it | refused | of these without a call | over-admission: store | bucket a node | 1/N each | store away for a third | 1/N each refuses wrongly |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut all = Vec::new();
    for nodes in [1, 3, 10, 30, 100, 300, 1000] {
        let figures = simulate(nodes, seconds, seed);
        println!("{}", row(&figures));
        all.push(figures);
    }
    fs::write(&path, plot::svg(&all))?;
    println!("plot: {}", path.display());
    Ok(())
}

fn row(figures: &Figures) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let load = figures.calls / STORE_CAPACITY;
    // Calls that come at random to a server that takes the same time for each.
    let wait = match load {
        load if load < 1.0 => format!("{:.0} µs", 1e6 / STORE_CAPACITY * load / (2.0 * (1.0 - load))),
        load => format!("{} stores", load.ceil()),
    };
    let [own, share, away] = figures.beyond.map(percent);
    let cells = [
        figures.nodes.to_string(),
        (figures.nodes * QUERIES_PER_NODE).to_string(),
        format!("{:.0}", figures.calls),
        percent(load),
        wait,
        percent(figures.refused),
        percent(figures.refused_locally),
        "0".to_owned(),
        own,
        share,
        away,
        percent(figures.wrongly_refused),
    ];
    format!("| {} |", cells.join(" | "))
}

/// Sends the same queries to services that differ in where their buckets are.
fn simulate(nodes: u64, seconds: u64, seed: u64) -> Figures {
    let mut random = Random(seed);
    let count = nodes * QUERIES_PER_NODE * seconds;
    let end = seconds.cast_signed() * SECOND;
    let mut services = [
        Service::new(Strategy::Shared { away: None }, nodes),
        Service::new(Strategy::OnEachNode, nodes),
        Service::new(Strategy::Share, nodes),
        Service::new(Strategy::Shared { away: Some((end / 3, end * 2 / 3)) }, nodes),
    ];
    let mut admitted = [0; 4];
    let (mut refused, mut refused_locally, mut wrongly_refused) = (0_u64, 0_u64, 0_i64);
    for number in 0..count {
        let price = price(random.below(100));
        let arrival = Arrival {
            // A few callers send very many queries, and most send few: the number falls with the rank.
            caller: (CALLERS as f64).powf(random.fraction()) as u32,
            node: random.below(nodes) as u32,
            price,
            now: (number as f64 / count as f64 * end as f64) as i64,
        };
        let outcomes = services.each_mut().map(|service| service.send(&arrival));
        for (admitted, outcome) in admitted.iter_mut().zip(&outcomes) {
            *admitted += if *outcome == Outcome::Admitted { price } else { 0 };
        }
        refused += u64::from(outcomes[0] != Outcome::Admitted);
        refused_locally += u64::from(outcomes[0] == Outcome::RefusedLocally);
        if outcomes[0] == Outcome::Admitted && outcomes[2] != Outcome::Admitted {
            wrongly_refused += price;
        }
    }
    assert!(services[0].admitted_within_bounds(end), "one bucket is exact");
    let exact = admitted[0] as f64;
    let beyond = |service: usize| services[service].beyond(end) as f64 / exact;
    Figures {
        nodes,
        calls: services[0].calls() as f64 / seconds as f64,
        refused: refused as f64 / count as f64,
        refused_locally: refused_locally as f64 / refused.max(1) as f64,
        beyond: [beyond(1), beyond(2), beyond(3)],
        wrongly_refused: wrongly_refused as f64 / exact,
    }
}

fn price(mut share: u64) -> i64 {
    for (part, price) in PRICES {
        if share < part {
            return price;
        }
        share -= part;
    }
    PRICES[0].1
}

/// Random numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From 0 to 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
