//! Ten callers; one sends a hundred times as much as each of the others. Measures how much slower the others' responses become.
//! Once with more than the server can take, once with half of it.

use std::time::Duration;

use serde_json::json;

use crate::client::Endpoint;
use crate::database::CALLERS;
use crate::driver::{Arrivals, Load, Recorded, p99_ms, run_together};
use crate::error::Result;
use crate::orderql::order_requests;
use crate::report::Report;
use crate::statistics::median;
use crate::targets::figures::Window;
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context};
use crate::workload::Workload;

const WORKLOAD: Workload = Workload::Detail;

/// How many times as much the first caller sends.
const MULTIPLE: f64 = 100.0;

/// What the first caller sends, as a part of the peak load.
const SHARES: [f64; 2] = [0.5, 2.0];

/// The highest number of connections of the first caller, and of each other.
const BUSY_CONNECTIONS: usize = 500;
const CALM_CONNECTIONS: usize = 8;

const WARM_UP: Duration = Duration::from_secs(1);

/// Latencies of the nine, and what the first caller got.
struct Round {
    alone_ms: f64,
    beside_ms: f64,
    failures: u64,
    busy: Recorded,
}

/// Measures the peak, then the nine alone and beside the first caller, in every round. The median of the ratios counts.
pub fn measure(context: &Context<'_>, orderql: &mut HttpTarget<'_>, report: &mut Report) -> Result<()> {
    let mut rounds = SHARES.map(|_| Vec::new());
    for round in 1..=context.rounds {
        eprintln!("round {round} of {}: ten callers, one with {MULTIPLE} × the others' load", context.rounds);
        let requests = orderql.requests(WORKLOAD)?;
        let window = Window::closed(WARM_UP, context.time);
        let peak = orderql.load(&requests, CONNECTIONS, window)?.per_second;
        for (share, rounds) in SHARES.iter().zip(&mut rounds) {
            let mut loads = Vec::new();
            for (index, caller) in CALLERS.iter().enumerate() {
                let is_busy = index == 0;
                let per_second = if is_busy { share * peak } else { share * peak / MULTIPLE };
                loads.push(Load {
                    endpoint: Endpoint::Http(orderql.server.address),
                    requests: order_requests(context.keys, &orderql.server, caller, WORKLOAD.query())?,
                    connections: if is_busy { BUSY_CONNECTIONS } else { CALM_CONNECTIONS },
                    arrivals: Arrivals::Open(per_second),
                    warm_up: WARM_UP,
                    time: context.time,
                    tolerates_errors: is_busy,
                });
            }
            let alone = p99_ms(&run_together(&loads[1..], || {})?)?;
            let mut beside = run_together(&loads, || {})?;
            let busy = beside.remove(0);
            let failures = beside.iter().map(|recorded| recorded.error_latencies.count() + recorded.unsent).sum();
            rounds.push(Round { alone_ms: alone, beside_ms: p99_ms(&beside)?, failures, busy });
        }
    }
    let mut rows = Vec::new();
    for (share, rounds) in SHARES.iter().zip(&rounds) {
        let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure));
        let what = format!("p99 of nine callers beside one with {share} × the peak / alone");
        report.at_most(&what, of(|round| round.beside_ms / round.alone_ms), 1.5);
        rows.push(vec![
            ("busy_caller_offers", json!(format!("{share} × the peak"))),
            ("others_alone_p99_ms", json!(of(|round| round.alone_ms))),
            ("others_beside_p99_ms", json!(of(|round| round.beside_ms))),
            ("others_failures", json!(rounds.iter().map(|round| round.failures).sum::<u64>())),
            ("busy_per_second", json!(of(|round| round.busy.rate(round.busy.latencies.count())))),
            ("busy_refused_per_second", json!(of(|round| round.busy.rate(round.busy.error_latencies.count())))),
            ("busy_p99_ms", json!(of(|round| round.busy.latencies.percentile_ms(99.0)))),
        ]);
    }
    report.table("unequal callers", rows);
    Ok(())
}
