//! Accepts connections, serves them within their limits, and ends them in order.
//!
//! At the connection limit nothing more is accepted: further clients wait in the system's queue, where they cost nothing.
//! When the server is told to stop, it stops accepting; idle connections are closed, busy ones after what runs on them,
//! and what is left at the end of the grace time is cut off.

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

use crate::http::Options;
use crate::http::connection::{Connection, Timeouts, Waiting};
use crate::http::connection_io::ConnectionIo;
use crate::http::framing::LONGEST_HEAD;
use crate::http::origin::Peer;
use crate::http::service::{Service, handle};
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Requests that an HTTP/2 client may have running on one connection.
const MOST_STREAMS: u32 = 100;

/// How often an HTTP/2 client is asked whether it is still there, and how long it may take to say so.
const PING_EVERY: Duration = Duration::from_secs(30);
const PONG_WITHIN: Duration = Duration::from_secs(20);

/// How long to wait when the system has no connection to give, before asking again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long, and how much, is read away after an answer that was given before the request was read.
const LINGER: Duration = Duration::from_secs(2);
const MOST_LINGERED: usize = 16 << 20;

/// A bound address.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct ListenError {
    address: SocketAddr,
    source: io::Error,
}

impl Listener {
    /// Binds the address.
    pub async fn bind(address: SocketAddr) -> Result<Self, ListenError> {
        let failed = |source| ListenError { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// The address, with the port that the system chose where it was told to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is ready, and then until what runs has ended or the grace time is over.
    pub async fn serve(self, service: Arc<Service>, options: &Options, stop: impl Future<Output = ()>) {
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
    let places = Arc::new(Semaphore::new(options.connection_limit));
    let builder = Arc::new(builder());
    // The semaphore is never closed, so there always is a place in the end.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let stream = next(&listener).await;
        let task = Task {
            builder: Arc::clone(&builder),
            service: Arc::clone(&service),
            options: options.clone(),
            stopping: stopping.subscribe(),
            _place: place,
        };
        connections.spawn(task.run(stream));
    }
}

async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // The client went away before it was accepted.
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
    // The wire keeps the time for heads; see there. A number of headers that is told, even hyper's own, has room made for
    // it anew with each head.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(LONGEST_HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(LONGEST_HEAD).unwrap_or(u32::MAX))
        .max_concurrent_streams(MOST_STREAMS)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PONG_WITHIN);
    builder
}

/// What a connection's task needs.
struct Task {
    builder: Arc<auto::Builder<TokioExecutor>>,
    service: Arc<Service>,
    options: Options,
    /// Tells that the server is to stop.
    stopping: watch::Receiver<bool>,
    /// The connection's place among those that are served; free again when the task ends.
    _place: OwnedSemaphorePermit,
}

impl Task {
    async fn run(mut self, stream: TcpStream) {
        // Answers are written whole or in large parts; to wait for more of them only delays their end.
        let _ = stream.set_nodelay(true);
        let peer = stream.peer_addr().ok().map(|address| Peer(address.ip()));
        let connection = Arc::new(Connection::new());
        let (wire, rest) = ConnectionIo::new(stream, Arc::clone(&connection), Arc::clone(&self.service));
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
        let mut serving = Box::pin(builder.serve_connection(TokioIo::new(wire), service));
        let patience = Timeouts { for_request: self.options.idle_timeout, for_reader: self.options.write_timeout };
        let mut closing = false;
        loop {
            tokio::select! {
                // How a connection ended is its client's business; requests have their own lines in the log.
                _ = serving.as_mut() => break,
                _ = self.stopping.wait_for(|stopping| *stopping), if !closing => {
                    closing = true;
                    serving.as_mut().graceful_shutdown();
                }
                () = time::sleep_until(patience.look_again(&connection, closing)) => match connection.waiting() {
                    _ if !patience.is_over(&connection) => {}
                    Waiting::ForRequest(_) if !closing => {
                        closing = true;
                        serving.as_mut().graceful_shutdown();
                    }
                    // It was told to close and does not, or it does not read.
                    Waiting::ForRequest(_) | Waiting::ForReader(_) => break,
                    Waiting::Not => {}
                },
            }
        }
        drop(serving);
        if let Ok(rest) = rest.await {
            read_away(rest).await;
        }
    }
}

/// Reads what the client still sends, for a while. If the socket were closed over unread bytes, the system would reset
/// the connection, and the client would lose the answer that tells it why.
async fn read_away(mut rest: OwnedReadHalf) {
    let reading = async {
        let (mut buffer, mut left) = (vec![0; 16 << 10], MOST_LINGERED);
        while let Ok(count @ 1..) = Pin::new(&mut rest).read(&mut buffer).await {
            left = left.saturating_sub(count);
            if left == 0 {
                break;
            }
        }
    };
    let _ = time::timeout(LINGER, reading).await;
}
