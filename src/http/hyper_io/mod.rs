//! The bytes of a connection, between its stream and hyper. All of this module exists because hyper 1.12 lacks it, and goes
//! where hyper gets it:
//!
//! - **The time-out for heads.** hyper has one, but none for the first bytes, from which it detects the protocol, and it
//!   counts the wait for the next request as a part of its head. So it would close idle connections after
//!   `header-timeout`, whatever `idle-timeout` says.
//! - **The time-out for writes.** hyper has none. `connection` has one for the bodies of responses. This one is for all
//!   other bytes that a client does not take: heads, and HTTP/2's control frames.
//! - **A wake for each body** that there is nothing to be done for; see `quiet_waker`.
//! - **Clients that end their side** after a request, and wait for the response. hyper takes the end of their side for the end of the
//!   connection, or with `half_close` never notices that a client is gone.
//! - **JSON errors** in place of hyper's bare responses; see `bare_response`.
//! - **The unread rest.** It hands back the stream, so that the rest can be drained.

pub(crate) mod bare_response;
mod protocol;
pub(crate) mod quiet_waker;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::{self, Instant, Sleep};

use crate::http::connection::Connection;
use crate::http::handler::Handler;
use crate::http::hyper_io::bare_response::BareResponse;
use crate::http::hyper_io::protocol::Protocol;
use crate::http::listener_kind::ListenerKind;
use crate::http::metrics::{RECEIVED, SENT};
use crate::http::socket::stream::Stream;
use crate::telemetry::metrics::instrument::Counter;

/// How long a client that has ended its side is waited for while it takes no bytes: it may be gone, and only bytes that are sent show that.
const HALF_CLOSED: Duration = Duration::from_secs(2);

/// A stream as hyper reads and writes it.
#[derive(Debug)]
pub(crate) struct ConnectionIo<H> {
    /// `None` after it was handed back.
    stream: Option<Stream>,
    connection: Arc<Connection>,
    handler: Arc<H>,
    received: &'static Counter,
    sent: &'static Counter,
    protocol: Protocol,
    /// The head that is being received. Set from the start, for clients that send nothing at all.
    partial_head: Option<PartialHead>,
    header_timer: Timer,
    /// When the client ended its side, or last took bytes after that.
    ended_since: Option<Instant>,
    end_timer: Timer,
    /// Since when the client takes no bytes.
    stalled_since: Option<Instant>,
    write_timer: Timer,
    /// The rest of the response that replaces hyper's own.
    error_response: Vec<u8>,
    /// Takes the stream when hyper is done.
    unread: Option<oneshot::Sender<Stream>>,
}

/// Bytes that the client sent while no request was in flight, and that have begun none yet.
#[derive(Debug)]
struct PartialHead {
    /// The connection's last activity before them: a later one means that their request has begun.
    after: Instant,
    /// When the rest was first waited for. Most heads arrive whole, and need no look at the clock.
    since: Option<Instant>,
}

/// A timer that is reset only if its deadline has changed.
#[derive(Debug, Default)]
struct Timer(Option<Pin<Box<Sleep>>>);

impl<H: Handler> ConnectionIo<H> {
    /// Wraps the stream. The receiver yields it when hyper is done with it.
    pub(crate) fn new(
        stream: Stream,
        connection: Arc<Connection>,
        handler: Arc<H>,
        listener: ListenerKind,
    ) -> (Self, oneshot::Receiver<Stream>) {
        let (unread, receiver) = oneshot::channel();
        let partial_head = connection.idle_since().map(PartialHead::after);
        let io = Self {
            stream: Some(stream),
            connection,
            handler,
            received: RECEIVED.of((listener,)),
            sent: SENT.of((listener,)),
            protocol: Protocol::default(),
            partial_head,
            header_timer: Timer::default(),
            ended_since: None,
            end_timer: Timer::default(),
            stalled_since: None,
            write_timer: Timer::default(),
            error_response: Vec::new(),
            unread: Some(unread),
        };
        (io, receiver)
    }

    fn observe(&mut self, bytes: &[u8]) {
        self.received.add(bytes.len() as u64);
        self.protocol.observe(bytes);
        if self.protocol == Protocol::Http2 {
            // Its requests have no such heads, and hyper's pings find clients that are gone.
            self.partial_head = None;
        } else if let Some(idle_since) = self.connection.idle_since()
            && self.partial_head.as_ref().is_none_or(|head| head.after != idle_since)
        {
            self.partial_head = Some(PartialHead::after(idle_since));
        }
    }

