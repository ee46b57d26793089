//! What a store that servers share costs: two servers are measured in turns, one with buckets of its own and one with those of a
//! store, and the time of a request beside that of a PING. Then the store is stopped under load, which no request may notice for
//! more than the time limit of its calls.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Connection;
use crate::database::UNLIMITED_USER;
use crate::error::{BenchError, Result};
use crate::orderql::{order_requests, start_program};
use crate::process::{ServerProcess, free_address};
use crate::report::Report;
use crate::rounds;
use crate::statistics::median;
use crate::targets::figures::{Figures, Window};
use crate::targets::http::HttpTarget;
use crate::targets::{CONNECTIONS, Context, Target as _};
use crate::workload::Workload;

const PROGRAMS: [&str; 2] = ["valkey-server", "redis-server"];

const WARM_UP: Duration = Duration::from_millis(500);

/// A query that needs little but its debit.
const POINT: &str = "query ($orderId: ID!) { order(orderId: $orderId) { orderId } }";

/// Requests one after the other of which the median is taken.
const REQUESTS: usize = 2000;

/// Clients that send requests while the store is stopped, and for how long.
const CLIENTS: usize = 16;
const OUTAGE: Duration = Duration::from_secs(3);

/// The most that the store may add to a request, in milliseconds, also when it hangs.
const LONGEST_MS: f64 = 60.0;

struct Variant<'a> {
    name: &'static str,
    target: HttpTarget<'a>,
    address: SocketAddr,
}

/// Starts a store and two servers, and measures both.
pub fn run(context: &Context<'_>, workloads: &[Workload], report: &mut Report) -> Result<()> {
    let Some(store) = start_store()? else {
        eprintln!("left out: none of {PROGRAMS:?} is installed");
        return Ok(());
    };
    let url = format!("redis://{}/0", store.address);
    let variant = |name, flags: &[&str], log| -> Result<(Variant<'_>, Vec<Vec<u8>>)> {
        let flags = [&["--log", "warn", "--access-log", "off"], flags].concat();
        let flags = flags.into_iter().chain(context.server_flags.iter().map(String::as_str));
        let program = Path::new(env!("CARGO_BIN_EXE_orderql"));
        let server = start_program(program, &context.database.url(), flags, log)?;
        let points = order_requests(context.keys, &server, UNLIMITED_USER, POINT)?.to_vec();
        let address = server.address;
        Ok((Variant { name, target: HttpTarget::of_server(context, server)?, address }, points))
    };
    let (own, points) = variant("own buckets", &[], "own.log")?;
    let (shared, shared_points) = variant("shared store", &["--bucket-url", &url], "shared.log")?;
    let mut variants = [own, shared];
    let mut turns = Vec::new();
    for workload in workloads {
        for (index, variant) in variants.iter_mut().enumerate() {
            variant.target.prepare(*workload)?;
            turns.push((*workload, index, Vec::new()));
        }
    }
    let window = Window::closed(WARM_UP, context.time);
    rounds::run(context.rounds, context.seed, &mut turns, |round, (workload, index, measured)| {
        let Variant { name, target, .. } = &mut variants[*index];
        eprintln!("round {round} of {}: {workload:6} {name}", context.rounds);
        let requests = target.requests(*workload)?;
        measured.push(target.load(&requests, CONNECTIONS, window)?);
        Ok(())
    })?;
    for pair in turns.chunks_exact(2) {
        let [(workload, _, own), (_, _, shared)] = pair else { continue };
        let row = |name: &str, rounds: &[Figures]| Figures::median(rounds).row(vec![("buckets", json!(name))]);
        report.table(workload.name(), vec![row("own", own), row("shared", shared)]);
    }

    let [own, shared] = &variants;
    report.table("one after the other", trips(own, &points, shared, &shared_points, store.address)?);
    let calm = longest(shared, &shared_points, || Ok(()))?;
    let hung = longest(shared, &shared_points, || signal(store.id(), "-STOP"))?;
    signal(store.id(), "-CONT")?;
    report.table(
        "longest request",
        vec![vec![
            ("clients", json!(CLIENTS)),
            ("store", json!("runs, then hangs")),
            ("calm_ms", json!(calm)),
            ("hung_ms", json!(hung)),
        ]],
    );
    report.at_most("longest request when the store hangs, beyond that before", hung - calm, LONGEST_MS);
    Ok(())
}

/// The medians of single requests to both servers, and of PINGs, in turns.
fn trips(
    own: &Variant<'_>,
    points: &[Vec<u8>],
    shared: &Variant<'_>,
    shared_points: &[Vec<u8>],
    store: SocketAddr,
) -> Result<Vec<crate::report::Row>> {
    let (mut to_own, mut to_shared) =
        (Connection::open("own", own.address)?, Connection::open("shared", shared.address)?);
    let mut to_store = TcpStream::connect(store).map_err(BenchError::io("connect to the store"))?;
    to_store.set_nodelay(true).map_err(BenchError::io("connect to the store"))?;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..REQUESTS {
        let at = number % points.len();
        let started = Instant::now();
        to_own.send(&points[at])?;
        times[0].push(micros(started));
        let started = Instant::now();
        to_shared.send(&shared_points[at])?;
        times[1].push(micros(started));
        let started = Instant::now();
        to_store.write_all(b"PING\r\n").map_err(BenchError::io("write to the store"))?;
        to_store.read_exact(&mut [0; 7]).map_err(BenchError::io("read from the store"))?;
        times[2].push(micros(started));
    }
    let [own_us, shared_us, ping_us] = times.map(median);
    Ok(vec![vec![
        ("requests", json!(REQUESTS)),
        ("own_us", json!(own_us)),
        ("shared_us", json!(shared_us)),
        ("added_us", json!(shared_us - own_us)),
        ("ping_us", json!(ping_us)),
    ]])
}

/// The longest request of some clients, in milliseconds, while something happens after a third of the time.
fn longest(server: &Variant<'_>, points: &[Vec<u8>], happens: impl FnOnce() -> Result<()>) -> Result<f64> {
    eprintln!("{}: the longest request of {CLIENTS} clients", server.name);
    let address = server.address;
    let until = Instant::now() + OUTAGE;
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn(move || -> Result<f64> {
                    let mut connection = Connection::open("shared", address)?;
                    let mut longest: f64 = 0.0;
                    for number in client.. {
                        if Instant::now() > until {
                            break;
                        }
                        let started = Instant::now();
                        connection.data(&points[number % points.len()])?;
                        longest = longest.max(micros(started) / 1000.0);
                    }
                    Ok(longest)
                })
            })
            .collect();
        thread::sleep(OUTAGE / 3);
        happens()?;
        let mut longest: f64 = 0.0;
        for client in clients {
            longest = longest.max(client.join().unwrap_or(Ok(f64::NAN))?);
        }
        Ok(longest)
    })
}

fn micros(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e6
}

/// A store in memory; `None` if none is installed.
fn start_store() -> Result<Option<ServerProcess>> {
    let address = free_address()?;
    for program in PROGRAMS {
        if Command::new(program).arg("--version").output().is_err() {
            continue;
        }
        let mut command = Command::new(program);
        command.args([
            "--port",
            &address.port().to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]);
        return ServerProcess::start_at(&mut command, address, "store.log").map(Some);
    }
    Ok(None)
}

fn signal(process: u32, signal: &str) -> Result<()> {
    let sent = Command::new("kill").args([signal, &process.to_string()]).status();
    sent.map(drop).map_err(BenchError::io("stop the store"))
}
