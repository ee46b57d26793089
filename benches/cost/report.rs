//! The results as tables, and as they are stored.

use serde::Serialize;

use crate::cpu::{Cpu, Measured};
use crate::measure::machine::Machine;
use crate::measure::statistics::{rank_correlation, ranks};
use crate::plans::Ran;
use crate::queries::Query;

/// What is wanted of the rank correlation of the estimated cost with all CPU time.
pub const WANTED: f64 = 0.85;

/// Outliers that are shown.
const OUTLIERS: usize = 10;

/// Queries that are shown because they take many times what their cost promises.
const UNDERPRICED: usize = 5;

/// Everything that is stored.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What it was measured on.
    pub machine: Machine,
    /// What it was measured with.
    pub settings: Settings,
    /// How costs and CPU times go together.
    pub correlations: Vec<Correlation>,
    /// What is wanted of the first of them.
    pub wanted: f64,
    /// Whether it is so.
    pub is_met: bool,
    /// The queries.
    pub queries: Vec<Point>,
    /// Those whose cost says least of their CPU time, the worst first.
    pub outliers: Vec<Outlier>,
    /// Those that take most for what their cost promises, the worst first. Ranks say nothing of how much more that is.
    pub underpriced: Vec<Outlier>,
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
    /// What orders and queries were made from.
    pub seed: u64,
    /// Rounds.
    pub rounds: usize,
}

/// How a cost and a CPU time go together. The number of statements is held against the time as well, for comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Correlation {
    /// Which cost, or what else.
    pub cost: &'static str,
    /// Whose CPU time.
    pub cpu: &'static str,
    /// Spearman's rank correlation.
    pub spearman: f64,
}

/// A query as it came out.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// Its text.
    pub query: String,
    /// Its first root.
    pub root: String,
    /// Whether a term of its costs a penalty.
    pub is_unindexed: bool,
    /// The estimated cost.
    pub estimated: u64,
    /// The actual cost.
    pub actual: u64,
    /// Statements, which the cost does not count.
    pub statements: usize,
    /// What it takes.
    pub cpu: Cpu,
    /// How many queries' CPU times lie between its own and that which its estimated cost promises; above zero, it takes more.
    pub rank_difference: f64,
    /// How many times the CPU time it takes that the query takes whose rank is that of its estimated cost.
    pub times_promised: f64,
}

/// A query whose cost says little of its CPU time.
#[derive(Debug, Serialize)]
pub struct Outlier {
    /// Its place among the queries.
    pub place: usize,
    /// Its statements.
    pub statements: Vec<Ran>,
}

/// The queries with what was measured of them.
pub fn points(queries: &[Query], measured: &[Measured]) -> Vec<Point> {
    let of = |figure: fn(&Measured) -> f64| ranks(&measured.iter().map(figure).collect::<Vec<_>>());
    let (costs, times) = (of(|measured| measured.estimated as f64), of(|measured| measured.cpu.total()));
    let mut promised: Vec<_> = measured.iter().map(|measured| measured.cpu.total()).collect();
    promised.sort_by(f64::total_cmp);
    let point = |(place, (query, measured)): (usize, (&Query, &Measured))| Point {
        query: query.text.clone(),
        root: query.root.clone(),
        is_unindexed: query.explained.cost.iter().any(|line| line.penalty > 0),
        estimated: measured.estimated,
        actual: measured.actual,
        statements: query.explained.plan.steps().len(),
        cpu: measured.cpu,
        rank_difference: times[place] - costs[place],
        times_promised: measured.cpu.total() / promised[costs[place] as usize - 1],
    };
    queries.iter().zip(measured).enumerate().map(point).collect()
}

/// All correlations; the one of which something is wanted comes first.
pub fn correlations(points: &[Point]) -> Vec<Correlation> {
    let of = |figure: fn(&Point) -> f64| points.iter().map(figure).collect::<Vec<_>>();
    let costs = [
        ("estimated cost", of(|point| point.estimated as f64)),
        ("actual cost", of(|point| point.actual as f64)),
        ("statements", of(|point| point.statements as f64)),
    ];
    let times = [
        ("both", of(|point| point.cpu.total())),
        ("PostgreSQL", of(|point| point.cpu.postgresql_ms)),
        ("server", of(|point| point.cpu.server_ms)),
    ];
    let mut correlations = Vec::new();
    for (cost, costs) in &costs {
        for (cpu, times) in &times {
            correlations.push(Correlation { cost, cpu, spearman: rank_correlation(costs, times) });
        }
    }
    correlations
}

