//! The cost of rejecting a query: the CPU time of a query that costs too much, beside a bare server with the same response.

use std::rc::Rc;
use std::time::Duration;

use memchr::memmem;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::order_requests;
use crate::client::Endpoint;
use crate::database::LIMITED_USER;
use crate::driver::{Arrivals, Load, Requests, run};
use crate::error::Result;
use crate::goals::Goal;
use crate::output::optional;
use crate::process::ServerProcess;
use crate::statistics::median;
use crate::targets::floor::serve;
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context};
use crate::usage::CpuMeter;
use crate::workload::Workload;

const WARM_UP: Duration = Duration::from_millis(500);

/// Rejections a second, and the CPU time of each in milliseconds.
#[derive(Debug, Serialize)]
pub struct Rejections {
    per_second: f64,
    server_cpu_ms: Option<f64>,
    floor_cpu_ms: Option<f64>,
}

/// Measures both in random turns; nothing if the bare server could not be built.
pub fn measure(context: &Context<'_>, orderql: &HttpTarget<'_>) -> Result<Option<Rejections>> {
    let Ok(programs) = context.peers else { return Ok(None) };
    // The specification's worked case, which costs 1366.
    let query = Workload::Detail.query().replace("first: 10", "first: 20").replace("first: 5", "first: 10");
    let requests = order_requests(context, &orderql.server, LIMITED_USER, &query)?;
    let mut connection = orderql.connect()?;
    let (_, body) = connection.send(&requests[0])?;
    if memmem::find(&body, b"COST_EXCEEDED").is_none() {
        return Err(connection.unexpected(&body));
    }
    let floor = serve(programs, "rejection", &body)?;
    let mut turns = [(&orderql.server, Vec::new(), Vec::new()), (&floor, Vec::new(), Vec::new())];
    let mut random = ChaCha8Rng::seed_from_u64(context.seed);
    for round in 1..=context.rounds {
        eprintln!("round {round} of {}: rejections", context.rounds);
        turns.shuffle(&mut random);
        for (server, cpu_ms, per_second) in &mut turns {
            let figures = load(server, &requests, context.time)?;
            cpu_ms.extend(figures.0);
            per_second.push(figures.1);
        }
    }
    turns.sort_by_key(|(server, ..)| server.id() == floor.id());
    let [(_, server_cpu_ms, per_second), (_, floor_cpu_ms, _)] = turns;
    let known = |figures: Vec<f64>| (!figures.is_empty()).then(|| median(figures));
    Ok(Some(Rejections {
        per_second: median(per_second),
        server_cpu_ms: known(server_cpu_ms),
        floor_cpu_ms: known(floor_cpu_ms),
    }))
}

/// CPU milliseconds a request, and responses a second.
fn load(server: &ServerProcess, requests: &Requests, time: Duration) -> Result<(Option<f64>, f64)> {
    let load = Load {
        endpoint: Endpoint::Http(server.address),
        requests: Rc::clone(requests),
        connections: CONNECTIONS,
        arrivals: Arrivals::Closed,
        warm_up: WARM_UP,
        time,
        tolerates_errors: true,
    };
    let mut cpu = CpuMeter::new(Some(server.id()));
    let recorded = run(&load, || cpu.look())?;
    Ok((cpu.ms_per_request(recorded.error_latencies.count()), recorded.errors_per_second()))
}

impl Rejections {
    /// The goal for the CPU time.
    pub fn goal(&self) -> Option<Goal> {
        let ratio = self.server_cpu_ms? / self.floor_cpu_ms?;
        Some(Goal::at_most("server CPU of a rejection (COST_EXCEEDED) / bare server", ratio, 1.5))
    }

    /// Prints the figures.
    pub fn print(&self) {
        println!(
            "\nrejections (COST_EXCEEDED): {:.0}/s, {} ms of server CPU; the bare server takes {} ms for the same response",
            self.per_second,
            optional(self.server_cpu_ms, 4),
            optional(self.floor_cpu_ms, 4)
        );
    }
}
