//! Measures all targets with all workloads, in rounds.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::driver::Arrivals;
use crate::error::{BenchError, Result};
use crate::report::{Report, Row};
use crate::statistics::median;
use crate::targets::figures::{Figures, Window};
use crate::targets::floor::Floor;
use crate::targets::http::HttpTarget;
use crate::targets::pgbench::Pgbench;
use crate::targets::pipelined::Pipelined;
use crate::targets::{Context, Name, Target, peers};
use crate::workload::Workload;
use crate::{equality, rounds};

const WARM_UP: Duration = Duration::from_millis(500);

/// The goals: a figure of orderql, divided by that of another target. The bounds are in the order of the workloads.
type Ratio = (&'static str, Name, fn(&Figures) -> Option<f64>, fn(&mut Report, &str, f64, f64), [f64; 4]);

const RATIOS: [Ratio; 5] = [
    ("responses a second", Name::A1, |figures| Some(figures.per_second), Report::at_least, [0.7, 1.7, 1.6, 0.5]),
    ("PostgreSQL CPU", Name::A2, |figures| figures.postgresql_cpu_ms, Report::at_most, [1.2, 1.1, 1.2, 1.5]),
    ("server CPU", Name::Floor, |figures| figures.server_cpu_ms, Report::at_most, [4.0, 3.5, 4.5, 2.5]),
    (
        "responses a second",
        Name::AsyncGraphql,
        |figures| Some(figures.per_second),
        Report::at_least,
        [2.0, 2.6, 2.6, 1.8],
    ),
    (
        "responses a second",
        Name::Postgraphile,
        |figures| Some(figures.per_second),
        Report::at_least,
        [8.0, 6.0, 6.0, 6.5],
    ),
];

/// The goals for all CPU time of a request, compared with what the statement takes of PostgreSQL without a server, and a server
/// without a statement; in the order of the workloads.
const TOTAL_CPU: [f64; 4] = [1.5, 1.4, 1.15, 1.9];

/// Starts the targets that are named, or all, compares their responses, and measures them.
pub fn run<'a>(
    context: &'a Context<'a>,
    mut orderql: HttpTarget<'a>,
    workloads: &[Workload],
    against: &[Name],
    report: &mut Report,
) -> Result<()> {
    let (mut targets, skipped) = start(context, &mut orderql, workloads, against);
    targets.insert(0, Box::new(orderql));
    for workload in workloads {
        eprintln!("comparing responses: {workload}");
        equality::check(&mut targets, *workload, context.keys)?;
    }
    let mut turns = Vec::new();
    for (index, target) in targets.iter_mut().enumerate() {
        for workload in workloads {
            eprintln!("preparing: {workload} for {}", target.name());
            target.prepare(*workload)?;
            turns.push((index, *workload, Vec::new()));
        }
    }
    let window = Window::closed(WARM_UP, context.time);
    rounds::run(context.rounds, context.seed, &mut turns, |round, (target, workload, measured)| {
        let target = &mut targets[*target];
        let figures = target.measure(*workload, context.connections, window).map_err(|source| {
            BenchError::Measurement { what: format!("{} with {workload}", target.name()), source: source.into() }
        })?;
        let per_second = figures.per_second;
        eprintln!("round {round} of {}: {workload:6} {:13} {per_second:>9.0}/s", context.rounds, target.name());
        measured.push(figures);
        Ok(())
    })?;
    let figures: BTreeMap<_, _> = turns
        .iter()
        .map(|(target, workload, rounds)| ((*workload, targets[*target].name()), Figures::median(rounds)))
        .collect();
    for workload in workloads {
        let of_workload = figures.range((*workload, Name::Orderql)..=(*workload, Name::Floor));
        let rows = of_workload.map(|((_, name), figures)| figures.row(vec![("target", json!(name.legend()))]));
        report.table(workload.name(), rows.collect());
    }
    for (what, other, figure, goal, bounds) in RATIOS {
        for (workload, bound) in Workload::value_variants().iter().zip(bounds) {
            let of = |name| figures.get(&(*workload, name)).and_then(figure);
            if let (Some(ours), Some(theirs)) = (of(Name::Orderql), of(other)) {
                goal(report, &format!("{workload}: {what}, orderql / {other}"), ours / theirs, bound);
            }
        }
    }
    for (workload, bound) in Workload::value_variants().iter().zip(TOTAL_CPU) {
        let of = |name| figures.get(&(*workload, name));
        let total = of(Name::Orderql).and_then(|orderql| Some(orderql.postgresql_cpu_ms? + orderql.server_cpu_ms?));
        let least = of(Name::A2).and_then(|statement| statement.postgresql_cpu_ms);
        let least = least.zip(of(Name::Floor).and_then(|floor| floor.server_cpu_ms)).map(|(one, other)| one + other);
        if let (Some(total), Some(least)) = (total, least) {
            let what = format!("{workload}: CPU of server and PostgreSQL, orderql / the statement alone and the floor");
            report.at_most(&what, total / least, bound);
        }
    }
    at_half_rate(context, &mut targets, &figures, report)?;
    if context.other.is_some() {
        report.table("orderql_as_multiples_of_the_other_build", multiples(&turns, &targets));
    }
    report.table("left_out", skipped);
    Ok(())
}

