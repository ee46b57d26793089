//! The results as tables and as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use super::cheats::multiples::CheatReport;
use super::cpu::{Cpu, Measured};
use super::daily::DailyReport;
use super::explain::Explained;
use super::queries::Query;
use super::scopes::ScopesReport;
use super::writers::WritersReport;
use crate::report;
use crate::statistics::{rank_correlation, ranks};

/// The goal for the rank correlation of the estimated cost with the sum of both CPU times.
pub const GOAL: f64 = 0.85;

/// How many queries are shown whose rank by cost differs most from that by CPU time.
const OUTLIERS: usize = 10;

/// How many queries are shown that take the most CPU time for their cost.
const UNDERPRICED: usize = 5;

/// Everything that is written as JSON.
#[derive(Debug, Serialize)]
pub struct Report {
    pub machine: Value,
    pub settings: Value,
    #[serde(flatten)]
    pub prediction: Option<Prediction>,
    pub cheats: Option<CheatReport>,
    pub daily: Option<DailyReport>,
    pub writers: Option<WritersReport>,
    pub scopes: Option<ScopesReport>,
}

/// How well cost predicts CPU time.
#[derive(Debug, Serialize)]
pub struct Prediction {
    pub correlations: Vec<Correlation>,
    /// The goal for the first correlation.
    pub goal: f64,
    pub is_met: bool,
    pub queries: Vec<Point>,
    /// The queries whose ranks differ most, the worst first.
    pub outliers: Vec<Outlier>,
    /// The queries that take the most CPU time for their cost, the worst first. Ranks do not show how much more it is.
    pub underpriced: Vec<Outlier>,
}

/// The rank correlation of a cost, or for comparison of the number of connections and lookups, with a CPU time.
#[derive(Debug, Clone, Serialize)]
pub struct Correlation {
    pub cost: &'static str,
    pub cpu: &'static str,
    pub spearman: f64,
}

/// A query and its figures.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub query: String,
    /// Its first root field.
    pub root: String,
    /// Whether a search term costs a penalty.
    pub is_unindexed: bool,
    pub estimated: u64,
    pub actual: u64,
    /// The number of its connections and lookups.
    pub steps: usize,
    pub cpu: Cpu,
    /// Its rank by CPU time less its rank by estimated cost.
    pub rank_difference: f64,
    /// Its CPU time, divided by that of the query whose rank by CPU time is its own by estimated cost.
    pub times_expected: f64,
}

/// A query whose cost does not predict its CPU time.
#[derive(Debug, Serialize)]
pub struct Outlier {
    /// Its index among the queries.
    pub query: usize,
    pub statement: Explained,
}

/// The queries and their figures.
pub fn points(queries: &[Query], measured: &[Measured]) -> Vec<Point> {
    let mut cpu: Vec<_> = measured.iter().map(|measured| measured.cpu.total_ms()).collect();
    let cpu_ranks = ranks(&cpu);
    let cost_ranks = ranks(&measured.iter().map(|measured| measured.estimated as f64).collect::<Vec<_>>());
    cpu.sort_by(f64::total_cmp);
    let point = |(index, (query, measured)): (usize, (&Query, &Measured))| Point {
        query: query.text.clone(),
        root: query.root.clone(),
        is_unindexed: query.explained.cost.iter().any(|node| node.penalty > 0),
        estimated: measured.estimated,
        actual: measured.actual,
        steps: query.explained.plan.steps().len(),
        cpu: measured.cpu,
        rank_difference: cpu_ranks[index] - cost_ranks[index],
        times_expected: measured.cpu.total_ms() / cpu[cost_ranks[index] as usize - 1],
    };
    queries.iter().zip(measured).enumerate().map(point).collect()
}

