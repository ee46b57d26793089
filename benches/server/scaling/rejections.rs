//! The cost of rejecting a query: the CPU time of a query that costs too much, beside a bare server with the same response.

use std::rc::Rc;
use std::time::Duration;

use memchr::memmem;
use serde_json::json;

use crate::client::Endpoint;
use crate::database::LIMITED_USER;
use crate::driver::{Arrivals, Load, Requests, run};
use crate::error::Result;
use crate::orderql::order_requests;
use crate::process::ServerProcess;
use crate::report::Report;
use crate::rounds;
use crate::statistics::median;
use crate::targets::floor::serve;
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context};
use crate::usage::CpuMeter;
use crate::workload::Workload;

const WARM_UP: Duration = Duration::from_millis(500);

/// Measures both servers; nothing if the bare one could not be built.
pub fn measure(context: &Context<'_>, orderql: &HttpTarget<'_>, report: &mut Report) -> Result<()> {
    let Ok(programs) = context.peers else { return Ok(()) };
    // The specification's worked case, which costs 1366.
    let query = Workload::Detail.query().replace("first: 10", "first: 20").replace("first: 5", "first: 10");
    let requests = order_requests(context.keys, &orderql.server, LIMITED_USER, &query)?;
    let mut connection = orderql.connect()?;
    let (_, body) = connection.send(&requests[0])?;
    if memmem::find(&body, b"COST_EXCEEDED").is_none() {
        return Err(connection.unexpected(&body));
    }
    let floor = serve(programs, "rejection", &body)?;
    let mut measured = [("orderql", &orderql.server, Vec::new()), ("bare server", &floor, Vec::new())];
    rounds::run(context.rounds, context.seed, &mut measured, |round, (name, server, figures)| {
        eprintln!("round {round} of {}: rejections of {name}", context.rounds);
        figures.push(load(server, &requests, context.time)?);
        Ok(())
    })?;
    let medians = measured.map(|(name, _, figures)| {
        let cpu_ms: Vec<_> = figures.iter().filter_map(|(cpu_ms, _)| *cpu_ms).collect();
        let cpu_ms = (!cpu_ms.is_empty()).then(|| median(cpu_ms));
        (name, cpu_ms, median(figures.into_iter().map(|(_, per_second)| per_second)))
    });
    if let [(_, Some(ours), _), (_, Some(floor), _)] = medians {
        report.at_most("server CPU of a rejection (COST_EXCEEDED), orderql / bare server", ours / floor, 1.5);
    }
    let row = |(name, cpu_ms, per_second)| {
        vec![("server", json!(name)), ("per_second", json!(per_second)), ("server_cpu_ms", json!(cpu_ms))]
    };
    report.table("rejections", medians.map(row).into());
    Ok(())
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
    let responses = recorded.error_latencies.count();
    Ok((cpu.ms_per_request(responses), recorded.rate(responses)))
}
