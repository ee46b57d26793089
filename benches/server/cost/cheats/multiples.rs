//! The times of queries that try to cheat as multiples of plain pages: tables and JSON.

use serde::Serialize;
use serde_json::json;

use super::probe::{DEADLINE, Outcome};
use crate::report;

/// The goal for the worst query, as a multiple of a plain page of its root.
pub const GOAL: f64 = 10.0;

/// The root whose plain page everything is compared with as well.
const REFERENCE: &str = "orders";

/// How many of the worst queries are printed, and how much of their search strings.
const WORST: usize = 10;
const SEARCH: usize = 60;

/// The times of a plain page in milliseconds: 50 rows without a search, by the default sort key.
#[derive(Debug, Serialize)]
pub struct Plain {
    pub root: String,
    #[serde(rename = "ms")]
    pub latency: f64,
    #[serde(rename = "postgresql_ms")]
    pub postgresql: f64,
}

/// A query and its outcome.
#[derive(Debug)]
pub struct Attempt {
    /// The index of its root.
    pub root: usize,
    pub keys: String,
    pub kind: String,
    pub search: String,
    pub sort_key: String,
    pub page: String,
    pub query: String,
    /// Its price; `None` if it is not valid.
    pub credits: Option<u64>,
    pub outcome: Outcome,
}

/// Everything that is written as JSON.
#[derive(Debug, Serialize)]
pub struct CheatReport {
    /// The highest multiple.
    pub worst: f64,
    /// The highest multiple of the CPU time of PostgreSQL, of queries that did not run into the deadline.
    pub worst_postgresql: f64,
    /// The highest latency of a plain page, compared with one of orders.
    pub worst_plain: f64,
    pub goal: f64,
    pub is_met: bool,
    pub deadline_ms: f64,
    /// The queries of which those that were measured are a sample.
    pub candidates: usize,
    /// Queries that ran into the deadline. They count as long as it is.
    pub deadlines: usize,
    pub rejected: usize,
    pub plain: Vec<PlainRow>,
    /// The multiples below which these percentages of the queries are.
    pub percentiles: Vec<(f64, f64)>,
    /// All queries, the worst first; rejected ones last.
    pub queries: Vec<Row>,
}

/// The plain page of a root, and what the queries of the root take compared with it.
#[derive(Debug, Clone, Serialize)]
pub struct PlainRow {
    pub root: String,
    pub ms: f64,
    pub postgresql_ms: f64,
    /// Its latency compared with a plain page of orders.
    pub multiple_of_orders: f64,
    pub queries: usize,
    pub deadlines: usize,
    pub worst: f64,
    pub worst_postgresql: f64,
    pub above_goal: usize,
}

/// A query and its figures.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub root: String,
    pub keys: String,
    pub kind: String,
    pub search: String,
    pub sort_key: String,
    pub page: String,
    pub query: String,
    pub credits: Option<u64>,
    /// Its latency compared with a plain page of its root, and with one of orders; `None` if it was rejected.
    pub multiple: Option<f64>,
    pub multiple_of_orders: Option<f64>,
    /// The CPU time of PostgreSQL compared with a plain page of its root.
    pub multiple_postgresql: Option<f64>,
    pub ms: Option<f64>,
    pub postgresql_ms: Option<f64>,
    pub rows: Option<usize>,
    pub is_deadline: bool,
    pub rejected: Option<String>,
}

impl CheatReport {
    /// Compares queries, chosen from so many, with the plain pages of their roots.
    pub fn new(candidates: usize, attempts: &[Attempt], plain: &[Plain]) -> Self {
        let reference = plain.iter().find(|plain| plain.root == REFERENCE).map_or(f64::NAN, |plain| plain.latency);
        let mut queries: Vec<_> =
            attempts.iter().map(|attempt| Row::new(attempt, &plain[attempt.root], reference)).collect();
        queries.sort_by(|one, other| other.order().total_cmp(&one.order()));
        let multiples: Vec<_> = queries.iter().filter_map(|query| query.multiple).rev().collect();
        let at = |percent: f64| {
            let index = (multiples.len().max(1) - 1) as f64 * percent / 100.0;
            multiples.get(index.round() as usize).copied().unwrap_or_default()
        };
        let worst = at(100.0);
        let plain: Vec<_> = plain.iter().map(|plain| PlainRow::new(plain, reference, &queries)).collect();
        // A plain page that takes longer in a larger table hides what its root's queries take.
        let worst_plain = plain.iter().map(|plain| plain.multiple_of_orders).fold(0.0, f64::max);
        Self {
            worst,
            worst_postgresql: plain.iter().map(|plain| plain.worst_postgresql).fold(0.0, f64::max),
            candidates,
            goal: GOAL,
            is_met: !multiples.is_empty() && worst <= GOAL && worst_plain <= GOAL,
            worst_plain,
            deadline_ms: deadline(),
            deadlines: queries.iter().filter(|query| query.is_deadline).count(),
            rejected: queries.iter().filter(|query| query.rejected.is_some()).count(),
            plain,
            percentiles: [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0].map(|percent| (percent, at(percent))).into(),
            queries,
        }
    }

