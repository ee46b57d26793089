//! The state of one connection, shared by its task, its I/O and its requests: what each request in flight waits for, and
//! since when; and what it holds in memory. `open_connections` limits how many there are,
//! and `outgoing_body` is a response's body on its way to the client.

pub(crate) mod open_connections;
pub(crate) mod outgoing_body;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::http::memory_budget::{ConnectionMemory, MemoryExhausted};

/// A client that makes no progress with a request for so long is slow.
const SLOW: Duration = Duration::from_secs(1);

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    state: Mutex<State>,
    /// Notified when the connection is to be closed in favour of another one, or left by its client.
    ended: Notify,
    /// Whether it is to be closed in favour of another one.
    is_shed: AtomicBool,
    /// Whether its end would look like the end of a response that was broken off.
    is_broken: AtomicBool,
    /// Whether the client is to use another connection for further requests.
    is_left: AtomicBool,
    memory: ConnectionMemory,
}

#[derive(Debug)]
struct State {
    /// The requests in flight, each at an index of its own that is used again after its end.
    requests: Vec<Option<RequestProgress>>,
    /// When a request last began or ended.
    last_activity: Instant,
}

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The client is sending its body.
    Receiving,
    /// The server is serving it.
    Serving,
    /// The client is reading the response.
    Responding,
}

/// A request's phase, and when it began or last moved on.
#[derive(Debug, Clone, Copy)]
struct RequestProgress {
    phase: Phase,
    at: Instant,
}

/// The event that the server waits for on a connection, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionWait {
    /// Not for the client: it reads every response, and a request is in service.
    No,
    /// For the next request.
    ForRequest(Instant),
    /// For the client to read more of a response: the response that it has not read for longest.
    ForReader(Instant),
}

/// Which connection is closed first where there are too many: the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShedRank {
    /// It has no request since then.
    Idle(Instant),
    /// All its requests wait for a slow client, since then or longer.
    Slow(Instant),
}

/// Memory that a request holds beside the memory that it has reserved.
pub(crate) struct FurtherMemory {
    connection: Arc<Connection>,
    bytes: usize,
    /// Bytes that its request has reserved.
    reserved: usize,
}

impl FurtherMemory {
    /// Counts this many bytes, in place of the bytes that were counted before.
    pub(crate) fn resize(&mut self, bytes: usize) -> Result<(), MemoryExhausted> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.connection.memory.add(more)?,
            None => self.connection.memory.subtract(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// The most bytes that can ever be counted.
    pub(crate) fn largest(&self) -> usize {
        self.connection.memory.largest().saturating_sub(self.reserved)
    }
}

impl Drop for FurtherMemory {
    fn drop(&mut self) {
        self.connection.memory.subtract(self.bytes);
    }
}

/// A request on its connection, until the last byte of its response is handed over.
#[derive(Debug)]
pub(crate) struct InFlightRequest {
    connection: Arc<Connection>,
    index: usize,
    /// When it began.
    pub(crate) begun: Instant,
    /// Bytes that it holds of the connection's memory.
    reserved: usize,
    /// Bytes of its body that were read.
    pub(crate) received: u64,
    /// Whether the end of the connection may be the end of the response, as in HTTP/1.0.
    pub(crate) ends_connection: bool,
}

impl Connection {
    /// A connection without requests.
    pub(crate) fn new(memory: ConnectionMemory) -> Self {
        let state = State { requests: Vec::new(), last_activity: Instant::now() };
        Self {
            state: Mutex::new(state),
            ended: Notify::new(),
            is_shed: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            is_left: AtomicBool::new(false),
            memory,
        }
    }

