//! The workloads over one, two and three servers of orderql, with none, one and two replicas of the database. On one machine they
//! are not faster together: the CPU time of a request shows whether replicas relieve the primary, and whether a server needs more
//! because there are others.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use super::standby::Standby;
use crate::client::Endpoint;
use crate::database::READERS;
use crate::driver::{Arrivals, Latencies, Load, Requests, run_together};
use crate::error::Result;
use crate::orderql::start_program;
use crate::process::ServerProcess;
use crate::report::{Report, Row};
use crate::statistics::median;
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context};
use crate::usage::CpuMeter;
use crate::workload::Workload;

const NODES: [usize; 3] = [1, 2, 3];
const REPLICAS: usize = 2;

/// The servers find out meanwhile how far the replicas are.
const WARM_UP: Duration = Duration::from_secs(1);

/// The most that a request may cost the primary where there are replicas, and a server where there are others, as a part of what it
/// costs without.
const PRIMARY_BOUND: f64 = 0.05;
const NODE_BOUND: f64 = 1.1;

/// What was measured of a workload in a round. CPU times are those of a request in milliseconds, of all processes of a kind.
struct Measured {
    per_second: f64,
    p99_ms: f64,
    nodes_cpu_ms: f64,
    primary_cpu_ms: f64,
    replicas_cpu_ms: f64,
}

/// The medians of the rounds of a workload with so many servers.
struct Line {
    workload: Workload,
    replicas: usize,
    nodes: usize,
    measured: Measured,
}

/// Measures all numbers of servers, one after the other.
pub fn run(context: &Context<'_>, workloads: &[Workload], report: &mut Report) -> Result<()> {
    let standbys = (1..=REPLICAS).map(|number| Standby::start(context.database, number)).collect::<Result<Vec<_>>>()?;
    // A caller's queries go to one replica while it has time, so there are several callers. All servers take the same tokens.
    let mut target = HttpTarget::orderql(context)?;
    target.sign_in_as(&READERS)?;
    let requests = workloads.iter().map(|workload| target.requests(*workload)).collect::<Result<Vec<_>>>()?;
    drop(target);
    let mut lines = Vec::new();
    for replicas in 0..=REPLICAS {
        for count in NODES {
            let standbys = &standbys[..replicas];
            let nodes = (0..count).map(|_| node(context, standbys)).collect::<Result<Vec<_>>>()?;
            for (workload, requests) in workloads.iter().zip(&requests) {
                let mut rounds = Vec::new();
                for round in 1..=context.rounds {
                    eprintln!("{count} servers, {replicas} replicas, round {round} of {}: {workload}", context.rounds);
                    rounds.push(measure(context, &nodes, standbys, requests)?);
                }
                lines.push(Line { workload: *workload, replicas, nodes: count, measured: Measured::median(&rounds) });
            }
        }
    }
    for workload in workloads {
        let of = |nodes: usize, replicas: usize| {
            let is_it = |line: &&Line| (line.workload, line.nodes, line.replicas) == (*workload, nodes, replicas);
            lines.iter().find(is_it).map(|line| &line.measured)
        };
        if let (Some(alone), Some(relieved), Some(beside)) = (of(1, 0), of(1, REPLICAS), of(3, 0)) {
            let primary = relieved.primary_cpu_ms / alone.primary_cpu_ms;
            report.at_most(&format!("{workload}: CPU of the primary, two replicas / none"), primary, PRIMARY_BOUND);
            let nodes = beside.nodes_cpu_ms / alone.nodes_cpu_ms;
            report.at_most(&format!("{workload}: CPU of the servers, three / one"), nodes, NODE_BOUND);
        }
        let of_workload = lines.iter().filter(|line| line.workload == *workload);
        report.table(workload.name(), of_workload.map(Line::row).collect());
    }
    Ok(())
}

fn node(context: &Context<'_>, standbys: &[Standby]) -> Result<ServerProcess> {
    let replicas = standbys.iter().map(Standby::url).collect::<Vec<_>>().join(", ");
    let mut flags = vec!["--log", "warn", "--access-log", "off"];
    if !replicas.is_empty() {
        flags.extend(["--replica-urls", &replicas]);
    }
    let flags = flags.into_iter().chain(context.server_flags.iter().map(String::as_str));
    start_program(Path::new(env!("CARGO_BIN_EXE_orderql")), &context.database.url(), flags, "node.log")
}

/// Loads all servers at the same time.
fn measure(
    context: &Context<'_>,
    nodes: &[ServerProcess],
    standbys: &[Standby],
    requests: &Requests,
) -> Result<Measured> {
    let load = |node: &ServerProcess| Load {
        endpoint: Endpoint::Http(node.address),
        requests: Rc::clone(requests),
        connections: CONNECTIONS / nodes.len(),
        arrivals: Arrivals::Closed,
        warm_up: WARM_UP,
        time: context.time,
        tolerates_errors: false,
    };
    let loads: Vec<_> = nodes.iter().map(load).collect();
    let meters = |ids: &mut dyn Iterator<Item = u32>| ids.map(|id| CpuMeter::new(Some(id))).collect::<Vec<_>>();
    let mut of_nodes = meters(&mut nodes.iter().map(ServerProcess::id));
    let mut of_primary = meters(&mut [context.database.postmaster].into_iter());
    let mut of_replicas = meters(&mut standbys.iter().map(|standby| standby.postmaster));
    let recorded = run_together(&loads, || {
        of_nodes.iter_mut().chain(&mut of_primary).chain(&mut of_replicas).for_each(CpuMeter::look);
    })?;
    let mut latencies = Latencies::new()?;
    for recorded in &recorded {
        latencies.add(&recorded.latencies)?;
    }
    let requests = latencies.count();
    let cpu_ms = |meters: &[CpuMeter]| {
        let of_each = meters.iter().filter_map(|meter| meter.ms_per_request(requests));
        // The sum of none would be -0.
        of_each.fold(0.0, |sum, each| sum + each)
    };
    Ok(Measured {
        per_second: recorded.iter().map(|recorded| recorded.rate(recorded.latencies.count())).sum(),
        p99_ms: latencies.percentile_ms(99.0),
        nodes_cpu_ms: cpu_ms(&of_nodes),
        primary_cpu_ms: cpu_ms(&of_primary),
        replicas_cpu_ms: cpu_ms(&of_replicas),
    })
}

impl Measured {
    fn median(rounds: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| median(rounds.iter().map(figure));
        Self {
            per_second: of(|measured| measured.per_second),
            p99_ms: of(|measured| measured.p99_ms),
            nodes_cpu_ms: of(|measured| measured.nodes_cpu_ms),
            primary_cpu_ms: of(|measured| measured.primary_cpu_ms),
            replicas_cpu_ms: of(|measured| measured.replicas_cpu_ms),
        }
    }
}

impl Line {
    fn row(&self) -> Row {
        vec![
            ("nodes", json!(self.nodes)),
            ("replicas", json!(self.replicas)),
            ("per_second", json!(self.measured.per_second)),
            ("p99_ms", json!(self.measured.p99_ms)),
            ("nodes_cpu_ms", json!(self.measured.nodes_cpu_ms)),
            ("primary_cpu_ms", json!(self.measured.primary_cpu_ms)),
            ("replicas_cpu_ms", json!(self.measured.replicas_cpu_ms)),
        ]
    }
}