/// The places of the queries whose ranks differ most, the worst first.
pub fn outliers(points: &[Point]) -> Vec<usize> {
    most(points, OUTLIERS, |point| point.rank_difference.abs())
}

/// The places of the queries that take most for what their cost promises, the worst first.
pub fn underpriced(points: &[Point]) -> Vec<usize> {
    most(points, UNDERPRICED, |point| point.times_promised)
}

fn most(points: &[Point], count: usize, figure: fn(&Point) -> f64) -> Vec<usize> {
    let mut places: Vec<_> = (0..points.len()).collect();
    places.sort_by(|one, other| figure(&points[*other]).total_cmp(&figure(&points[*one])).then(one.cmp(other)));
    places.truncate(count);
    places
}

/// Prints the figures.
pub fn print(report: &Report) {
    let Machine { cores, cpu, kernel, postgresql, .. } = &report.machine;
    println!("{cores} cores of {cpu}, Linux {kernel}, PostgreSQL {postgresql}");
    let Settings { orders, rounds, seed, .. } = &report.settings;
    println!("{orders} orders; {} queries of seed {seed}; middle of {rounds} rounds", report.queries.len());
    spread(&report.queries);
    println!("\n{:<20}{:>9}{:>14}{:>9}", "rank correlation", "both", "PostgreSQL", "server");
    for correlations in report.correlations.chunk_by(|one, other| one.cost == other.cost) {
        if let [both, postgresql, server] = correlations.iter().map(|one| one.spearman).collect::<Vec<_>>()[..] {
            println!("{:<20}{both:>9.3}{postgresql:>14.3}{server:>9.3}", correlations[0].cost);
        }
    }
    let met = if report.is_met { "met" } else { "NOT MET" };
    println!("estimated cost with both: wanted ≥ {}: {met}", report.wanted);
    for (number, outlier) in report.outliers.iter().enumerate() {
        let difference = report.queries[outlier.place].rank_difference;
        let side = if difference > 0.0 { "dearer" } else { "cheaper" };
        println!("\n{}. {side} than its cost, by {:.0} places", number + 1, difference.abs());
        describe(outlier, &report.queries);
    }
    for outlier in &report.underpriced {
        println!("\ntakes {:.1} times what its cost promises", report.queries[outlier.place].times_promised);
        describe(outlier, &report.queries);
    }
}

/// A query, its figures, its statements, and how the dearest of them is run.
fn describe(outlier: &Outlier, points: &[Point]) {
    let Point { query, estimated, actual, cpu, .. } = &points[outlier.place];
    let Cpu { server_ms, postgresql_ms } = cpu;
    println!("   estimated {estimated}, actual {actual}; PostgreSQL {postgresql_ms:.3} ms, server {server_ms:.3} ms");
    println!("   {query}");
    for Ran { sql, ms, .. } in &outlier.statements {
        println!("   {ms:.3} ms: {}", sql.replace('\n', " "));
    }
    let dearest = outlier.statements.iter().max_by(|one, other| one.ms.total_cmp(&other.ms));
    for line in dearest.map(|dearest| &dearest.explained).into_iter().flatten() {
        println!("      {line}");
    }
}

/// What a credit buys: CPU time for each, from the cheapest query to the dearest.
fn spread(points: &[Point]) {
    let mut each: Vec<_> = points.iter().map(|point| point.cpu.total() * 1000.0 / point.estimated as f64).collect();
    each.sort_by(f64::total_cmp);
    let at = |percent: usize| each.get((each.len().max(1) - 1) * percent / 100).copied().unwrap_or_default();
    println!(
        "a credit is {:.1} µs of CPU in the middle, {:.1} to {:.1} for eight of ten queries, {:.1} at most",
        at(50),
        at(10),
        at(90),
        at(100)
    );
}
