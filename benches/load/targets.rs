//! What is wanted: ratios within one run, which mean something on any machine.

use serde::Serialize;

use crate::contestant::{Figures, Name};
use crate::rounds::{Results, median};
use crate::workload::Workload;

/// A ratio that is wanted of every workload.
struct Target {
    what: &'static str,
    against: Name,
    figure: fn(&Figures) -> Option<f64>,
    wanted: Wanted,
    /// In the order of [`Workload::ALL`].
    bounds: [f64; 4],
}

/// On which side of its bound a ratio is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// More is better.
    AtLeast,
    /// Less is better.
    AtMost,
}

const TARGETS: [Target; 5] = [
    Target {
        what: "throughput",
        against: Name::A1,
        figure: |figures| Some(figures.per_second),
        wanted: Wanted::AtLeast,
        bounds: [0.7, 1.7, 1.6, 0.5],
    },
    Target {
        what: "PostgreSQL CPU a request",
        against: Name::A2,
        figure: |figures| figures.postgresql_cpu_ms,
        wanted: Wanted::AtMost,
        bounds: [1.2, 1.1, 1.2, 1.5],
    },
    Target {
        what: "server CPU a request",
        against: Name::Floor,
        figure: |figures| figures.server_cpu_ms,
        wanted: Wanted::AtMost,
        bounds: [4.0, 3.5, 4.5, 2.5],
    },
    Target {
        what: "throughput",
        against: Name::AsyncGraphql,
        figure: |figures| Some(figures.per_second),
        wanted: Wanted::AtLeast,
        bounds: [2.0, 2.6, 2.6, 1.8],
    },
    Target {
        what: "throughput",
        against: Name::Postgraphile,
        figure: |figures| Some(figures.per_second),
        wanted: Wanted::AtLeast,
        bounds: [8.0, 6.0, 6.0, 6.5],
    },
];

/// A ratio as it came out, beside what was wanted.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    /// Of which figure.
    pub what: &'static str,
    /// Ours divided by whose.
    pub against: Name,
    /// With which workload.
    pub workload: Workload,
    /// What came out.
    pub value: f64,
    /// The side of the bound that is wanted.
    pub wanted: Wanted,
    /// The bound.
    pub bound: f64,
    /// Whether it is met.
    pub is_met: bool,
}

/// Every ratio that the results tell.
pub fn ratios(results: &Results) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for target in &TARGETS {
        for (workload, bound) in Workload::ALL.into_iter().zip(target.bounds) {
            let figure = |name| {
                results.get(&(workload, name)).and_then(|rounds| median(rounds)).as_ref().and_then(target.figure)
            };
            let (Some(ours), Some(theirs)) = (figure(Name::Orderql), figure(target.against)) else { continue };
            let value = ours / theirs;
            let is_met = if target.wanted == Wanted::AtLeast { value >= bound } else { value <= bound };
            let Target { what, against, wanted, .. } = *target;
            ratios.push(Ratio { what, against, workload, value, wanted, bound, is_met });
        }
    }
    ratios
}
