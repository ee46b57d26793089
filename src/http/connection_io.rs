//! A connection's bytes: reads along for `framing`, cuts off clients that dribble a head or leave an answer unread, and
//! says something where hyper says nothing; see `malformed`.
//!
//! hyper has a time-out for heads too, but none for the first bytes, in which the protocol shows, and it counts the wait
//! for the next request as part of its head.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::time::{self, Instant, Sleep};

use crate::http::connection::{Connection, Waiting};
use crate::http::framing::Framing;
use crate::http::malformed;
use crate::http::service::Service;

/// A TCP stream under observation.
#[derive(Debug)]
pub struct ConnectionIo {
    /// Taken out when the wire is dropped.
    read: Option<OwnedReadHalf>,
    /// Shut down when it is dropped, which sends what is written.
    write: OwnedWriteHalf,
    connection: Arc<Connection>,
    service: Arc<Service>,
    framing: Framing,
    /// Since when a head is being read; from the start, for a client that says nothing at all.
    head_since: Option<Instant>,
    header_alarm: Alarm,
    /// Since when the client takes no bytes.
    stalled_since: Option<Instant>,
    write_alarm: Alarm,
    /// What is left to be sent before the end, in place of hyper's own answer.
    last_words: Vec<u8>,
    /// Where the half that reads goes when hyper is done, so that what the client still sends can be read away.
    rest: Option<oneshot::Sender<OwnedReadHalf>>,
}

/// A timer that is set anew only where its time has changed.
#[derive(Debug, Default)]
struct Alarm(Option<Pin<Box<Sleep>>>);

impl ConnectionIo {
    /// Observes the stream. What is left of it after hyper's end comes through the receiver.
    pub fn new(
        stream: TcpStream,
        connection: Arc<Connection>,
        service: Arc<Service>,
    ) -> (Self, oneshot::Receiver<OwnedReadHalf>) {
        let (read, write) = stream.into_split();
        let (rest, receiver) = oneshot::channel();
        let wire = Self {
            read: Some(read),
            write,
            connection,
            service,
            framing: Framing::new(),
            head_since: Some(Instant::now()),
            header_alarm: Alarm::default(),
            stalled_since: None,
            write_alarm: Alarm::default(),
            last_words: Vec::new(),
            rest: Some(rest),
        };
        (wire, receiver)
    }

    fn observe(&mut self, bytes: &[u8]) {
        self.framing.feed(bytes);
        if let Some(request) = self.framing.conflict() {
            self.connection.note_conflict(request);
        }
        self.head_since = match (self.framing.in_head(), self.head_since) {
            (false, _) => None,
            (true, Some(since)) => Some(since),
            (true, None) => Some(Instant::now()),
        };
    }

    /// Whether the client has used up its time for a head. A head that came early waits for the answer before it, so
    /// its time runs only while nothing else does.
    fn poll_header_timeout(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match (self.head_since, self.connection.waiting()) {
            (Some(since), Waiting::ForRequest(idle_since)) => {
                self.header_alarm.poll(since.max(idle_since) + self.service.options.header_timeout, context)
            }
            _ => Poll::Pending,
        }
    }

    /// The part of the bytes that is to be written. Of hyper's own answer, which is the last thing that it writes,
    /// nothing is.
    fn leave_out_refusal<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.framing.is_http2() {
            return bytes;
        }
        match malformed::find(bytes) {
            Some(refusal) => {
                if refusal.start == 0 {
                    self.last_words = malformed::answer(&self.service, refusal);
                }
                &bytes[..refusal.start]
            }
            None => bytes,
        }
    }

    fn poll_last_words(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.last_words.is_empty() {
            let outcome = Pin::new(&mut self.write).poll_write(context, &self.last_words);
            let written = ready!(self.poll_stalled(context, outcome))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.last_words.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_stalled<T>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stalled_since = None;
            return outcome;
        }
        let since = *self.stalled_since.get_or_insert_with(Instant::now);
        match self.write_alarm.poll(since + self.service.options.write_timeout, context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Alarm {
    fn poll(&mut self, at: Instant, context: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(time::sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(context)
    }
}

impl Drop for ConnectionIo {
    fn drop(&mut self) {
        if let (Some(read), Some(rest)) = (self.read.take(), self.rest.take()) {
            // Nobody waits for it where the connection's task was cut off.
            let _ = rest.send(read);
        }
    }
}

impl AsyncRead for ConnectionIo {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let Some(read) = &mut self.read else { return Poll::Ready(Ok(())) };
        match Pin::new(read).poll_read(context, buf) {
            Poll::Ready(outcome) => {
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

impl AsyncWrite for ConnectionIo {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.leave_out_refusal(bytes);
        if written.is_empty() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let outcome = Pin::new(&mut self.write).poll_write(context, written);
        self.poll_stalled(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // hyper gathers heads in the first part; bodies follow.
        if let Some(first) = parts.iter().find(|part| !part.is_empty())
            && malformed::find(first).is_some()
        {
            return self.poll_write(context, first);
        }
        let outcome = Pin::new(&mut self.write).poll_write_vectored(context, parts);
        self.poll_stalled(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.write.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_last_words(context))?;
        Pin::new(&mut self.write).poll_shutdown(context)
    }
}
