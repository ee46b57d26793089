//! The memory of a fresh server: idle, with a thousand idle connections, with a thousand busy ones.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::client::{Connection, Endpoint};
use crate::database::UNLIMITED_USER;
use crate::driver::{Arrivals, Load, Recorded, run};
use crate::error::Result;
use crate::orderql::{order_requests, start};
use crate::process::ServerProcess;
use crate::report::Report;
use crate::targets::Context;
use crate::usage::{peak_mib, resident_mib};
use crate::workload::Workload;

const CONNECTIONS: usize = 1_000;

const WARM_UP: Duration = Duration::from_secs(1);

/// How long the server has nothing to do before it counts as idle. Memory that hashed passwords is freed within a second.
const REST: Duration = Duration::from_secs(3);

/// The shortest time for which connections are busy.
const BUSY: Duration = Duration::from_secs(3);

/// Measures the states one after the other. There are no figures where the system does not report memory.
pub fn measure(context: &Context<'_>, report: &mut Report) -> Result<()> {
    let server = start(context.database, context.server_flags)?;
    let points = order_requests(context.keys, &server, UNLIMITED_USER, Workload::Point.query())?;
    thread::sleep(REST);
    let idle = memory(&server);

    eprintln!("{CONNECTIONS} idle connections");
    let mut connections = Vec::new();
    for request in points.iter().cycle().take(CONNECTIONS) {
        let mut connection = Connection::open("orderql", server.address)?;
        connection.data(request)?;
        connections.push(connection);
    }
    let connected = memory(&server);
    drop(connections);

    eprintln!("{CONNECTIONS} busy connections");
    let load = Load {
        endpoint: Endpoint::Http(server.address),
        requests: order_requests(context.keys, &server, UNLIMITED_USER, Workload::Detail.query())?,
        connections: CONNECTIONS,
        arrivals: Arrivals::Closed,
        warm_up: WARM_UP,
        time: context.time.max(BUSY),
        // A slow machine cannot serve so many within the time that a request may wait for a database connection.
        tolerates_errors: true,
    };
    let mut busy = None;
    let recorded = run(&load, || busy = memory(&server))?;
    if let (Some((resident, _)), Some((_, peak))) = (idle, busy) {
        report.at_most("resident memory, idle (MiB)", resident, 40.0);
        report.at_most(&format!("resident memory, {CONNECTIONS} busy connections (MiB)"), peak, 120.0);
    }
    let row = |state: &str, connections: usize, memory: Option<(f64, f64)>, recorded: Option<&Recorded>| {
        vec![
            ("state", json!(state)),
            ("connections", json!(connections)),
            ("resident_mib", json!(memory.map(|(resident, _)| resident))),
            ("peak_mib", json!(memory.map(|(_, peak)| peak))),
            ("per_second", json!(recorded.map(|recorded| recorded.rate(recorded.latencies.count())))),
            ("errors_per_second", json!(recorded.map(|recorded| recorded.rate(recorded.error_latencies.count())))),
        ]
    };
    report.table(
        "memory",
        vec![
            row("idle", 0, idle, None),
            row("idle connections", CONNECTIONS, connected, None),
            row("busy connections (detail)", CONNECTIONS, busy, Some(&recorded)),
        ],
    );
    Ok(())
}

/// MiB that are resident, and the most that were.
fn memory(server: &ServerProcess) -> Option<(f64, f64)> {
    resident_mib(server.id()).zip(peak_mib(server.id()))
}