    /// Ready if the client's time for a head is over.
    fn poll_header_timeout(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(head) = &mut self.partial_head else { return Poll::Pending };
        if self.connection.idle_since() != Some(head.after) {
            self.partial_head = None;
            return Poll::Pending;
        }
        let since = *head.since.get_or_insert_with(Instant::now);
        self.header_timer.poll(since + self.handler.http().options.header_timeout, context)
    }

    /// Ready if hyper is to see that the client has ended its side: at once, unless the client waits for the response to a whole request.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.protocol == Protocol::Http2 || !self.connection.has_sent_requests() {
            return Poll::Ready(());
        }
        let since = *self.ended_since.get_or_insert_with(Instant::now);
        self.end_timer.poll(since + HALF_CLOSED, context)
    }

    /// The bytes up to hyper's own bare response, which is the last thing that it writes. Prepares the response that
    /// replaces it.
    fn without_bare_response<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.protocol == Protocol::Http2 {
            return bytes;
        }
        match BareResponse::find(bytes) {
            Some(bare) => {
                if bare.start == 0 {
                    self.error_response = bare.replacement(&*self.handler);
                }
                &bytes[..bare.start]
            }
            None => bytes,
        }
    }

    fn poll_error_response(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.error_response.is_empty() {
            let outcome = match &mut self.stream {
                Some(stream) => Pin::new(stream).poll_write(context, &self.error_response),
                None => closed(),
            };
            let written = ready!(self.poll_write_timeout(context, outcome))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.error_response.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    /// The outcome of a write, or an error if the client has taken no bytes for too long.
    fn poll_write_timeout(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = &outcome {
            self.stalled_since = None;
            self.ended_since = self.ended_since.map(|_| Instant::now());
            self.sent.add(written.as_ref().map_or(0, |count| *count as u64));
            return outcome;
        }
        let since = *self.stalled_since.get_or_insert_with(Instant::now);
        match self.write_timer.poll(since + self.handler.http().options.write_timeout, context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// The outcome of a write after the stream was handed back.
fn closed<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
}

impl PartialHead {
    fn after(activity: Instant) -> Self {
        Self { after: activity, since: None }
    }
}

impl Timer {
    fn poll(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(time::sleep_until(deadline)));
        if sleep.deadline() != deadline {
            sleep.as_mut().reset(deadline);
        }
        sleep.as_mut().poll(context)
    }
}

impl<H> Drop for ConnectionIo<H> {
    fn drop(&mut self) {
        if let (Some(stream), Some(unread)) = (self.stream.take(), self.unread.take()) {
            // Fails if the connection's task was aborted. Then the rest is not drained.
            let _ = unread.send(stream);
        }
    }
}

impl<H: Handler> AsyncRead for ConnectionIo<H> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let Some(stream) = &mut self.stream else { return Poll::Ready(Ok(())) };
        match Pin::new(stream).poll_read(context, buf) {
            Poll::Ready(outcome) => {
                if outcome.is_ok() && buf.filled().len() == before {
                    ready!(self.poll_end(context));
                }
                self.observe(&buf.filled()[before..]);
                Poll::Ready(outcome)
            }
            Poll::Pending => match self.poll_header_timeout(context) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl<H: Handler> AsyncWrite for ConnectionIo<H> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wanted = self.without_bare_response(bytes);
        if wanted.is_empty() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let outcome = match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_write(context, wanted),
            None => closed(),
        };
        self.poll_write_timeout(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // hyper gathers heads in the first part; bodies follow.
        if let Some(first) = parts.iter().find(|part| !part.is_empty())
            && BareResponse::find(first).is_some()
        {
            return self.poll_write(context, first);
        }
        let outcome = match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            None => closed(),
        };
        self.poll_write_timeout(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ended_since.is_some() && self.connection.idle_since().is_some() {
            // The response is complete, and hyper does not look for the client's end again by itself.
            context.waker().wake_by_ref();
        }
        self.stream.as_mut().map_or_else(closed, |stream| Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_error_response(context))?;
        self.stream.as_mut().map_or_else(closed, |stream| Pin::new(stream).poll_shutdown(context))
    }
}
