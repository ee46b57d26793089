//! The memory of a fresh server: idle, with a thousand idle connections, with a thousand busy ones.

use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::order_requests;
use crate::client::{Connection, Endpoint};
use crate::database::UNLIMITED_USER;
use crate::driver::{Arrivals, Load, run};
use crate::error::Result;
use crate::goals::Goal;
use crate::orderql::start;
use crate::output::optional;
use crate::process::ServerProcess;
use crate::targets::Context;
use crate::usage::{peak_mib, resident_mib};
use crate::workload::Workload;

const CONNECTIONS: usize = 1_000;

const WARM_UP: Duration = Duration::from_secs(1);

/// How long the server has nothing to do before it counts as idle. Memory that hashed passwords is freed within a second.
const REST: Duration = Duration::from_secs(3);

/// The shortest time for which connections are busy.
const BUSY: Duration = Duration::from_secs(3);

/// The memory in one state.
#[derive(Debug, Serialize)]
pub struct InState {
    state: &'static str,
    connections: usize,
    /// At the end.
    resident_mib: f64,
    /// The highest until then.
    peak_mib: f64,
    /// Responses a second, and error responses a second.
    per_second: Option<f64>,
    errors_per_second: Option<f64>,
}

/// Measures the states one after the other; none where the system does not report memory.
pub fn measure(context: &Context<'_>) -> Result<Vec<InState>> {
    let server = start(context.database, context.server_flags)?;
    let points = order_requests(context, &server, UNLIMITED_USER, Workload::Point.query())?;
    thread::sleep(REST);
    let mut states = Vec::from_iter(state(&server, "idle", 0));

    eprintln!("{CONNECTIONS} idle connections");
    let mut idle = Vec::new();
    for request in points.iter().cycle().take(CONNECTIONS) {
        let mut connection = Connection::open("orderql", server.address)?;
        connection.data(request)?;
        idle.push(connection);
    }
    states.extend(state(&server, "idle connections", CONNECTIONS));
    drop(idle);

    eprintln!("{CONNECTIONS} busy connections");
    let load = Load {
        endpoint: Endpoint::Http(server.address),
        requests: order_requests(context, &server, UNLIMITED_USER, Workload::Detail.query())?,
        connections: CONNECTIONS,
        arrivals: Arrivals::Closed,
        warm_up: WARM_UP,
        time: context.time.max(BUSY),
        // A slow machine cannot serve so many within the time that a request may wait for a database connection.
        tolerates_errors: true,
    };
    let mut busy = None;
    let recorded = run(&load, || busy = state(&server, "busy connections (detail)", CONNECTIONS))?;
    states.extend(busy.map(|busy| InState {
        per_second: Some(recorded.per_second()),
        errors_per_second: Some(recorded.errors_per_second()),
        ..busy
    }));
    Ok(states)
}

fn state(server: &ServerProcess, state: &'static str, connections: usize) -> Option<InState> {
    let (resident_mib, peak_mib) = (resident_mib(server.id())?, peak_mib(server.id())?);
    Some(InState { state, connections, resident_mib, peak_mib, per_second: None, errors_per_second: None })
}

/// The goals for an idle server and for busy connections.
pub fn goals(states: &[InState]) -> Vec<Goal> {
    let [idle, _, busy] = states else { return Vec::new() };
    let what = format!("resident memory, {CONNECTIONS} busy connections (MiB)");
    vec![
        Goal::at_most("resident memory, idle (MiB)", idle.resident_mib, 40.0),
        Goal::at_most(what, busy.peak_mib, 120.0),
    ]
}

/// Prints the figures.
pub fn print(states: &[InState]) {
    println!(
        "\n{:<30}{:>12}{:>10}{:>10}{:>13}{:>10}",
        "memory in MiB", "connections", "resident", "peak", "responses/s", "errors/s"
    );
    for InState { state, connections, resident_mib, peak_mib, per_second, errors_per_second } in states {
        let (responses, errors) = (optional(*per_second, 0), optional(*errors_per_second, 0));
        println!("{state:<30}{connections:>12}{resident_mib:>10.1}{peak_mib:>10.1}{responses:>13}{errors:>10}");
    }
}
