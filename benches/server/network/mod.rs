//! What the network between the server and PostgreSQL costs: queries of one, two and three levels behind a proxy that delays
//! every byte.
//!
//! - `delay`: the proxy

mod delay;

use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use crate::driver::Requests;
use crate::error::Result;
use crate::report::Report;
use crate::rounds;
use crate::targets::Context;
use crate::targets::figures::{Figures, Window};
use crate::targets::http::HttpTarget;
use crate::workload::{Key, Workload};

/// How much later bytes arrive, in each direction.
const DELAYS: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_micros(200),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(2),
];

/// The query that others are compared with.
const ONE_LEVEL: &str = "one level";

/// Queries by their levels of rows.
const QUERIES: [(&str, &str); 3] = [
    (ONE_LEVEL, include_str!("../../queries/levels_1.graphql")),
    ("two levels", include_str!("../../queries/levels_2.graphql")),
    ("three levels", include_str!("../../queries/levels_3.graphql")),
];

const WARM_UP: Duration = Duration::from_millis(500);

/// One query on one server.
struct Measured<'a> {
    delay: Duration,
    query: &'static str,
    server: Rc<HttpTarget<'a>>,
    requests: Requests,
    rounds: Vec<Figures>,
}

/// Measures servers of its own, over one connection each.
pub fn run(context: &Context<'_>, report: &mut Report) -> Result<()> {
    let mut measured = Vec::new();
    for delay in DELAYS {
        let address = delay::start(&context.database.socket(), delay)?;
        measured.extend(on_server(context, delay, &context.database.url_at(address))?);
    }
    let window = Window::closed(WARM_UP, context.time);
    rounds::run(context.rounds, context.seed, &mut measured, |round, measured| {
        let Measured { delay, query, server, requests, rounds } = measured;
        eprintln!("round {round} of {}: {query}, {delay:?} each way", context.rounds);
        rounds.push(server.load(requests, 1, window)?);
        Ok(())
    })?;
    let medians: Vec<_> = measured.iter().map(|measured| (measured, Figures::median(&measured.rounds))).collect();
    let p50 = |delay: Duration, query: &str| {
        let is = |(measured, _): &&(&Measured<'_>, Figures)| (measured.delay, measured.query) == (delay, query);
        medians.iter().find(is).map(|(_, figures)| figures.p50_ms)
    };
    let half = Duration::from_micros(500);
    if let (Some(one), Some(three)) = (p50(half, ONE_LEVEL), p50(half, "three levels")) {
        report.at_most("latency of three levels / one level, 0.5 ms each way", three / one, 1.3);
    }
    let row = |(measured, figures): &(&Measured<'_>, Figures)| {
        let ratio = p50(measured.delay, ONE_LEVEL).map(|one| figures.p50_ms / one);
        figures.row(vec![
            ("delay_ms", json!(measured.delay.as_secs_f64() * 1e3)),
            ("query", json!(measured.query)),
            ("p50_of_one_level", json!(ratio)),
        ])
    };
    report.table("network", medians.iter().map(row).collect());
    Ok(())
}

/// A server, and the queries on it.
fn on_server<'a>(context: &'a Context<'a>, delay: Duration, url: &str) -> Result<Vec<Measured<'a>>> {
    let server = Rc::new(HttpTarget::orderql_at(context, url, context.server_flags)?);
    let mut queries = vec![("detail", Workload::Detail.query(), keyed(context, Workload::Detail))];
    queries.extend(QUERIES.map(|(name, query)| (name, query, vec![json!({})])));
    let measured = queries.into_iter().map(|(query, text, variables)| {
        let requests = variables.iter().map(|variables| server.request(text, variables));
        let requests = Rc::new(requests.collect());
        Measured { delay, query, server: Rc::clone(&server), requests, rounds: Vec::new() }
    });
    Ok(measured.collect())
}

fn keyed(context: &Context<'_>, workload: Workload) -> Vec<serde_json::Value> {
    let variables = |key: &Key| workload.variables(key, "");
    context.keys.of(workload).iter().map(variables).collect()
}
