//! The figures that are aimed at: ratios within one run, which mean something on any machine, and amounts of memory.

use clap::ValueEnum;
use serde::Serialize;

use crate::comparison::Comparison;
use crate::targets::{Figures, Name};
use crate::workload::Workload;

/// A figure, and what it should be.
#[derive(Debug, Clone, Serialize)]
pub struct Goal {
    what: String,
    value: f64,
    at_least: Option<f64>,
    at_most: Option<f64>,
    is_met: bool,
}

impl Goal {
    /// A figure that should not be higher.
    pub fn at_most(what: impl Into<String>, value: f64, bound: f64) -> Self {
        Self { what: what.into(), value, at_least: None, at_most: Some(bound), is_met: value <= bound }
    }

    /// A figure that should not be lower.
    pub fn at_least(what: impl Into<String>, value: f64, bound: f64) -> Self {
        Self { what: what.into(), value, at_least: Some(bound), at_most: None, is_met: value >= bound }
    }
}

/// Prints a table of goals.
pub fn print(title: &str, goals: &[Goal]) {
    if !goals.is_empty() {
        println!("\n{title:<66}{:>9}{:>9}", "value", "goal");
    }
    for Goal { what, value, at_least, at_most, is_met } in goals {
        let bound = at_least.map(|bound| format!("≥ {bound}")).or(at_most.map(|bound| format!("≤ {bound}")));
        let met = if *is_met { "met" } else { "NOT MET" };
        println!("{what:<66}{value:>9.2}{:>9} {met}", bound.unwrap_or_default());
    }
}

/// A ratio of orderql's figure to a target's.
struct Ratio {
    what: &'static str,
    to: Name,
    figure: fn(&Figures) -> Option<f64>,
    goal: fn(String, f64, f64) -> Goal,
    /// In the order of the workloads.
    bounds: [f64; 4],
}

const RATIOS: [Ratio; 5] = [
    Ratio {
        what: "throughput",
        to: Name::A1,
        figure: |figures| Some(figures.per_second),
        goal: Goal::at_least,
        bounds: [0.7, 1.7, 1.6, 0.5],
    },
    Ratio {
        what: "PostgreSQL CPU a request",
        to: Name::A2,
        figure: |figures| figures.postgresql_cpu_ms,
        goal: Goal::at_most,
        bounds: [1.2, 1.1, 1.2, 1.5],
    },
    Ratio {
        what: "server CPU a request",
        to: Name::Floor,
        figure: |figures| figures.server_cpu_ms,
        goal: Goal::at_most,
        bounds: [4.0, 3.5, 4.5, 2.5],
    },
    Ratio {
        what: "throughput",
        to: Name::AsyncGraphql,
        figure: |figures| Some(figures.per_second),
        goal: Goal::at_least,
        bounds: [2.0, 2.6, 2.6, 1.8],
    },
    Ratio {
        what: "throughput",
        to: Name::Postgraphile,
        figure: |figures| Some(figures.per_second),
        goal: Goal::at_least,
        bounds: [8.0, 6.0, 6.0, 6.5],
    },
];

/// The ratios of all targets that were measured.
pub fn ratios(comparison: &Comparison) -> Vec<Goal> {
    let mut goals = Vec::new();
    for Ratio { what, to, figure, goal, bounds } in RATIOS {
        for (workload, bound) in Workload::value_variants().iter().zip(bounds) {
            let of =
                |name| comparison.workloads.get(workload)?.get(&name).and_then(|measured| figure(&measured.median));
            if let (Some(ours), Some(theirs)) = (of(Name::Orderql), of(to)) {
                goals.push(goal(format!("{what}, orderql / {to}, {workload}"), ours / theirs, bound));
            }
        }
    }
    goals
}