    /// Begins a request.
    pub(crate) fn begin(self: &Arc<Self>) -> InFlightRequest {
        let now = Instant::now();
        let mut state = self.state();
        state.last_activity = now;
        let progress = Some(RequestProgress { phase: Phase::Serving, at: now });
        let index = if let Some(index) = state.requests.iter().position(Option::is_none) {
            state.requests[index] = progress;
            index
        } else {
            state.requests.push(progress);
            state.requests.len() - 1
        };
        let connection = Arc::clone(self);
        InFlightRequest { connection, index, begun: now, reserved: 0, received: 0, ends_connection: false }
    }

    /// The event that the server waits for.
    pub(crate) fn waiting(&self) -> ConnectionWait {
        let state = self.state();
        let responding = state.in_flight().filter(|request| request.phase == Phase::Responding);
        match responding.map(|request| request.at).min() {
            Some(since) => ConnectionWait::ForReader(since),
            None if state.in_flight().next().is_some() => ConnectionWait::No,
            None => ConnectionWait::ForRequest(state.last_activity),
        }
    }

    /// When its last request began or ended, if none is in flight.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        state.in_flight().next().is_none().then_some(state.last_activity)
    }

    /// Whether requests are in flight, and the client is sending the body of none.
    pub(crate) fn has_sent_requests(&self) -> bool {
        let state = self.state();
        state.in_flight().next().is_some() && state.in_flight().all(|request| request.phase != Phase::Receiving)
    }

    /// Whether a request has no response yet.
    pub(crate) fn is_serving(&self) -> bool {
        self.state().in_flight().any(|request| request.phase != Phase::Responding)
    }

    /// Its place among the connections that may be closed in favour of another one; `None` if it may not.
    pub(crate) fn shed_rank(&self) -> Option<ShedRank> {
        let state = self.state();
        let Some(oldest) = state.in_flight().map(|request| request.at).min() else {
            return Some(ShedRank::Idle(state.last_activity));
        };
        let is_slow = |request: RequestProgress| request.phase != Phase::Serving && request.at.elapsed() >= SLOW;
        state.in_flight().all(is_slow).then_some(ShedRank::Slow(oldest))
    }

    /// Asks the connection's task to close it at once.
    pub(crate) fn shed(&self) {
        self.is_shed.store(true, Ordering::Relaxed);
        self.ended.notify_one();
    }

    /// Whether it is to be closed at once.
    pub(crate) fn is_shed(&self) -> bool {
        self.is_shed.load(Ordering::Relaxed)
    }

    /// Completes when the connection is to be closed, at once or after its requests.
    pub(crate) async fn until_ended(&self) {
        self.ended.notified().await;
    }

    /// The client is to use another connection for further requests, which is told to HTTP/2 clients alone.
    pub(crate) fn leave(&self) {
        if !self.is_left.swap(true, Ordering::Relaxed) {
            self.ended.notify_one();
        }
    }

    /// Whether an orderly end of the connection would look like the end of a response that was broken off.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn in_flight(&self) -> impl Iterator<Item = RequestProgress> {
        self.requests.iter().flatten().copied()
    }
}

/// How long the server waits for a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// For its next request.
    pub(crate) idle: Duration,
    /// For it to read more of a response.
    pub(crate) write: Duration,
}

impl Timeouts {
    /// When the client's time is over; `None` while the server does not wait for the client.
    pub(crate) fn deadline(self, connection: &Connection) -> Option<Instant> {
        match connection.waiting() {
            ConnectionWait::No => None,
            ConnectionWait::ForRequest(since) => Some(since + self.idle),
            ConnectionWait::ForReader(since) => Some(since + self.write),
        }
    }

    /// Whether the client's time is over.
    pub(crate) fn expired(self, connection: &Connection) -> bool {
        self.deadline(connection).is_some_and(|deadline| deadline <= Instant::now())
    }

    /// When to check the connection again: soon after a deadline may have passed, because deadlines change with every
    /// request. A closing connection whose deadline has passed gets a whole time-out to finish.
    pub(crate) fn next_check(self, connection: &Connection, closing: bool) -> Instant {
        let (now, time_out) = (Instant::now(), self.idle.min(self.write));
        match self.deadline(connection) {
            Some(deadline) if deadline <= now && closing => now + time_out,
            deadline => deadline.unwrap_or(now + time_out).min(now + time_out / 4),
        }
    }
}

