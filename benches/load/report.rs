//! The results as tables, and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::contestant::{Figures, Name};
use crate::measure::machine::Machine;
use crate::rounds::{Results, median};
use crate::scaling::Scaling;
use crate::targets::{Ratio, Wanted};
use crate::workload::Workload;

/// Everything that is stored.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What it was measured on.
    pub machine: Machine,
    /// What it was measured with.
    pub settings: Settings,
    /// Who was left out, and why.
    pub skipped: BTreeMap<Name, String>,
    /// By workload and contestant.
    pub workloads: BTreeMap<Workload, BTreeMap<Name, Measured>>,
    /// Ours against theirs.
    pub ratios: Vec<Ratio>,
    /// How our own figures grow.
    pub scaling: Option<Scaling>,
}

/// What it was measured with.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    /// When, in seconds since 1970.
    pub taken: i64,
    /// Of which version.
    pub version: &'static str,
    /// Orders in the database.
    pub orders: u64,
    /// What orders and keys were made from.
    pub seed: u64,
    /// Rounds.
    pub rounds: usize,
    /// Seconds that each measurement took.
    pub seconds: f64,
    /// Flags that our server was given beyond its defaults.
    pub server_flags: Vec<String>,
}

/// One contestant's figures for one workload.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The median of each figure.
    pub median: Figures,
    /// All of them.
    pub rounds: Vec<Figures>,
}

/// Results by workload and contestant, with medians.
pub fn measured(results: &Results) -> BTreeMap<Workload, BTreeMap<Name, Measured>> {
    let mut workloads: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for ((workload, name), rounds) in results {
        if let Some(median) = median(rounds) {
            workloads.entry(*workload).or_default().insert(*name, Measured { median, rounds: rounds.clone() });
        }
    }
    workloads
}

/// Prints the figures, a table for each workload, and the ratios.
pub fn print(report: &Report) {
    let Machine { cores, cpu, kernel, postgresql, .. } = &report.machine;
    println!("{cores} cores of {cpu}, Linux {kernel}, PostgreSQL {postgresql}");
    let Settings { orders, rounds, seconds, .. } = &report.settings;
    println!("{orders} orders; medians of {rounds} rounds of {seconds} s; CPU in ms a request, memory in MiB");
    for (workload, contestants) in &report.workloads {
        println!(
            "\n{:<50}{:>10}{:>9}{:>9}{:>9}{:>9}{:>8}{:>9}",
            workload.name(),
            "answers/s",
            "p50 ms",
            "p99 ms",
            "PG CPU",
            "its CPU",
            "memory",
            "clients"
        );
        for (name, Measured { median, .. }) in contestants {
            let known =
                |figure: Option<f64>, digits: usize| figure.map_or("–".to_owned(), |f| format!("{f:.digits$}"));
            println!(
                "{:<50}{:>10.0}{:>9.2}{:>9.2}{:>9}{:>9}{:>8}{:>9}",
                name.legend(),
                median.per_second,
                median.p50_ms,
                median.p99_ms,
                known(median.postgresql_cpu_ms, 3),
                known(median.server_cpu_ms, 3),
                known(median.resident_mib, 0),
                median.clients
            );
        }
    }
    if !report.ratios.is_empty() {
        println!("\n{:<44}{:<9}{:>7}{:>9}", "orderql divided by", "", "ratio", "target");
    }
    for Ratio { what, against, workload, value, wanted, bound, is_met } in &report.ratios {
        let side = if *wanted == Wanted::AtLeast { "≥" } else { "≤" };
        let met = if *is_met { "met" } else { "NOT MET" };
        println!("{:<44}{workload:<9}{value:>7.2}{:>9} {met}", format!("{what}, {against}"), format!("{side} {bound}"));
    }
    if let Some(scaling) = &report.scaling {
        scaling.print();
    }
    for (name, why) in &report.skipped {
        println!("\nleft out: {} ({why})", name.legend());
    }
}
