//! Loads a server from one thread over many connections, and records latencies in HDR histograms.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use hdrhistogram::Histogram;
use memchr::memmem;
use tokio::sync::Notify;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::client::{AsyncConnection, Endpoint, Status};
use crate::error::{BenchError, Result};

/// How often an open loop checks whether requests are due.
const TICK: Duration = Duration::from_millis(1);

/// How long connections may take to finish their last request.
const DRAIN: Duration = Duration::from_secs(10);

/// Whole requests, made beforehand and sent in turn.
pub type Requests = Rc<Vec<Vec<u8>>>;

/// When requests are sent.
#[derive(Debug, Clone, Copy)]
pub enum Arrivals {
    /// A closed loop: every connection sends its next request when it has the response to the last.
    Closed,
    /// An open loop: so many requests a second arrive whether or not earlier ones have a response. One that finds all
    /// connections busy is not sent.
    Open(f64),
}

/// What a server is loaded with.
#[derive(Debug, Clone)]
pub struct Load {
    /// The server.
    pub endpoint: Endpoint,
    /// What is sent.
    pub requests: Requests,
    /// Connections, each with one request at a time.
    pub connections: usize,
    /// When requests are sent.
    pub arrivals: Arrivals,
    /// Time before responses are recorded.
    pub warm_up: Duration,
    /// Time while they are recorded.
    pub time: Duration,
    /// Whether error responses are recorded, and closed connections opened again; otherwise the first one ends the run.
    pub tolerates_errors: bool,
}

/// Latencies in nanoseconds, from 1 µs to 100 s, to three digits.
#[derive(Debug, Clone)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// No latencies.
    pub fn new() -> Result<Self> {
        Ok(Self(Histogram::new_with_bounds(1_000, 100_000_000_000, 3)?))
    }

    /// Records a latency.
    pub fn record(&mut self, latency: Duration) {
        self.0.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds others.
    pub fn add(&mut self, others: &Self) -> Result<()> {
        self.0.add(&others.0).map_err(|error| BenchError::Data(format!("latencies cannot be added: {error}")))
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// A percentile in milliseconds.
    pub fn percentile_ms(&self, percentile: f64) -> f64 {
        self.0.value_at_percentile(percentile) as f64 / 1e6
    }
}

/// What was recorded.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// How long it was recorded.
    pub time: Duration,
    /// Requests that arrived in an open loop.
    pub offered: u64,
    /// Those of them that found all connections busy.
    pub unsent: u64,
    /// From a request's first byte to the last byte of a response without errors.
    pub latencies: Latencies,
    /// The same of error responses.
    pub error_latencies: Latencies,
    /// How many error responses came of each kind.
    pub errors: BTreeMap<String, u64>,
    /// Bytes of responses without errors.
    pub bytes: u64,
}

impl Recorded {
    fn new() -> Result<Self> {
        let (latencies, error_latencies) = (Latencies::new()?, Latencies::new()?);
        Ok(Self {
            time: Duration::ZERO,
            offered: 0,
            unsent: 0,
            latencies,
            error_latencies,
            errors: BTreeMap::new(),
            bytes: 0,
        })
    }

    /// A count as a rate per second.
    pub fn rate(&self, count: u64) -> f64 {
        count as f64 / self.time.as_secs_f64()
    }
}

/// Runs a load. Calls `edge` when recording begins, and when it ends.
pub fn run(load: &Load, edge: impl FnMut()) -> Result<Recorded> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(BenchError::io("start a runtime"))?;
    LocalSet::new().block_on(&runtime, drive(load, edge))
}

/// Runs several loads at the same time, from the same thread. Calls `edge` when recording begins, and when it ends.
pub fn run_together(loads: &[Load], edge: impl FnMut()) -> Result<Vec<Recorded>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(BenchError::io("start a runtime"))?;
    let mut edge = Some(edge);
    let loads = loads.iter().map(|load| {
        let mut edge = edge.take();
        drive(load, move || {
            if let Some(edge) = &mut edge {
                edge();
            }
        })
    });
    LocalSet::new().block_on(&runtime, try_join_all(loads))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Recording,
    Over,
}

/// What the connections share.
struct Shared {
    load: Load,
    phase: Cell<Phase>,
    /// The number of the next request.
    next: Cell<usize>,
    /// Connections of an open loop that have no request. The last to become idle is the first to be used, so that no more
    /// connections are in use than the load needs.
    idle: RefCell<Vec<Rc<Notify>>>,
    recorded: RefCell<Recorded>,
}

