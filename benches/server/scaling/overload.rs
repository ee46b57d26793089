//! Four times the load that the server can take, in an open loop: how many requests succeed, how fast, and what errors the
//! others get. Once as a user who may run any number of queries at the same time, once as one with the default limits.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::order_requests;
use crate::client::Endpoint;
use crate::database::{LIMITED_USER, UNLIMITED_USER};
use crate::driver::{Arrivals, Load, run};
use crate::error::Result;
use crate::goals::Goal;
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

/// What one user got, in the round of median goodput.
#[derive(Debug, Serialize)]
pub struct Overload {
    user: &'static str,
    /// Responses a second of a closed loop just before.
    peak_per_second: f64,
    offered_per_second: f64,
    /// Responses a second without errors.
    good_per_second: f64,
    good_p99_ms: f64,
    /// Error responses a second, by what they say.
    errors_per_second: BTreeMap<String, f64>,
    errors_p99_ms: f64,
    /// Requests a second that found all connections busy.
    unsent_per_second: f64,
}

/// Measures the peak and then each user's overload in every round, as the machine may be faster in one than in another.
pub fn measure(context: &Context<'_>, orderql: &mut HttpTarget<'_>) -> Result<Vec<Overload>> {
    let mut users = [("without limits", UNLIMITED_USER, Vec::new()), ("with default limits", LIMITED_USER, Vec::new())];
    for round in 1..=context.rounds {
        eprintln!("round {round} of {}: the peak load, and {FACTOR} times as much", context.rounds);
        let requests = orderql.requests(WORKLOAD)?;
        let peak = orderql.load(&requests, CONNECTIONS, (WARM_UP, context.time))?.per_second;
        for (user, user_id, rounds) in &mut users {
            rounds.push(overload(context, orderql, user, user_id, peak)?);
        }
    }
    let median = |(_, _, mut rounds): (_, _, Vec<Overload>)| {
        rounds.sort_by(|one, other| one.goodput().total_cmp(&other.goodput()));
        let middle = rounds.len() / 2;
        rounds.into_iter().nth(middle)
    };
    Ok(users.into_iter().filter_map(median).collect())
}

fn overload(
    context: &Context<'_>,
    orderql: &HttpTarget<'_>,
    user: &'static str,
    user_id: &str,
    peak_per_second: f64,
) -> Result<Overload> {
    let recorded = run(
        &Load {
            endpoint: Endpoint::Http(orderql.server.address),
            requests: order_requests(context, &orderql.server, user_id, WORKLOAD.query())?,
            connections: MAX_CONNECTIONS,
            arrivals: Arrivals::Open(FACTOR * peak_per_second),
            warm_up: WARM_UP,
            time: context.time.max(SHORTEST),
            tolerates_errors: true,
        },
        || {},
    )?;
    Ok(Overload {
        user,
        peak_per_second,
        offered_per_second: recorded.rate(recorded.offered),
        good_per_second: recorded.per_second(),
        good_p99_ms: recorded.latencies.percentile_ms(99.0),
        errors_per_second: recorded
            .errors
            .iter()
            .map(|(error, count)| (error.clone(), recorded.rate(*count)))
            .collect(),
        errors_p99_ms: recorded.error_latencies.percentile_ms(99.0),
        unsent_per_second: recorded.rate(recorded.unsent),
    })
}

impl Overload {
    /// Responses without errors, as a share of the peak.
    fn goodput(&self) -> f64 {
        self.good_per_second / self.peak_per_second
    }

    /// The goal for the goodput.
    pub fn goal(&self) -> Goal {
        Goal::at_least(format!("goodput at {FACTOR} × the peak / peak, user {}", self.user), self.goodput(), 0.85)
    }
}

/// Prints the figures.
pub fn print(overloads: &[Overload]) {
    println!("\noverload ({WORKLOAD})");
    for overload in overloads {
        println!(
            "user {}: the peak is {:.0}/s; {:.0}/s offered, {:.0}/s successful (p99 {:.1} ms), {:.0}/s found no free \
             connection",
            overload.user,
            overload.peak_per_second,
            overload.offered_per_second,
            overload.good_per_second,
            overload.good_p99_ms,
            overload.unsent_per_second
        );
        for (error, per_second) in &overload.errors_per_second {
            println!("  {error}: {per_second:.0}/s (p99 of all errors {:.1} ms)", overload.errors_p99_ms);
        }
    }
}