/// All correlations; the one with a goal comes first.
pub fn correlations(points: &[Point]) -> Vec<Correlation> {
    let of = |figure: fn(&Point) -> f64| points.iter().map(figure).collect::<Vec<_>>();
    let costs = [
        ("estimated cost", of(|point| point.estimated as f64)),
        ("actual cost", of(|point| point.actual as f64)),
        ("connections and lookups", of(|point| point.steps as f64)),
    ];
    let times = [
        ("both", of(|point| point.cpu.total_ms())),
        ("PostgreSQL", of(|point| point.cpu.postgresql_ms)),
        ("server", of(|point| point.cpu.server_ms)),
    ];
    let pairs = costs.iter().flat_map(|cost| times.iter().map(move |time| (cost, time)));
    pairs
        .map(|((cost, costs), (cpu, times))| Correlation { cost, cpu, spearman: rank_correlation(costs, times) })
        .collect()
}

/// The indexes of the queries whose ranks differ most, the worst first.
pub fn outliers(points: &[Point]) -> Vec<usize> {
    highest(points, OUTLIERS, |point| point.rank_difference.abs())
}

/// The indexes of the queries that take the most CPU time for their cost, the worst first.
pub fn underpriced(points: &[Point]) -> Vec<usize> {
    highest(points, UNDERPRICED, |point| point.times_expected)
}

fn highest(points: &[Point], count: usize, figure: fn(&Point) -> f64) -> Vec<usize> {
    let mut indexes: Vec<_> = (0..points.len()).collect();
    indexes.sort_by(|one, other| figure(&points[*other]).total_cmp(&figure(&points[*one])));
    indexes.truncate(count);
    indexes
}

impl Report {
    /// Prints the tables.
    pub fn print(&self) {
        println!("{}\n{}", report::line(&self.machine), report::line(&self.settings));
        self.prediction.iter().for_each(Prediction::print);
        self.cheats.iter().for_each(CheatReport::print);
        self.daily.iter().for_each(DailyReport::print);
        self.writers.iter().for_each(WritersReport::print);
        self.scopes.iter().for_each(ScopesReport::print);
    }
}

impl Prediction {
    fn print(&self) {
        self.print_credit();
        let row = |row: &[Correlation]| {
            let mut cells = vec![("cost", json!(row[0].cost))];
            cells.extend(row.iter().map(|correlation| (correlation.cpu, json!(correlation.spearman))));
            cells
        };
        let rows = self.correlations.chunk_by(|one, other| one.cost == other.cost).map(row);
        report::print("rank correlations", &rows.collect::<Vec<_>>());
        let met = if self.is_met { "met" } else { "NOT MET" };
        println!("estimated cost with both: goal ≥ {}: {met}", self.goal);
        for (index, outlier) in self.outliers.iter().enumerate() {
            let difference = self.queries[outlier.query].rank_difference;
            let (side, ranks) = (if difference > 0.0 { "more" } else { "less" }, difference.abs());
            println!("\n{}. takes {side} CPU time than its cost predicts, by {ranks:.0} ranks", index + 1);
            self.print_query(outlier);
        }
        for outlier in &self.underpriced {
            println!("\ntakes {:.1} times what its cost predicts", self.queries[outlier.query].times_expected);
            self.print_query(outlier);
        }
    }

    /// A query, its figures, its statement, and PostgreSQL's plan for it.
    fn print_query(&self, outlier: &Outlier) {
        let Point { query, estimated, actual, cpu, .. } = &self.queries[outlier.query];
        let Cpu { server_ms, postgresql_ms } = cpu;
        println!(
            "   estimated {estimated}, actual {actual}; PostgreSQL {postgresql_ms:.3} ms, server {server_ms:.3} ms"
        );
        println!("   {query}");
        let Explained { sql, ms, plan } = &outlier.statement;
        println!("   {ms:.3} ms: {}", sql.replace('\n', " "));
        for line in plan {
            println!("      {line}");
        }
    }

    /// The CPU time of a credit.
    fn print_credit(&self) {
        let credit = |point: &Point| point.cpu.total_ms() * 1000.0 / point.estimated as f64;
        let mut credits: Vec<_> = self.queries.iter().map(credit).collect();
        credits.sort_by(f64::total_cmp);
        let at = |percent: usize| credits.get((credits.len().max(1) - 1) * percent / 100).copied().unwrap_or_default();
        println!(
            "a credit is {:.1} µs of CPU (median), {:.1} to {:.1} for eight of ten queries, {:.1} at most",
            at(50),
            at(10),
            at(90),
            at(100)
        );
    }
}
