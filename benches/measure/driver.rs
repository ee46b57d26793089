//! Many connections that each ask one request after the other, from one thread: requests are bytes that were made
//! beforehand, and of answers only as much is read as tells where they end and whether they are good.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::sleep;

use super::Fault;
use super::framing::{Framing, Reader, Verdict};
use super::histogram::Histogram;

/// Whole requests, made beforehand.
pub type Requests = Rc<Vec<Vec<u8>>>;

/// Where a server is reached.
#[derive(Debug, Clone)]
pub enum Door {
    /// HTTP on loopback.
    Http(SocketAddr),
    /// PostgreSQL on its Unix socket; what is sent first on every connection, each part after the last was answered.
    Postgres(PathBuf, Requests),
}

/// What a server is to be loaded with.
#[derive(Debug)]
pub struct Load<'a> {
    /// The server.
    pub door: &'a Door,
    /// What is asked. The connections take them in turn, from different places on.
    pub requests: Requests,
    /// Connections, each with one request at a time.
    pub connections: usize,
    /// How long to ask before it counts.
    pub warm_up: Duration,
    /// How long it counts.
    pub time: Duration,
    /// Whether answers that are not good are counted, instead of ending the run.
    pub bears_bad: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How long it counted, by the clock.
    pub time: Duration,
    /// Of good answers: from the request's first byte sent to the answer's last byte read.
    pub latencies: Histogram,
    /// Of the others.
    pub bad_latencies: Histogram,
    /// The others, by what they said.
    pub bad: BTreeMap<String, u64>,
    /// Bytes of good answers.
    pub bytes: u64,
}

impl Outcome {
    /// Good answers a second.
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn per_second(&self) -> f64 {
        self.latencies.count() as f64 / self.time.as_secs_f64()
    }
}

/// Runs a load. `at` is called when it begins to count, and when that ends.
pub fn run(load: &Load<'_>, mut at: impl FnMut()) -> Result<Outcome, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Fault::system("no runtime"))?;
    LocalSet::new().block_on(&runtime, drive(load, &mut at))
}

/// What the connections share.
#[derive(Default)]
struct Shared {
    counts: Cell<bool>,
    ends: Cell<bool>,
    outcome: RefCell<Outcome>,
    bears_bad: bool,
}

async fn drive(load: &Load<'_>, at: &mut impl FnMut()) -> Result<Outcome, Fault> {
    let shared = Rc::new(Shared { bears_bad: load.bears_bad, ..Shared::default() });
    let mut connections = JoinSet::new();
    for number in 0..load.connections {
        let (shared, requests) = (Rc::clone(&shared), Rc::clone(&load.requests));
        let first = number * requests.len() / load.connections;
        match load.door {
            Door::Http(address) => {
                let stream = TcpStream::connect(address).await.map_err(Fault::system("no connection"))?;
                stream.set_nodelay(true).map_err(Fault::system("no connection"))?;
                connections.spawn_local(ask(stream, Framing::Http, shared, requests, first));
            }
            Door::Postgres(socket, greetings) => {
                let mut stream = UnixStream::connect(socket).await.map_err(Fault::system("no connection"))?;
                greet(&mut stream, greetings).await?;
                connections.spawn_local(ask(stream, Framing::Postgres, shared, requests, first));
            }
        }
    }
    let clock = async {
        sleep(load.warm_up).await;
        at();
        let began = Instant::now();
        shared.counts.set(true);
        sleep(load.time).await;
        shared.counts.set(false);
        let time = began.elapsed();
        at();
        shared.ends.set(true);
        time
    };
    let mut clock = std::pin::pin!(clock);
    let mut time = None;
    loop {
        tokio::select! {
            passed = &mut clock, if time.is_none() => time = Some(passed),
            ended = connections.join_next() => match ended {
                Some(Ok(Ok(()))) => {}
                Some(Ok(Err(fault))) => return Err(fault),
                Some(Err(error)) => return Err(Fault::System { what: "a connection".to_owned(), source: error.into() }),
                None => break,
            },
        }
    }
    let mut outcome = shared.outcome.take();
    outcome.time = time.unwrap_or_default();
    Ok(outcome)
}

/// Sends what has to come first, and waits for the answer to each.
async fn greet(stream: &mut UnixStream, greetings: &[Vec<u8>]) -> Result<(), Fault> {
    let (mut reader, mut buffer) = (Reader::new(Framing::Postgres), Vec::new());
    for greeting in greetings {
        exchange(stream, greeting, &mut reader, &mut buffer).await.and_then(|verdict| match verdict {
            Verdict::Good => Ok(()),
            Verdict::Bad(what) => Err(Fault::Answer { from: "PostgreSQL".to_owned(), what }),
        })?;
    }
    Ok(())
}

/// Asks until the end.
async fn ask(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    framing: Framing,
    shared: Rc<Shared>,
    requests: Requests,
    first: usize,
) -> Result<(), Fault> {
    let (mut reader, mut buffer) = (Reader::new(framing), Vec::with_capacity(1 << 16));
    for request in requests.iter().cycle().skip(first) {
        if shared.ends.get() {
            break;
        }
        let asked = Instant::now();
        let verdict = exchange(&mut stream, request, &mut reader, &mut buffer).await;
        let took = asked.elapsed();
        match verdict {
            Ok(Verdict::Good) if shared.counts.get() => {
                let mut outcome = shared.outcome.borrow_mut();
                outcome.latencies.add(took);
                outcome.bytes += buffer.len() as u64;
            }
            Ok(Verdict::Good) => {}
            Ok(Verdict::Bad(what)) if shared.bears_bad => shared.count_bad(what, took),
            Ok(Verdict::Bad(_)) => {
                let what = String::from_utf8_lossy(&buffer).into_owned();
                return Err(Fault::Answer { from: "the server".to_owned(), what });
            }
            Err(_) if shared.bears_bad => {
                shared.count_bad("connection closed".to_owned(), took);
                break;
            }
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

impl Shared {
    fn count_bad(&self, what: String, took: Duration) {
        if self.counts.get() {
            let mut outcome = self.outcome.borrow_mut();
            *outcome.bad.entry(what).or_default() += 1;
            outcome.bad_latencies.add(took);
        }
    }
}

/// Sends a request and reads its answer, which is in the buffer then.
pub async fn exchange(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    request: &[u8],
    reader: &mut Reader,
    buffer: &mut Vec<u8>,
) -> Result<Verdict, Fault> {
    let broken = || Fault::system("a connection broke");
    buffer.clear();
    stream.write_all(request).await.map_err(broken())?;
    loop {
        if stream.read_buf(buffer).await.map_err(broken())? == 0 {
            return Err(broken()(io::ErrorKind::UnexpectedEof.into()));
        }
        if let Some(verdict) = reader.look(buffer) {
            return Ok(verdict);
        }
    }
}
