//! A load that does not wait: requests come at a rate of their own, whether or not earlier ones are answered.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{MissedTickBehavior, interval};

use super::Fault;
use super::driver::{Requests, exchange};
use super::framing::{Framing, Reader, Verdict};
use super::histogram::Histogram;

/// How often it is looked whether requests are due.
const TICK: Duration = Duration::from_millis(1);

/// How long after the last request an answer may come.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a server is to be offered.
#[derive(Debug)]
pub struct Offer {
    /// The server.
    pub address: SocketAddr,
    /// What is asked, in turn.
    pub requests: Requests,
    /// Requests a second.
    pub per_second: f64,
    /// Connections at most. What comes while all of them wait for an answer cannot be sent.
    pub connections: usize,
    /// How long requests come.
    pub time: Duration,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Requests that came.
    pub offered: u64,
    /// Those that found every connection waiting.
    pub unsent: u64,
    /// Good answers that came while requests came, and how long they took.
    pub latencies: Histogram,
    /// What the others were told, while requests came.
    pub bad: BTreeMap<String, u64>,
    /// How long those took.
    pub bad_latencies: Histogram,
}

/// Runs an offer.
pub fn run(offer: &Offer) -> Result<Outcome, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Fault::system("no runtime"))?;
    LocalSet::new().block_on(&runtime, drive(offer))
}

/// What the connections share.
#[derive(Default)]
struct Shared {
    /// Connections that wait for a request; the last to have answered is asked first.
    idle: RefCell<Vec<Rc<Notify>>>,
    /// Numbers the requests.
    next: Cell<usize>,
    ends: Cell<bool>,
    outcome: RefCell<Outcome>,
}

async fn drive(offer: &Offer) -> Result<Outcome, Fault> {
    let shared = Rc::new(Shared::default());
    let mut connections = JoinSet::new();
    for _ in 0..offer.connections {
        let stream = TcpStream::connect(offer.address).await.map_err(Fault::system("no connection"))?;
        stream.set_nodelay(true).map_err(Fault::system("no connection"))?;
        connections.spawn_local(serve(stream, offer.address, Rc::clone(&shared), Rc::clone(&offer.requests)));
    }
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The connections first say that they are idle.
    tick.tick().await;
    let began = Instant::now();
    let mut offered = 0;
    while began.elapsed() < offer.time {
        tick.tick().await;
        let due = (began.elapsed().as_secs_f64() * offer.per_second) as u64;
        while offered < due {
            offered += 1;
            match shared.idle.borrow_mut().pop() {
                Some(connection) => connection.notify_one(),
                None => shared.outcome.borrow_mut().unsent += 1,
            }
        }
    }
    let mut outcome = shared.outcome.take();
    outcome.offered = offered;
    shared.ends.set(true);
    for connection in shared.idle.take() {
        connection.notify_one();
    }
    let ended = async { while connections.join_next().await.is_some() {} };
    // Who has no answer by then gets none.
    let _ = tokio::time::timeout(PATIENCE, ended).await;
    Ok(outcome)
}

/// Sends what comes, and connects again where the server has closed.
async fn serve(mut stream: TcpStream, address: SocketAddr, shared: Rc<Shared>, requests: Requests) {
    let (mut reader, mut buffer, woken) = (Reader::new(Framing::Http), Vec::new(), Rc::new(Notify::new()));
    loop {
        shared.idle.borrow_mut().push(Rc::clone(&woken));
        woken.notified().await;
        if shared.ends.get() {
            return;
        }
        let number = shared.next.get();
        shared.next.set(number + 1);
        let asked = Instant::now();
        let request = &requests[number % requests.len()];
        let mut verdict = exchange(&mut stream, request, &mut reader, &mut buffer).await;
        // A connection that has long been idle may be closed by now, as every client knows.
        if verdict.is_err()
            && buffer.is_empty()
            && let Ok(again) = TcpStream::connect(address).await
        {
            (stream, reader) = (again, Reader::new(Framing::Http));
            verdict = exchange(&mut stream, request, &mut reader, &mut buffer).await;
        }
        if shared.ends.get() {
            return;
        }
        let took = asked.elapsed();
        let is_over = verdict.is_err() || memchr::memmem::find(&buffer, b"onnection: close").is_some();
        shared.count(verdict, took);
        if is_over {
            let Ok(again) = TcpStream::connect(address).await else { return };
            stream = again;
            reader = Reader::new(Framing::Http);
        }
    }
}

impl Shared {
    fn count(&self, verdict: Result<Verdict, Fault>, took: Duration) {
        let mut outcome = self.outcome.borrow_mut();
        let what = match verdict {
            Ok(Verdict::Good) => return outcome.latencies.add(took),
            Ok(Verdict::Bad(what)) => what,
            Err(_) => "connection closed".to_owned(),
        };
        *outcome.bad.entry(what).or_default() += 1;
        outcome.bad_latencies.add(took);
    }
}