async fn drive(load: &Load, mut edge: impl FnMut()) -> Result<Recorded> {
    let shared = Rc::new(Shared {
        load: load.clone(),
        phase: Cell::new(Phase::WarmUp),
        next: Cell::new(0),
        idle: RefCell::default(),
        recorded: RefCell::new(Recorded::new()?),
    });
    let mut connections = JoinSet::new();
    for _ in 0..load.connections {
        let connection = AsyncConnection::open(&load.endpoint).await?;
        connections.spawn_local(use_connection(connection, Rc::clone(&shared)));
    }
    let clock = async {
        sleep(load.warm_up).await;
        edge();
        let began = Instant::now();
        shared.phase.set(Phase::Recording);
        match load.arrivals {
            Arrivals::Closed => sleep(load.time).await,
            Arrivals::Open(per_second) => shared.offer(per_second).await,
        }
        shared.phase.set(Phase::Over);
        let time = began.elapsed();
        edge();
        shared.idle.take().iter().for_each(|connection| connection.notify_one());
        time
    };
    let mut finished = std::pin::pin!(async {
        while let Some(ended) = connections.join_next().await {
            ended.map_err(|error| BenchError::io("run a connection")(error.into()))??;
        }
        Ok(())
    });
    let time = tokio::select! {
        time = clock => time,
        ended = &mut finished => {
            return ended.and(Err(BenchError::Data("the server closed all connections".to_owned())));
        }
    };
    // Responses that take longer are not recorded anyway.
    if let Ok(ended) = timeout(DRAIN, finished).await {
        ended?;
    }
    let mut recorded = shared.recorded.borrow().clone();
    recorded.time = time;
    Ok(recorded)
}

/// Sends requests until the end.
async fn use_connection(mut connection: AsyncConnection, shared: Rc<Shared>) -> Result<()> {
    let turn = Rc::new(Notify::new());
    let Load { endpoint, requests, arrivals, tolerates_errors, .. } = &shared.load;
    loop {
        if matches!(arrivals, Arrivals::Open(_)) && shared.phase.get() != Phase::Over {
            shared.idle.borrow_mut().push(Rc::clone(&turn));
            turn.notified().await;
        }
        if shared.phase.get() == Phase::Over {
            return Ok(());
        }
        let request = &requests[shared.next.replace(shared.next.get() + 1) % requests.len()];
        let sent = Instant::now();
        let mut status = connection.send(request).await;
        if !tolerates_errors {
            if let Status::Error(_) = status? {
                let response = String::from_utf8_lossy(connection.response()).into_owned();
                return Err(BenchError::Response { server: "the server".to_owned(), response });
            }
            shared.record(Ok(Status::Ok), sent.elapsed(), connection.response());
            continue;
        }
        // The server may have closed a connection that was idle for long, as clients have to expect.
        if status.is_err() && connection.response().is_empty() {
            connection = AsyncConnection::open(endpoint).await?;
            status = connection.send(request).await;
        }
        let is_closed = status.is_err() || memmem::find(connection.response(), b"onnection: close").is_some();
        shared.record(status, sent.elapsed(), connection.response());
        if is_closed {
            connection = AsyncConnection::open(endpoint).await?;
        }
    }
}

impl Shared {
    /// Gives requests to idle connections at a constant rate.
    async fn offer(&self, per_second: f64) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let began = Instant::now();
        while began.elapsed() < self.load.time {
            tick.tick().await;
            let due = (began.elapsed().as_secs_f64() * per_second) as u64;
            let mut recorded = self.recorded.borrow_mut();
            while recorded.offered < due {
                recorded.offered += 1;
                match self.idle.borrow_mut().pop() {
                    Some(connection) => connection.notify_one(),
                    None => recorded.unsent += 1,
                }
            }
        }
    }

    fn record(&self, status: Result<Status>, latency: Duration, response: &[u8]) {
        if self.phase.get() != Phase::Recording {
            return;
        }
        let mut recorded = self.recorded.borrow_mut();
        let error = match status {
            Ok(Status::Ok) => {
                recorded.latencies.record(latency);
                recorded.bytes += response.len() as u64;
                return;
            }
            Ok(Status::Error(error)) => error,
            Err(_) => "connection closed".to_owned(),
        };
        *recorded.errors.entry(error).or_default() += 1;
        recorded.error_latencies.record(latency);
    }
}

/// The 99th percentile of all callers' latencies together.
pub fn p99_ms(recorded: &[Recorded]) -> Result<f64> {
    let mut all = Latencies::new()?;
    for one in recorded {
        all.add(&one.latencies)?;
    }
    Ok(all.percentile_ms(99.0))
}
