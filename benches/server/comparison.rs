//! Measures all targets with all workloads, in rounds.

use std::collections::BTreeMap;
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::equality;
use crate::error::{BenchError, Result};
use crate::output::optional;
use crate::statistics::median;
use crate::targets::floor::Floor;
use crate::targets::http::HttpTarget;
use crate::targets::pgbench::Pgbench;
use crate::targets::pipelined::Pipelined;
use crate::targets::{Context, Figures, Name, Target, peers};
use crate::workload::Workload;

const WARM_UP: Duration = Duration::from_millis(500);

/// The figures of all targets.
#[derive(Debug, Default, Serialize)]
pub struct Comparison {
    /// The targets that were left out, and why.
    pub skipped: BTreeMap<Name, String>,
    /// The figures by workload and target.
    pub workloads: BTreeMap<Workload, BTreeMap<Name, Measured>>,
}

/// The figures of one target with one workload.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The median of each figure.
    pub median: Figures,
    /// The figures of each round.
    pub rounds: Vec<Figures>,
}

/// Starts the targets that are named, or all, compares their responses, and measures them. In each round the turns come in
/// another random order, so that whatever else the machine does affects all alike.
pub fn run<'a>(
    context: &'a Context<'a>,
    mut orderql: HttpTarget<'a>,
    workloads: &[Workload],
    against: &[Name],
) -> Result<Comparison> {
    let mut comparison = Comparison::default();
    let mut targets = start(context, &mut orderql, workloads, against, &mut comparison.skipped);
    targets.insert(0, Box::new(orderql));
    for workload in workloads {
        eprintln!("comparing responses: {workload}");
        equality::check(&mut targets, *workload, context.keys)?;
    }
    for target in &mut targets {
        for workload in workloads {
            eprintln!("preparing: {workload} for {}", target.name());
            target.prepare(*workload)?;
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(context.seed);
    let mut rounds: BTreeMap<(Workload, Name), Vec<Figures>> = BTreeMap::new();
    let all = workloads.iter().flat_map(|workload| (0..targets.len()).map(move |target| (target, *workload)));
    let mut turns: Vec<_> = all.collect();
    for round in 1..=context.rounds {
        turns.shuffle(&mut random);
        for (target, workload) in &turns {
            let target = &mut targets[*target];
            let figures = target.measure(*workload, WARM_UP, context.time).map_err(|source| {
                BenchError::Measurement { what: format!("{} with {workload}", target.name()), source: source.into() }
            })?;
            let Figures { per_second, .. } = figures;
            eprintln!("round {round} of {}: {workload:6} {:13} {per_second:>9.0}/s", context.rounds, target.name());
            rounds.entry((*workload, target.name())).or_default().push(figures);
        }
    }
    for ((workload, name), rounds) in rounds {
        if let Some(median) = median_figures(&rounds) {
            comparison.workloads.entry(workload).or_default().insert(name, Measured { median, rounds });
        }
    }
    Ok(comparison)
}

/// Starts the targets beside orderql. What is not installed or does not start is left out.
fn start<'a>(
    context: &'a Context<'a>,
    orderql: &mut HttpTarget<'a>,
    workloads: &[Workload],
    against: &[Name],
    skipped: &mut BTreeMap<Name, String>,
) -> Vec<Box<dyn Target + 'a>> {
    let mut targets = Vec::new();
    let programs = || context.peers.clone().map_err(BenchError::Data);
    for name in [Name::A1, Name::A2, Name::AsyncGraphql, Name::Postgraphile, Name::Floor] {
        if !against.is_empty() && !against.contains(&name) {
            continue;
        }
        let target = match name {
            Name::Orderql => continue,
            Name::A1 => Pgbench::find(context).map(boxed),
            Name::A2 => Pipelined::new(context, orderql).map(boxed),
            Name::AsyncGraphql => programs().and_then(|folder| peers::async_graphql(folder, context)).map(boxed),
            Name::Postgraphile => peers::postgraphile(context).map(boxed),
            Name::Floor => programs().and_then(|folder| Floor::start(folder, orderql, workloads)).map(boxed),
        };
        match target {
            Ok(target) => targets.push(target),
            Err(error) => {
                eprintln!("left out: {name} ({error})");
                skipped.insert(name, error.to_string());
            }
        }
    }
    targets
}

fn boxed<'a>(target: impl Target + 'a) -> Box<dyn Target + 'a> {
    Box::new(target)
}

/// The median of each figure.
pub fn median_figures(rounds: &[Figures]) -> Option<Figures> {
    let of = |figure: fn(&Figures) -> f64| median(rounds.iter().map(figure));
    let of_known = |figure: fn(&Figures) -> Option<f64>| {
        let known: Vec<_> = rounds.iter().filter_map(figure).collect();
        (!known.is_empty()).then(|| median(known))
    };
    Some(Figures {
        per_second: of(|figures| figures.per_second),
        p50_ms: of(|figures| figures.p50_ms),
        p99_ms: of(|figures| figures.p99_ms),
        server_cpu_ms: of_known(|figures| figures.server_cpu_ms),
        postgresql_cpu_ms: of_known(|figures| figures.postgresql_cpu_ms),
        resident_mib: of_known(|figures| figures.resident_mib),
        response_bytes: of_known(|figures| figures.response_bytes),
        clients: rounds.last()?.clients,
    })
}

/// Prints a table for each workload.
pub fn print(comparison: &Comparison) {
    for (workload, targets) in &comparison.workloads {
        println!(
            "\n{workload:<50}{:>12}{:>9}{:>9}{:>9}{:>12}{:>8}{:>9}",
            "responses/s", "p50 ms", "p99 ms", "PG CPU", "server CPU", "memory", "clients"
        );
        for (name, Measured { median, .. }) in targets {
            println!(
                "{:<50}{:>12.0}{:>9.2}{:>9.2}{:>9}{:>12}{:>8}{:>9}",
                name.legend(),
                median.per_second,
                median.p50_ms,
                median.p99_ms,
                optional(median.postgresql_cpu_ms, 3),
                optional(median.server_cpu_ms, 3),
                optional(median.resident_mib, 0),
                median.clients
            );
        }
    }
    for (name, why) in &comparison.skipped {
        println!("\nleft out: {} ({why})", name.legend());
    }
}
