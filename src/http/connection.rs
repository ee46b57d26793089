//! What a connection's task, its wire and its requests know of each other: what runs on it, and since when nothing does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// One client's connection.
#[derive(Debug)]
pub struct Connection {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Requests whose answer is being worked out.
    working: usize,
    /// Answers that are not handed over to their last byte.
    answering: usize,
    /// When a request last began, ended, or a part of an answer was taken.
    moved: Instant,
    /// Requests that were begun.
    begun: u64,
    /// The number of the request whose framing is ambiguous.
    conflict: Option<u64>,
}

/// What a connection is waiting for its client to do, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Nothing: a request is being worked on.
    Not,
    /// The next request.
    ForRequest(Instant),
    /// To take more of an answer.
    ForReader(Instant),
}

/// A request on its connection, until the last byte of its answer is handed over.
#[derive(Debug)]
pub struct InFlightRequest {
    connection: Arc<Connection>,
    answering: bool,
    /// Whether hyper hid a `Content-Length` beside a `Transfer-Encoding`.
    pub ambiguous: bool,
}

impl Connection {
    /// A connection on which nothing has happened yet.
    pub fn new() -> Self {
        let state = State { working: 0, answering: 0, moved: Instant::now(), begun: 0, conflict: None };
        Self { state: Mutex::new(state) }
    }

    /// A request begins.
    pub fn begin(self: &Arc<Self>) -> InFlightRequest {
        let mut state = self.state();
        let ambiguous = state.conflict == Some(state.begun);
        state.begun += 1;
        state.working += 1;
        state.moved = Instant::now();
        InFlightRequest { connection: Arc::clone(self), answering: false, ambiguous }
    }

    /// What it waits for.
    pub fn waiting(&self) -> Waiting {
        let state = self.state();
        match *state {
            State { working: 1.., .. } => Waiting::Not,
            State { answering: 1.., .. } => Waiting::ForReader(state.moved),
            _ => Waiting::ForRequest(state.moved),
        }
    }

    /// Notes the number of the request whose framing is ambiguous.
    pub fn note_conflict(&self, request: u64) {
        self.state().conflict = Some(request);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a client may be waited for.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For its next request.
    pub for_request: Duration,
    /// For it to take more of an answer.
    pub for_reader: Duration,
}

impl Timeouts {
    /// When the client's time is up; `None` while it is not the client who is waited for.
    pub fn ends(self, connection: &Connection) -> Option<Instant> {
        match connection.waiting() {
            Waiting::Not => None,
            Waiting::ForRequest(since) => Some(since + self.for_request),
            Waiting::ForReader(since) => Some(since + self.for_reader),
        }
    }

    /// Whether the client's time is up.
    pub fn is_over(self, connection: &Connection) -> bool {
        self.ends(connection).is_some_and(|end| end <= Instant::now())
    }

    /// When to look after the connection next. While a request is worked on there is no telling, so a full time-out on;
    /// and so for a connection that was told to close, because there is nothing more to tell it.
    pub fn look_again(self, connection: &Connection, closing: bool) -> Instant {
        let now = Instant::now();
        match self.ends(connection) {
            Some(end) if end > now || !closing => end,
            _ => now + self.for_request.min(self.for_reader),
        }
    }
}

impl Default for Connection {
    fn default() -> Self {
        Self::new()
    }
}

impl InFlightRequest {
    /// The answer is worked out; now it is up to the client to take it.
    pub fn answer(&mut self) {
        if !self.answering {
            self.answering = true;
            let mut state = self.connection.state();
            state.working -= 1;
            state.answering += 1;
            state.moved = Instant::now();
        }
    }

    /// The client took a part of the answer.
    pub fn taken(&self) {
        self.connection.state().moved = Instant::now();
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        let mut state = self.connection.state();
        if self.answering {
            state.answering -= 1;
        } else {
            state.working -= 1;
        }
        state.moved = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_waits_for_its_client_only_while_nothing_is_worked_on() {
        let connection = Arc::new(Connection::new());
        assert!(matches!(connection.waiting(), Waiting::ForRequest(_)));
        let (mut first, second) = (connection.begin(), connection.begin());
        first.answer();
        first.answer();
        assert_eq!(connection.waiting(), Waiting::Not);
        drop(second);
        assert!(matches!(connection.waiting(), Waiting::ForReader(_)));
        drop(first);
        assert!(matches!(connection.waiting(), Waiting::ForRequest(_)));
    }

    #[test]
    fn only_the_request_in_conflict_is_ambiguous() {
        let connection = Arc::new(Connection::new());
        connection.note_conflict(1);
        let ambiguous: Vec<_> = (0..3).map(|_| connection.begin().ambiguous).collect();
        assert_eq!(ambiguous, [false, true, false]);
    }
}
