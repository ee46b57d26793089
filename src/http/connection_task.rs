//! Serves one connection within its time-outs, until either side ends it.

use std::future;
use std::mem;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::TryFutureExt;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time;

use crate::http::connection::open_connections::ConnectionPlace;
use crate::http::connection::{Connection, ConnectionWait, Timeouts};
use crate::http::handler::{ArrivedRequest, Current, Handler};
use crate::http::head_limits::MAX_HEAD_BYTES;
use crate::http::hyper_io::ConnectionIo;
use crate::http::hyper_io::quiet_waker::quiet_waker;
use crate::http::listener_kind::ListenerKind;
use crate::http::socket::stream::Stream;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::metrics::instrument::Counted;

/// Requests that an HTTP/2 client may have in flight on one connection.
const MAX_STREAMS: u32 = 100;

/// Bytes of a response that hyper takes before the client has read others.
const MAX_SEND_BUFFER: usize = 64 << 10;

/// How often the server pings an HTTP/2 client, and how long the client may take to answer.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// How long, and how many bytes, the server reads from a client after the last response.
const DRAIN_TIME: Duration = Duration::from_secs(2);
const MAX_DRAINED_BYTES: usize = 16 << 20;

/// hyper's settings.
pub(crate) fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // `ConnectionIo` has the time-out for heads. `max_headers` is left at its default, because hyper allocates for every head
    // where it is set, even to the same number.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX))
        .max_concurrent_streams(MAX_STREAMS)
        .max_send_buf_size(MAX_SEND_BUFFER)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

/// The task that serves one connection.
pub(crate) struct ConnectionTask<H> {
    pub(crate) builder: Arc<auto::Builder<TokioExecutor>>,
    pub(crate) current: Arc<Current<H>>,
    /// The handler when the connection was accepted, which has its time-outs.
    pub(crate) handler: Arc<H>,
    pub(crate) listener: ListenerKind,
    pub(crate) connection: Arc<Connection>,
    /// The address of the other end.
    pub(crate) peer: IpAddr,
    /// Becomes true when the server is asked to stop.
    pub(crate) stopping: watch::Receiver<bool>,
    /// Counts against the connection limits until the task ends.
    pub(crate) place: ConnectionPlace,
    /// Counts among the open connections until the task ends.
    pub(crate) counted: Counted,
}

/// Why a connection is no longer served.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionEnd {
    /// Either side is done with it.
    Done,
    /// Another connection needs its place.
    Shed,
}

impl<H: Handler> ConnectionTask<H> {
    /// Serves the connection.
    pub(crate) async fn run(mut self, stream: Stream) {
        stream.send_at_once();
        let Some(stream) = self.encrypted(stream).await else { return };
        let (io, unread) =
            ConnectionIo::new(stream, Arc::clone(&self.connection), Arc::clone(&self.handler), self.listener);
        let end = self.serve(io).await;
        if let Ok(unread) = unread.await {
            if self.connection.is_broken() {
                unread.reset();
            } else if end == ConnectionEnd::Done {
                drain(unread).await;
            }
        }
        drop((self.place, self.counted));
    }

    /// The stream, over TLS where clients are served so. `None` if the client does not complete the handshake in the time that
    /// it has for a head, or if its place is needed.
    async fn encrypted(&mut self, stream: Stream) -> Option<Stream> {
        let tls = match self.listener {
            ListenerKind::Public => self.handler.http().tls.as_ref().map(|tls| Arc::clone(&tls.config)),
            ListenerKind::Admin => None,
        };
        let Some(tls) = tls else { return Some(stream) };
        tokio::select! {
            shaken = time::timeout(self.handler.http().options.header_timeout, stream.encrypted(tls)) => {
                shaken.ok()?.inspect_err(|error| emit(&Event::HandshakeFailed { error })).ok()
            }
            () = self.connection.until_ended() => None,
            _ = self.stopping.wait_for(|stopping| *stopping) => None,
        }
    }

    async fn serve(&mut self, io: ConnectionIo<H>) -> ConnectionEnd {
        let service = service_fn({
            let (current, connection) = (Arc::clone(&self.current), Arc::clone(&self.connection));
            let is_draining = Arc::clone(&self.handler.http().is_draining);
            let (listener, peer) = (self.listener, self.peer);
            move |request: Request<Incoming>| {
                let is_http2 = request.version() == Version::HTTP_2;
                let mut in_flight = connection.begin();
                in_flight.ends_connection = request.version() == Version::HTTP_10;
                // Boxed, because hyper moves what it gets several times, and this is large.
                let responding = Box::pin(current.get().respond(ArrivedRequest { listener, peer, in_flight, request }));
                let (connection, is_draining) = (Arc::clone(&connection), Arc::clone(&is_draining));
                responding.map_ok(move |mut response| {
                    // Otherwise a client could send a request while its idle connection is being closed at the end.
                    match is_draining.load(Ordering::Relaxed) {
                        true if is_http2 => connection.leave(),
                        true => drop(response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"))),
                        false => {}
                    }
                    response
                })
            }
        });
        let builder = Arc::clone(&self.builder);
        let mut serving = Box::pin(builder.serve_connection(TokioIo::new(io), service));
        let options = &self.handler.http().options;
        let timeouts = Timeouts { idle: options.idle_timeout, write: options.write_timeout };
        let connection = &self.connection;
        let mut closing = false;
        let waker = future::poll_fn(|context| Poll::Ready(quiet_waker(context.waker()))).await;
        loop {
            tokio::select! {
                // Nothing to report: most connections are ended by their clients, and requests are logged by themselves.
                _ = future::poll_fn(|_| serving.as_mut().poll(&mut Context::from_waker(&waker))) => return ConnectionEnd::Done,
                () = connection.until_ended() => {
                    if connection.is_shed() {
                        return ConnectionEnd::Shed;
                    }
                    // Where the server stops, the connection is closing already when a response tells the client to leave it.
                    if !mem::replace(&mut closing, true) {
                        serving.as_mut().graceful_shutdown();
                    }
                }
                _ = self.stopping.wait_for(|stopping| *stopping), if !closing => {
                    closing = true;
                    serving.as_mut().graceful_shutdown();
                }
                () = time::sleep_until(timeouts.next_check(connection, closing)) => match connection.waiting() {
                    _ if !timeouts.expired(connection) => {}
                    ConnectionWait::ForRequest(_) if !closing => {
                        closing = true;
                        serving.as_mut().graceful_shutdown();
                    }
                    // hyper cannot end a single response, so the others on the connection get time to end.
                    ConnectionWait::ForReader(_) if !closing && connection.is_serving() => {
                        closing = true;
                        serving.as_mut().graceful_shutdown();
                    }
                    // The client was asked to close and does not, or does not read.
                    ConnectionWait::ForRequest(_) | ConnectionWait::ForReader(_) => return ConnectionEnd::Done,
                    ConnectionWait::No => {}
                },
            }
        }
    }
}

/// Reads what the client still sends, for a while. If the socket were closed with unread bytes, the system would reset
/// the connection, and the client could lose the response that says why its request was rejected.
async fn drain(mut unread: Stream) {
    let draining = async {
        // hyper does not end the writing side if it fails.
        let _ = unread.shutdown().await;
        let (mut buffer, mut left) = (vec![0; 16 << 10], MAX_DRAINED_BYTES);
        while let Ok(count @ 1..) = unread.read(&mut buffer).await {
            left = left.saturating_sub(count);
            if left == 0 {
                break;
            }
        }
    };
    let _ = time::timeout(DRAIN_TIME, draining).await;
}
