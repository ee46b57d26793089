//! Accepts connections, serves each within its limits and time-outs, and shuts down gracefully.
//!
//! At the connection limit the server accepts nothing more: further clients wait in the system's queue, where they cost
//! nothing. When the server is asked to stop, it stops accepting, closes idle connections at once and busy ones after
//! their requests. Connections that are still open at the end of the grace time are cut off.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time;

use crate::http::connection::{Connection, Timeouts, Waiting};
use crate::http::connection_io::ConnectionIo;
use crate::http::head_limits::MAX_HEAD_BYTES;
use crate::http::options::Options;
use crate::http::origin::Peer;
use crate::http::request_handler::handle;
use crate::http::service::Service;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Requests that an HTTP/2 client may have in flight on one connection.
const MAX_STREAMS: u32 = 100;

/// How often the server pings an HTTP/2 client, and how long the client may take to answer.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// The pause after the system could not hand out a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long, and how many bytes, the server reads from a client after the last response.
const DRAIN_TIME: Duration = Duration::from_secs(2);
const MAX_DRAINED_BYTES: usize = 16 << 20;

/// A bound TCP listener.
#[derive(Debug)]
pub(crate) struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

/// The address cannot be bound.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub(crate) struct ListenError {
    address: SocketAddr,
    source: io::Error,
}

impl Listener {
    /// Binds the address.
    pub(crate) async fn bind(address: SocketAddr) -> Result<Self, ListenError> {
        let failed = |source| ListenError { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// The address, with the port that the system chose if the configured one is 0.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is ready, and then until all requests have ended or the grace time is over.
    pub(crate) async fn serve(self, service: Arc<Service>, options: &Options, stop: impl Future<Output = ()>) {
        emit(&Event::Listening { address: self.address });
        let (stopping, _) = watch::channel(false);
        let mut connections = JoinSet::new();
        let accepting = accept(self.listener, &mut connections, &stopping, service, options);
        tokio::select! {
            () = accepting => {}
            () = stop => {}
        }

        while connections.try_join_next().is_some() {}
        emit(&Event::Stopping { open_connections: connections.len(), grace: options.grace });
        stopping.send_replace(true);
        let all_ended = async { while connections.join_next().await.is_some() {} };
        if time::timeout(options.grace, all_ended).await.is_err() {
            emit(&Event::ConnectionsCutOff { open_connections: connections.len() });
            connections.shutdown().await;
        }
    }
}

async fn accept(
    listener: TcpListener,
    connections: &mut JoinSet<()>,
    stopping: &watch::Sender<bool>,
    service: Arc<Service>,
    options: &Options,
) {
    let permits = Arc::new(Semaphore::new(options.connection_limit));
    let builder = Arc::new(builder());
    // The semaphore is never closed, so this never ends.
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let stream = next_stream(&listener).await;
        let task = ConnectionTask {
            builder: Arc::clone(&builder),
            service: Arc::clone(&service),
            options: options.clone(),
            stopping: stopping.subscribe(),
            _permit: permit,
        };
        connections.spawn(task.run(stream));
    }
}

async fn next_stream(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // The client disconnected before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                emit(&Event::AcceptFailed { error: &error });
                time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // `ConnectionIo` has the time-out for heads. `max_headers` is left at its default, because hyper allocates for every head
    // where it is set, even to the same number.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX))
        .max_concurrent_streams(MAX_STREAMS)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

/// The task that serves one connection.
struct ConnectionTask {
    builder: Arc<auto::Builder<TokioExecutor>>,
    service: Arc<Service>,
    options: Options,
    /// Becomes true when the server is asked to stop.
    stopping: watch::Receiver<bool>,
    /// Counts against the connection limit until the task ends.
    _permit: OwnedSemaphorePermit,
}

impl ConnectionTask {
    async fn run(mut self, stream: TcpStream) {
        // Responses are written whole or in large parts, so waiting for more bytes would only delay their end.
        let _ = stream.set_nodelay(true);
        let peer = stream.peer_addr().ok().map(|address| Peer(address.ip()));
        let connection = Arc::new(Connection::new());
        let (io, unread) = ConnectionIo::new(stream, Arc::clone(&connection), Arc::clone(&self.service));
        let service = service_fn({
            let (service, connection) = (Arc::clone(&self.service), Arc::clone(&connection));
            move |mut request: Request<Incoming>| {
                if let Some(peer) = peer {
                    request.extensions_mut().insert(peer);
                }
                handle(Arc::clone(&service), connection.begin(), request)
            }
        });
        let builder = Arc::clone(&self.builder);
        let mut serving = Box::pin(builder.serve_connection(TokioIo::new(io), service));
        let timeouts = Timeouts { idle: self.options.idle_timeout, write: self.options.write_timeout };
        let mut closing = false;
        loop {
            tokio::select! {
                // Nothing to report: most connections are ended by their clients, and requests are logged by themselves.
                _ = serving.as_mut() => break,
                _ = self.stopping.wait_for(|stopping| *stopping), if !closing => {
                    closing = true;
                    serving.as_mut().graceful_shutdown();
                }
                () = time::sleep_until(timeouts.next_check(&connection, closing)) => match connection.waiting() {
                    _ if !timeouts.expired(&connection) => {}
                    Waiting::ForRequest(_) if !closing => {
                        closing = true;
                        serving.as_mut().graceful_shutdown();
                    }
                    // The client was asked to close and does not, or does not read.
                    Waiting::ForRequest(_) | Waiting::ForReader(_) => break,
                    Waiting::No => {}
                },
            }
        }
        drop(serving);
        if let Ok(unread) = unread.await {
            drain(unread).await;
        }
    }
}

/// Reads what the client still sends, for a while. If the socket were closed with unread bytes, the system would reset
/// the connection, and the client could lose the response that says why its request was rejected.
async fn drain(mut unread: OwnedReadHalf) {
    let draining = async {
        let (mut buffer, mut left) = (vec![0; 16 << 10], MAX_DRAINED_BYTES);
        while let Ok(count @ 1..) = Pin::new(&mut unread).read(&mut buffer).await {
            left = left.saturating_sub(count);
            if left == 0 {
                break;
            }
        }
    };
    let _ = time::timeout(DRAIN_TIME, draining).await;
}
