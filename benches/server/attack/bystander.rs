//! Who has nothing to do with the attack: a caller sends a cheap query on a connection of its own at a constant rate, and an operator
//! asks whether the server is live.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::{sleep_until, timeout};

use crate::attack::attacker::is_failure;
use crate::client::{AsyncConnection, Endpoint, Status, graphql_request};
use crate::driver::Latencies;
use crate::error::{BenchError, Result};
use crate::orderql::PATH;

/// Between two requests.
const INTERVAL: Duration = Duration::from_millis(20);

/// A response that takes longer counts as one that took so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// The caller.
#[derive(Debug, Clone)]
pub struct Bystander {
    address: SocketAddr,
    request: Vec<u8>,
}

/// What it saw.
#[derive(Debug)]
pub struct Seen {
    /// From the moment at which a request is due to the end of its response.
    pub latencies: Latencies,
    /// How many responses had each status.
    pub statuses: String,
    /// Responses with a status that no attack may cause.
    pub failures: u64,
}

/// A running measurement.
pub struct Watch(JoinHandle<Result<Seen>>);

impl Bystander {
    /// A caller with that token.
    pub fn new(address: SocketAddr, token: &str) -> Self {
        let query = "{ orders(first: 1) { edges { node { orderId } } } }";
        Self { address, request: graphql_request(PATH, Some(token), query, &json!({})) }
    }

    /// An operator who asks on the listener at that address whether the server is live.
    pub fn probe(address: SocketAddr) -> Self {
        Self { address, request: b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec() }
    }

    /// Sends requests for so long, on a thread of its own.
    pub fn watch(&self, time: Duration) -> Result<Watch> {
        let (address, request) = (self.address, self.request.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(BenchError::io("start a runtime"))?;
        Ok(Watch(thread::spawn(move || runtime.block_on(watch(address, &request, time)))))
    }
}

impl Watch {
    /// Waits for the end.
    pub fn join(self) -> Result<Seen> {
        let failed = || BenchError::Data("the bystander panicked".to_owned());
        self.0.join().map_err(|_| failed())?
    }
}

async fn watch(address: SocketAddr, request: &[u8], time: Duration) -> Result<Seen> {
    let (mut latencies, mut statuses, mut failures) = (Latencies::new()?, BTreeMap::<String, u64>::new(), 0);
    let mut connection = None;
    let began = Instant::now();
    let mut due = began;
    while due < began + time {
        sleep_until(due.into()).await;
        let status = match timeout(PATIENCE, send(&mut connection, address, request)).await {
            Ok(Ok(Status::Ok)) => "ok".to_owned(),
            Ok(Ok(Status::Error(error))) => {
                let response = connection.as_ref().map(AsyncConnection::response).unwrap_or_default();
                failures += u64::from(is_failure(&error, response));
                error
            }
            Ok(Err(_)) => {
                connection = None;
                "closed".to_owned()
            }
            Err(_) => {
                connection = None;
                "no response".to_owned()
            }
        };
        latencies.record(due.elapsed());
        *statuses.entry(status).or_default() += 1;
        // A request that is late is not followed by others that are only late because of it.
        due = (due + INTERVAL).max(Instant::now());
    }
    let statuses: Vec<_> = statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect();
    Ok(Seen { latencies, statuses: statuses.join(", "), failures })
}

async fn send(connection: &mut Option<AsyncConnection>, address: SocketAddr, request: &[u8]) -> Result<Status> {
    let open = match connection.take() {
        Some(open) => open,
        None => AsyncConnection::open(&Endpoint::Http(address)).await?,
    };
    connection.insert(open).send(request).await
}