    /// Prints the tables.
    pub fn print(&self) {
        let Self { queries, plain, .. } = self;
        report::print("queries that try to cheat: the worst", &worst(queries.iter().take(WORST)));
        let of_root = |plain: &PlainRow| queries.iter().find(|query| query.root == plain.root);
        report::print("the worst of each root", &worst(plain.iter().filter_map(of_root)));
        let rows = plain.iter().map(|plain| {
            vec![
                ("root", json!(plain.root)),
                ("plain page ms", json!(plain.ms)),
                ("PostgreSQL ms", json!(plain.postgresql_ms)),
                ("× orders", json!(plain.multiple_of_orders)),
                ("queries", json!(plain.queries)),
                ("above the goal", json!(plain.above_goal)),
                ("deadlines", json!(plain.deadlines)),
                ("worst ×", json!(plain.worst)),
                ("worst × of PostgreSQL", json!(plain.worst_postgresql)),
            ]
        });
        report::print("roots", &rows.collect::<Vec<_>>());
        let percentiles: Vec<_> = self
            .percentiles
            .iter()
            .map(|(percent, multiple)| vec![("%", json!(percent)), ("×", json!(multiple))])
            .collect();
        report::print("percentiles of the multiples", &percentiles);
        if let Some(row) = queries.iter().find(|query| query.rejected.is_some()) {
            println!("\n{} queries were rejected, such as {}: {:?}", self.rejected, row.query, row.rejected);
        }
        let met = if self.is_met { "met" } else { "NOT MET" };
        println!(
            "\n{} of {} queries; {} took longer than {} ms; the worst takes {:.1} × a plain page, {:.1} × its CPU time of \
             PostgreSQL; the worst plain page takes {:.1} × one of orders: goal ≤ {}: {met}",
            queries.len() - self.rejected,
            self.candidates,
            self.deadlines,
            self.deadline_ms,
            self.worst,
            self.worst_postgresql,
            self.worst_plain,
            self.goal
        );
    }
}

impl Row {
    fn new(attempt: &Attempt, plain: &Plain, reference: f64) -> Self {
        let Attempt { keys, kind, search, sort_key, page, query, credits, outcome, .. } = attempt;
        let (ms, postgresql_ms, rows, rejected) = match outcome {
            Outcome::Measured(timing) => (Some(timing.latency), Some(timing.postgresql), Some(timing.rows), None),
            Outcome::Deadline => (Some(deadline()), None, None, None),
            Outcome::Rejected(status) => (None, None, None, Some(status.clone())),
        };
        Self {
            root: plain.root.clone(),
            keys: keys.clone(),
            kind: kind.clone(),
            search: search.clone(),
            sort_key: sort_key.clone(),
            page: page.clone(),
            query: query.clone(),
            credits: *credits,
            multiple: ms.map(|ms| ms / plain.latency),
            multiple_of_orders: ms.map(|ms| ms / reference),
            multiple_postgresql: postgresql_ms.map(|ms| ms / plain.postgresql),
            ms,
            postgresql_ms,
            rows,
            is_deadline: matches!(outcome, Outcome::Deadline),
            rejected,
        }
    }

    fn order(&self) -> f64 {
        self.multiple.unwrap_or(-1.0)
    }
}

impl PlainRow {
    fn new(plain: &Plain, reference: f64, queries: &[Row]) -> Self {
        let of_root: Vec<_> = queries.iter().filter(|query| query.root == plain.root).collect();
        let highest = |figure: fn(&Row) -> Option<f64>| {
            of_root.iter().filter_map(|query| figure(query)).max_by(f64::total_cmp).unwrap_or_default()
        };
        Self {
            root: plain.root.clone(),
            ms: plain.latency,
            postgresql_ms: plain.postgresql,
            multiple_of_orders: plain.latency / reference,
            queries: of_root.len(),
            deadlines: of_root.iter().filter(|query| query.is_deadline).count(),
            worst: highest(|query| query.multiple),
            worst_postgresql: highest(|query| query.multiple_postgresql),
            above_goal: of_root.iter().filter(|query| query.multiple.is_some_and(|multiple| multiple > GOAL)).count(),
        }
    }
}

fn worst<'a>(queries: impl Iterator<Item = &'a Row>) -> Vec<report::Row> {
    let row = |query: &Row| {
        vec![
            ("root", json!(query.root)),
            ("×", json!(query.multiple)),
            ("× orders", json!(query.multiple_of_orders)),
            ("ms", json!(query.ms)),
            ("PostgreSQL ms", json!(query.postgresql_ms)),
            ("credits", json!(query.credits)),
            ("rows", json!(query.rows)),
            ("sort key", json!(query.sort_key)),
            ("page", json!(query.page)),
            ("kind", json!(query.kind)),
            ("search", json!(shortened(&query.search))),
        ]
    };
    queries.map(row).collect()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SEARCH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn deadline() -> f64 {
    DEADLINE.as_secs_f64() * 1000.0
}