/// Latencies at half of the rate that each server has in the closed loop, sent at fixed times.
fn at_half_rate(
    context: &Context<'_>,
    targets: &mut [Box<dyn Target + '_>],
    figures: &BTreeMap<(Workload, Name), Figures>,
    report: &mut Report,
) -> Result<()> {
    let mut turns = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let is_measured = matches!(target.name(), Name::Orderql | Name::Other | Name::AsyncGraphql);
        let of_target = figures.iter().filter(|((_, name), _)| is_measured && *name == target.name());
        turns.extend(of_target.map(|((workload, _), closed)| (index, *workload, closed.per_second / 2.0, Vec::new())));
    }
    rounds::run(context.rounds, context.seed, &mut turns, |round, (target, workload, rate, measured)| {
        eprintln!(
            "round {round} of {}: {workload:6} {:13} at half of its rate",
            context.rounds,
            targets[*target].name()
        );
        let window = Window { arrivals: Arrivals::Open(*rate), ..Window::closed(WARM_UP, context.time) };
        measured.push(targets[*target].measure(*workload, context.connections, window)?);
        Ok(())
    })?;
    let measured = turns.iter().map(|(target, workload, rate, rounds)| {
        ((*workload, targets[*target].name()), (*rate, Figures::median(rounds)))
    });
    let measured: BTreeMap<_, _> = measured.collect();
    let rows = measured.iter().map(|((workload, name), (rate, half))| {
        vec![
            ("workload", json!(workload.name())),
            ("target", json!(name.legend())),
            ("offered_per_second", json!(rate)),
            ("per_second", json!(half.per_second)),
            ("p50_ms", json!(half.p50_ms)),
            ("p99_ms", json!(half.p99_ms)),
        ]
    });
    report.table("at_half_of_the_rate", rows.collect());
    for workload in Workload::value_variants() {
        let of = |name| measured.get(&(*workload, name)).map(|(_, half)| half);
        if let Some(ours) = of(Name::Orderql) {
            report.at_most(&format!("{workload}: p99 / p50 at half of the rate"), ours.p99_ms / ours.p50_ms, 3.0);
        }
        if let (Some(ours), Some(theirs)) = (of(Name::Orderql), of(Name::AsyncGraphql)) {
            let what = format!("{workload}: p99 at half of the rate, orderql / {}", Name::AsyncGraphql);
            report.at_most(&what, ours.p99_ms / theirs.p99_ms, 1.0);
        }
    }
    Ok(())
}

/// The figures of orderql as multiples of those of the other build: of each round, and of these the median.
fn multiples(turns: &[(usize, Workload, Vec<Figures>)], targets: &[Box<dyn Target + '_>]) -> Vec<Row> {
    let of = |workload, name| {
        let mut turns = turns.iter();
        turns.find(|turn| turn.1 == workload && targets[turn.0].name() == name).map(|turn| &turn.2)
    };
    let row = |workload: Workload| {
        let (ours, theirs) = (of(workload, Name::Orderql)?, of(workload, Name::Other)?);
        let multiple = |figure: fn(&Figures) -> Option<f64>| {
            let rounds = ours.iter().zip(theirs).filter_map(|(ours, theirs)| Some(figure(ours)? / figure(theirs)?));
            json!((median(rounds) * 100.0).round() / 100.0)
        };
        let total = |figures: &Figures| Some(figures.server_cpu_ms? + figures.postgresql_cpu_ms?);
        Some(vec![
            ("workload", json!(workload.name())),
            ("responses a second", multiple(|figures| Some(figures.per_second))),
            ("server CPU", multiple(|figures| figures.server_cpu_ms)),
            ("PostgreSQL CPU", multiple(|figures| figures.postgresql_cpu_ms)),
            ("CPU of both", multiple(total)),
        ])
    };
    Workload::value_variants().iter().filter_map(|workload| row(*workload)).collect()
}

/// The targets beside orderql, and rows about those that are not installed or do not start.
fn start<'a>(
    context: &'a Context<'a>,
    orderql: &mut HttpTarget<'a>,
    workloads: &[Workload],
    against: &[Name],
) -> (Vec<Box<dyn Target + 'a>>, Vec<Row>) {
    let (mut targets, mut skipped): (_, Vec<Row>) = (Vec::new(), Vec::new());
    let programs = || context.peers.clone().map_err(BenchError::Data);
    for name in [Name::Other, Name::A1, Name::A2, Name::AsyncGraphql, Name::Postgraphile, Name::Floor] {
        let is_default = if name == Name::Other { context.other.is_some() } else { against.is_empty() };
        if !is_default && !against.contains(&name) {
            continue;
        }
        let target = match name {
            Name::Orderql => continue,
            Name::Other => HttpTarget::other(context).map(boxed),
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
                skipped.push(vec![("target", json!(name.legend())), ("reason", Value::String(error.to_string()))]);
            }
        }
    }
    (targets, skipped)
}

fn boxed<'a>(target: impl Target + 'a) -> Box<dyn Target + 'a> {
    Box::new(target)
}
