//! An export of all order items: rows a second, the server's memory, and how much slower the responses of other callers
//! become beside it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memchr::{memchr_iter, memmem};
use serde_json::json;

use crate::client::{Endpoint, graphql_request};
use crate::database::{CALLERS, UNLIMITED_USER};
use crate::driver::{Arrivals, Load, p99_ms, run_together};
use crate::error::{BenchError, Result};
use crate::orderql::{PATH, order_requests, sign_in, start};
use crate::report::Report;
use crate::statistics::median;
use crate::targets::figures::Window;
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context};
use crate::usage::{peak_mib, resident_mib};
use crate::workload::Workload;

const QUERY: &str =
    "{ orderItems(first: 100) { edges { node { orderId orderItemSeqId productId quantity unitPrice } } } }";

const WORKLOAD: Workload = Workload::Detail;

/// What the other callers send together, as a part of the peak load.
const SHARE: f64 = 0.2;

const CALM_CONNECTIONS: usize = 8;

const WARM_UP: Duration = Duration::from_secs(1);

/// The share of nodes after which the server's memory should not grow any more.
const SETTLED: u64 = 100_000;

/// What a client has read of an export.
#[derive(Debug, Clone, Copy)]
struct Exported {
    nodes: u64,
    time: Duration,
    /// MiB that were resident once the server had settled.
    settled_mib: Option<f64>,
}

/// Measures an export alone on a fresh server, and the others alone and beside one in every round.
pub fn measure(context: &Context<'_>, orderql: &mut HttpTarget<'_>, report: &mut Report) -> Result<()> {
    eprintln!("an export of all order items");
    let server = start(context.database, context.server_flags)?;
    let idle = resident_mib(server.id());
    let request = export_request(&sign_in(&server, UNLIMITED_USER)?);
    let alone = export(server.address, &request, server.id(), &AtomicBool::new(false))?;
    let peak = peak_mib(server.id());
    if let (Some(settled), Some(peak)) = (alone.settled_mib, peak) {
        let what = format!("memory of an export after all nodes / after {SETTLED}");
        report.at_most(&what, peak / settled, 1.1);
    }
    drop(server);

    let mut rounds = Vec::new();
    for round in 1..=context.rounds {
        eprintln!("round {round} of {}: other callers beside an export", context.rounds);
        let requests = orderql.requests(WORKLOAD)?;
        let window = Window::closed(WARM_UP, context.time);
        let peak = orderql.load(&requests, CONNECTIONS, window)?.per_second;
        let others = &CALLERS[1..];
        let load = |caller: &&str| {
            Ok(Load {
                endpoint: Endpoint::Http(orderql.server.address),
                requests: order_requests(context.keys, &orderql.server, caller, WORKLOAD.query())?,
                connections: CALM_CONNECTIONS,
                arrivals: Arrivals::Open(SHARE * peak / others.len() as f64),
                warm_up: WARM_UP,
                time: context.time,
                tolerates_errors: false,
            })
        };
        let loads = others.iter().map(load).collect::<Result<Vec<_>>>()?;
        let alone_ms = p99_ms(&run_together(&loads, || {})?)?;
        let running = Running::start(orderql)?;
        let beside = run_together(&loads, || {});
        let exported = running.stop()?;
        rounds.push((p99_ms(&beside?)? / alone_ms, exported));
    }
    let ratio = median(rounds.iter().map(|(ratio, _)| *ratio));
    report.at_most("p99 of others beside an export / alone", ratio, 1.2);
    let per_second = |exported: &Exported| exported.nodes as f64 / exported.time.as_secs_f64();
    report.table(
        "export",
        vec![vec![
            ("nodes", json!(alone.nodes)),
            ("per_second", json!(per_second(&alone))),
            ("per_second_beside_others", json!(median(rounds.iter().map(|(_, exported)| per_second(exported))))),
            ("idle_mib", json!(idle)),
            ("settled_mib", json!(alone.settled_mib)),
            ("peak_mib", json!(peak)),
        ]],
    );
    Ok(())
}

fn export_request(bearer: &str) -> Vec<u8> {
    let request = graphql_request(PATH, Some(bearer), QUERY, &json!({}));
    let request = String::from_utf8_lossy(&request).replace("Accept: application/json", "Accept: application/x-ndjson");
    request.into_bytes()
}

/// Exports on a thread of its own, one after the other.
struct Running {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Exported>>,
}

impl Running {
    fn start(orderql: &HttpTarget<'_>) -> Result<Self> {
        let (address, id) = (orderql.server.address, orderql.server.id());
        let request = export_request(&sign_in(&orderql.server, UNLIMITED_USER)?);
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut all = Exported { nodes: 0, time: Duration::ZERO, settled_mib: None };
            while !stop.load(Ordering::Relaxed) {
                let Exported { nodes, time, .. } = export(address, &request, id, &stop)?;
                all = Exported { nodes: all.nodes + nodes, time: all.time + time, ..all };
            }
            Ok(all)
        });
        Ok(Self { is_over, thread })
    }

    fn stop(self) -> Result<Exported> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| BenchError::Data("the export's client panicked".to_owned()))?
    }
}

/// Reads an export to its end, or until it is over.
fn export(address: SocketAddr, request: &[u8], server: u32, is_over: &AtomicBool) -> Result<Exported> {
    let failed = || BenchError::io("read an export");
    let began = Instant::now();
    let mut stream = TcpStream::connect(address).map_err(failed())?;
    stream.write_all(request).map_err(failed())?;
    let (mut part, mut last, mut is_first) = (vec![0; 1 << 18], Vec::new(), true);
    let (mut nodes, mut settled_mib) = (0, None);
    while !is_over.load(Ordering::Relaxed) {
        let read = stream.read(&mut part).map_err(failed())?;
        let bytes = &part[..read];
        // Lines end without a carriage return, unlike the parts of a chunked body.
        nodes += memchr_iter(b'\n', bytes).filter(|end| *end > 0 && bytes[end - 1] != b'\r').count() as u64;
        if settled_mib.is_none() && nodes > SETTLED {
            settled_mib = resident_mib(server);
        }
        last.extend_from_slice(&bytes[bytes.len().saturating_sub(200)..]);
        last.drain(..last.len().saturating_sub(400));
        if memmem::find(&last, b"{\"@end\":{\"complete\":true").is_some() {
            break;
        }
        if read == 0 || (is_first && !bytes.starts_with(b"HTTP/1.1 200 ")) {
            let response = String::from_utf8_lossy(&last).into_owned();
            return Err(BenchError::Response { server: "orderql".to_owned(), response });
        }
        is_first = false;
    }
    Ok(Exported { nodes, time: began.elapsed(), settled_mib })
}
