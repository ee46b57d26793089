//! The connections of an attack, and what it counts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use memchr::memmem;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::LocalSet;
use tokio::time::timeout;

use crate::client::{AsyncConnection, Status};
use crate::error::{BenchError, Result};

/// The most resident memory that the server may ever have.
pub const MAX_MEMORY_MIB: f64 = 256.0;

/// Where the attacks come from. The bystander has another address of this machine.
pub const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// The window of an HTTP/2 client that reads nothing.
pub const UNREAD: u32 = 0;

/// Who attacks what.
#[derive(Debug)]
pub struct Attacker {
    /// The server.
    pub address: SocketAddr,
    /// Where connections come from.
    pub source: IpAddr,
    /// A token of a user with the default limits.
    pub token: String,
    /// How long it attacks.
    pub time: Duration,
    /// What it counts.
    pub tally: Tally,
}

/// Requests and responses.
#[derive(Debug, Default)]
pub struct Tally(RefCell<Counts>);

#[derive(Debug, Default)]
struct Counts {
    requests: u64,
    failures: u64,
    statuses: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts a request.
    pub fn request(&self) {
        self.0.borrow_mut().requests += 1;
    }

    /// Counts a response, or what came in its place.
    pub fn response(&self, status: impl Into<String>) {
        *self.0.borrow_mut().statuses.entry(status.into()).or_default() += 1;
    }

    /// Counts a response with a status that no attack may cause.
    pub fn failure(&self) {
        self.0.borrow_mut().failures += 1;
    }

    /// Requests that were sent.
    pub fn requests(&self) -> u64 {
        self.0.borrow().requests
    }

    /// Responses with a status that no attack may cause.
    pub fn failures(&self) -> u64 {
        self.0.borrow().failures
    }

    /// How many responses had each status.
    pub fn statuses(&self) -> String {
        let counts = self.0.borrow();
        let statuses = counts.statuses.iter().map(|(status, count)| format!("{status}: {count}"));
        statuses.collect::<Vec<_>>().join(", ")
    }
}

/// Whether no attack may cause the response: 5xx, but not 503 with `Retry-After`. Nor 504: a query may take too long.
pub fn is_failure(status: &str, response: &[u8]) -> bool {
    let is_refusal = status.starts_with("503") && memmem::find(response, b"retry-after: ").is_some();
    status.starts_with('5') && !is_refusal && !status.starts_with("504")
}

impl Attacker {
    /// Runs so many copies of a client at the same time, until the time is over. A client that ends early is started again.
    pub fn run_clients(&self, count: usize, client: impl AsyncFn(usize) -> Result<()>) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(BenchError::io("start a runtime"))?;
        let client = &client;
        let again = |number| async move {
            loop {
                if client(number).await.is_err() {
                    self.tally.response("closed");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        };
        let clients = futures_util::future::join_all((0..count).map(again));
        // The time is always over before the clients are.
        let _ = LocalSet::new().block_on(&runtime, async { timeout(self.time, clients).await });
        Ok(())
    }

    /// Opens a connection.
    pub async fn connect(&self) -> Result<TcpStream> {
        let failed = || BenchError::io("connect to the server");
        let socket = TcpSocket::new_v4().map_err(failed())?;
        socket.bind(SocketAddr::new(self.source, 0)).map_err(failed())?;
        let stream = socket.connect(self.address).await.map_err(failed())?;
        stream.set_nodelay(true).map_err(failed())?;
        Ok(stream)
    }

    /// Sends one request after the other, each made anew.
    pub async fn send_all(&self, request: impl Fn() -> Vec<u8>) -> Result<()> {
        let mut connection = AsyncConnection::over_http(self.connect().await?);
        loop {
            self.tally.request();
            match connection.send(&request()).await? {
                Status::Ok => self.tally.response("200"),
                Status::Error(status) => {
                    if is_failure(&status, connection.response()) {
                        self.tally.failure();
                    }
                    self.tally.response(status);
                }
            }
        }
    }

    /// Opens an HTTP/2 connection, on which the server may send so many bytes of each response before they are read.
    pub async fn connect_http2(&self, window: u32) -> Result<SendRequest<Bytes>> {
        let stream = self.connect().await?;
        let mut builder = h2::client::Builder::new();
        let builder = builder.initial_window_size(window).max_concurrent_reset_streams(0);
        let (client, connection) = builder.handshake(stream).await.map_err(broken)?;
        tokio::task::spawn_local(connection);
        Ok(client)
    }

    /// Counts the status of a response over HTTP/2.
    pub fn count<B>(&self, response: &hyper::Response<B>) {
        let status = response.status().as_u16();
        let has_retry_after = response.headers().contains_key("retry-after");
        if status >= 500 && status != 504 && !(status == 503 && has_retry_after) {
            self.tally.failure();
        }
        self.tally.response(status.to_string());
    }
}

/// The error of a broken HTTP/2 connection.
pub fn broken(error: h2::Error) -> BenchError {
    BenchError::io("use a connection any more")(std::io::Error::other(error))
}
