//! Four times the load that the server can take, in an open loop: how many requests succeed, how fast, and what errors the
//! others get. Once as a user who may run any number of queries at the same time, once as one with the default limits.

use std::time::Duration;

use serde_json::json;

use crate::client::Endpoint;
use crate::database::{LIMITED_USER, UNLIMITED_USER};
use crate::driver::{Arrivals, Load, Recorded, run};
use crate::error::Result;
use crate::orderql::order_requests;
use crate::report::Report;
use crate::targets::figures::Window;
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context};
use crate::workload::Workload;

const WORKLOAD: Workload = Workload::Detail;

/// The multiple of the peak that is offered.
const FACTOR: f64 = 4.0;

/// The highest number of connections.
const MAX_CONNECTIONS: usize = 2_000;

/// The shortest time of overload: longer than the server's default timeouts for waiting.
const SHORTEST: Duration = Duration::from_secs(8);

const WARM_UP: Duration = Duration::from_secs(1);

/// Measures the peak and then each user's overload in every round, as the machine may be faster in one than in another. The
/// round of median goodput counts.
pub fn measure(context: &Context<'_>, orderql: &mut HttpTarget<'_>, report: &mut Report) -> Result<()> {
    let users = [("without limits", UNLIMITED_USER), ("with default limits", LIMITED_USER)];
    let mut rounds = users.map(|_| Vec::new());
    for round in 1..=context.rounds {
        eprintln!("round {round} of {}: the peak load, and {FACTOR} times as much", context.rounds);
        let requests = orderql.requests(WORKLOAD)?;
        let window = Window::closed(WARM_UP, context.time);
        let peak = orderql.load(&requests, CONNECTIONS, window)?.per_second;
        for ((_, user), rounds) in users.iter().zip(&mut rounds) {
            let recorded = overload(context, orderql, user, FACTOR * peak)?;
            rounds.push((recorded.rate(recorded.latencies.count()) / peak, peak, recorded));
        }
    }
    let mut rows = Vec::new();
    for ((user, _), mut rounds) in users.iter().zip(rounds) {
        rounds.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let Some((goodput, peak, recorded)) = rounds.get(rounds.len() / 2) else { continue };
        report.at_least(&format!("goodput at {FACTOR} × the peak / peak, user {user}"), *goodput, 0.9);
        let errors = recorded.errors.iter().map(|(error, count)| format!("{error}: {:.0}/s", recorded.rate(*count)));
        rows.push(vec![
            ("user", json!(user)),
            ("peak_per_second", json!(peak)),
            ("offered_per_second", json!(recorded.rate(recorded.offered))),
            ("per_second", json!(recorded.rate(recorded.latencies.count()))),
            ("p99_ms", json!(recorded.latencies.percentile_ms(99.0))),
            ("unsent_per_second", json!(recorded.rate(recorded.unsent))),
            ("errors_p99_ms", json!(recorded.error_latencies.percentile_ms(99.0))),
            ("errors", json!(errors.collect::<Vec<_>>().join(", "))),
        ]);
    }
    report.table("overload", rows);
    Ok(())
}

fn overload(context: &Context<'_>, orderql: &HttpTarget<'_>, user: &str, per_second: f64) -> Result<Recorded> {
    let load = Load {
        endpoint: Endpoint::Http(orderql.server.address),
        requests: order_requests(context.keys, &orderql.server, user, WORKLOAD.query())?,
        connections: MAX_CONNECTIONS,
        arrivals: Arrivals::Open(per_second),
        warm_up: WARM_UP,
        time: context.time.max(SHORTEST),
        tolerates_errors: true,
    };
    run(&load, || {})
}
