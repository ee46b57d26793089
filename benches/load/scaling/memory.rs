//! The memory of a fresh server: idle, with a thousand connections that have asked once, with a thousand that ask.

use std::rc::Rc;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::{Bench, Bound, known};
use crate::contestants::served::{Served, mebibytes};
use crate::measure::Fault;
use crate::measure::driver::{Door, Load, run};
use crate::measure::exchange::{Line, request};
use crate::measure::process::{peak, resident};
use crate::measure::service::{PATH, sign_in, start};
use crate::measure::spawned::Spawned;
use crate::measure::store::UNLIMITED_USER;
use crate::workload::Workload;

/// Connections.
const MANY: usize = 1_000;

/// Before a measurement counts.
const WARM_UP: Duration = Duration::from_secs(1);

/// How long a server has nothing to do before it is idle: what it hashed passwords in is given back within a second.
const REST: Duration = Duration::from_secs(3);

/// The memory in one state.
#[derive(Debug, Serialize)]
pub struct InState {
    state: &'static str,
    connections: usize,
    /// Where it ended.
    resident_mib: f64,
    /// The most until then.
    peak_mib: f64,
    /// Good answers a second, where they were asked for, and others.
    per_second: Option<f64>,
    told_per_second: Option<f64>,
}

/// Measures the states, one after the other, on one server. Nothing where the system tells no process's memory.
pub fn measure(bench: &Bench<'_>, ours: &mut Served) -> Result<Vec<InState>, Fault> {
    let server = start(bench.store, bench.folder, bench.flags)?;
    let bearer = sign_in(&server, UNLIMITED_USER)?;
    let asked = |workload: Workload| {
        let keys = bench.keys.orders.iter();
        let requests = keys.map(|key| request(PATH, Some(&bearer), workload.query(), &workload.variables(key, "")));
        requests.collect::<Vec<_>>()
    };
    let mut states = Vec::new();
    thread::sleep(REST);
    states.extend(state(&server, "idle", 0));

    eprintln!("{MANY} idle connections");
    let points = asked(Workload::Point);
    let mut lines = Vec::new();
    for request in points.iter().take(MANY) {
        let mut line = Line::to(ours.label(), server.address)?;
        line.data(request)?;
        lines.push(line);
    }
    states.extend(state(&server, "idle connections", MANY));
    drop(lines);

    eprintln!("{MANY} busy connections");
    let load = Load {
        door: &Door::Http(server.address),
        requests: Rc::new(asked(Workload::Detail)),
        connections: MANY,
        warm_up: WARM_UP,
        time: bench.time.max(Duration::from_secs(3)),
        // A slow machine cannot serve so many within the time that a request may wait.
        bears_bad: true,
    };
    let mut busy = None;
    let outcome = run(&load, || busy = state(&server, "busy connections (detail)", MANY))?;
    let told = outcome.bad_latencies.count() as f64 / outcome.time.as_secs_f64();
    states.extend(busy.map(|busy| InState {
        per_second: Some(outcome.per_second()),
        told_per_second: Some(told),
        ..busy
    }));
    Ok(states)
}

fn state(server: &Spawned, state: &'static str, connections: usize) -> Option<InState> {
    let (resident, peak) = (resident(server.id())?, peak(server.id())?);
    Some(InState {
        state,
        connections,
        resident_mib: mebibytes(resident),
        peak_mib: mebibytes(peak),
        per_second: None,
        told_per_second: None,
    })
}

/// What is wanted of them.
pub fn bounds(states: &[InState]) -> Vec<Bound> {
    let bound = |state: &InState| match state.state {
        "idle" => Some(Bound::at_most("resident memory, idle (MiB)", state.resident_mib, 40.0)),
        "idle connections" => None,
        _ => Some(Bound::at_most(format!("resident memory, {MANY} busy connections (MiB)"), state.peak_mib, 120.0)),
    };
    states.iter().filter_map(bound).collect()
}

/// Prints the figures.
pub fn print(states: &[InState]) {
    println!(
        "\n{:<30}{:>12}{:>10}{:>10}{:>12}{:>11}",
        "memory in MiB", "connections", "resident", "peak", "answers/s", "refused/s"
    );
    for InState { state, connections, resident_mib, peak_mib, per_second, told_per_second } in states {
        let (good, told) = (known(*per_second, 0), known(*told_per_second, 0));
        println!("{state:<30}{connections:>12}{resident_mib:>10.1}{peak_mib:>10.1}{good:>12}{told:>11}");
    }
}