impl InFlightRequest {
    /// The response is not complete, and never will be.
    pub(crate) fn break_off(&self) {
        if self.ends_connection {
            self.connection.is_broken.store(true, Ordering::Relaxed);
        }
    }

    /// The request enters the phase, or the client moved on in it.
    pub(crate) fn progress(&self, phase: Phase) {
        if let Some(request) = self.connection.state().requests.get_mut(self.index) {
            *request = Some(RequestProgress { phase, at: Instant::now() });
        }
    }
}

impl InFlightRequest {
    /// Counts this many more bytes as held by the request.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), MemoryExhausted> {
        self.connection.memory.add(bytes)?;
        self.reserved += bytes;
        Ok(())
    }

    /// Bytes that the request holds.
    pub(crate) fn reserved(&self) -> usize {
        self.reserved
    }

    /// The request holds this many bytes at most.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let excess = self.reserved.saturating_sub(bytes);
        self.connection.memory.subtract(excess);
        self.reserved -= excess;
    }

    /// Memory of the connection that is counted apart, until it is dropped.
    pub(crate) fn further(&self) -> FurtherMemory {
        FurtherMemory { connection: Arc::clone(&self.connection), bytes: 0, reserved: self.reserved }
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        self.shrink(0);
        let mut state = self.connection.state();
        if let Some(request) = state.requests.get_mut(self.index) {
            *request = None;
        }
        state.last_activity = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::memory_budget::MemoryBudget;

    fn connection() -> Arc<Connection> {
        Arc::new(Connection::new(MemoryBudget::new(1 << 20, 1 << 10).connection()))
    }

    #[test]
    fn waits_for_the_client_unless_requests_are_in_service() {
        let connection = connection();
        assert!(matches!(connection.waiting(), ConnectionWait::ForRequest(_)));
        let (first, second) = (connection.begin(), connection.begin());
        assert_eq!(connection.waiting(), ConnectionWait::No);
        first.progress(Phase::Responding);
        assert!(matches!(connection.waiting(), ConnectionWait::ForReader(_)), "whatever else is in service");
        assert!(connection.is_serving());
        drop(second);
        assert!(!connection.is_serving());
        drop(first);
        assert!(matches!(connection.waiting(), ConnectionWait::ForRequest(_)));
    }

    #[test]
    fn the_largest_further_memory_can_be_counted_beside_what_its_request_has_reserved() {
        let connection = connection();
        let mut request = connection.begin();
        request.reserve(500).unwrap();
        let mut further = request.further();
        let largest = further.largest();
        assert!(further.resize(largest + 1).is_err());
        assert_eq!(further.resize(largest), Ok(()));
    }

    #[test]
    fn a_stalled_response_stays_stalled_whatever_the_other_requests_do() {
        let connection = connection();
        let (stalled, other) = (connection.begin(), connection.begin());
        stalled.progress(Phase::Responding);
        let since = connection.waiting();
        other.progress(Phase::Responding);
        drop(other);
        drop(connection.begin());
        assert_eq!(connection.waiting(), since);
        stalled.progress(Phase::Responding);
        assert_ne!(connection.waiting(), since);
    }

    #[test]
    fn idle_connections_are_shed_first_and_requests_in_service_never() {
        let (busy, older, newer) = (connection(), connection(), connection());
        let _request = busy.begin();
        drop(newer.begin());
        assert_eq!(busy.shed_rank(), None);
        assert!(matches!(older.shed_rank(), Some(ShedRank::Idle(_))));
        assert!(older.shed_rank() < newer.shed_rank());
        assert!(ShedRank::Idle(Instant::now() + SLOW) < ShedRank::Slow(Instant::now()));
    }
}
