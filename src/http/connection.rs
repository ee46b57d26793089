//! The state of one connection, shared by its task, its I/O and its requests: how many requests are in flight, and since
//! when the server has been waiting for the client.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Requests without a response yet.
    in_service: usize,
    /// Responses whose last byte is not handed over yet.
    responding: usize,
    /// When a request last began or ended, or the client last took a part of a response.
    last_activity: Instant,
    /// Requests begun since the connection was opened.
    begun: u64,
    /// The index of the request whose framing is ambiguous. hyper closes the connection after it.
    ambiguous: Option<u64>,
}

/// What the server waits for on a connection, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Not for the client: a request is in service.
    No,
    /// For the next request.
    ForRequest(Instant),
    /// For the client to read more of a response.
    ForReader(Instant),
}

/// A request on its connection, until the last byte of its response is handed over.
#[derive(Debug)]
pub(crate) struct InFlightRequest {
    connection: Arc<Connection>,
    responding: bool,
    /// Whether the request has `Content-Length` beside `Transfer-Encoding`, which hyper hides from the service.
    pub ambiguous: bool,
}

impl Connection {
    /// A connection without requests.
    pub(crate) fn new() -> Self {
        let state = State { in_service: 0, responding: 0, last_activity: Instant::now(), begun: 0, ambiguous: None };
        Self { state: Mutex::new(state) }
    }

    /// Begins a request.
    pub(crate) fn begin(self: &Arc<Self>) -> InFlightRequest {
        let mut state = self.state();
        let ambiguous = state.ambiguous == Some(state.begun);
        state.begun += 1;
        state.in_service += 1;
        state.last_activity = Instant::now();
        InFlightRequest { connection: Arc::clone(self), responding: false, ambiguous }
    }

    /// What the server waits for.
    pub(crate) fn waiting(&self) -> Waiting {
        let state = self.state();
        match *state {
            State { in_service: 1.., .. } => Waiting::No,
            State { responding: 1.., .. } => Waiting::ForReader(state.last_activity),
            _ => Waiting::ForRequest(state.last_activity),
        }
    }

    /// Marks the request with this index, from 0, as ambiguous. It has not begun yet.
    pub(crate) fn mark_ambiguous(&self, request: u64) {
        self.state().ambiguous = Some(request);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long the server waits for a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// For its next request.
    pub idle: Duration,
    /// For it to read more of a response.
    pub write: Duration,
}

impl Timeouts {
    /// When the client's time is over; `None` while the server does not wait for the client.
    pub(crate) fn deadline(self, connection: &Connection) -> Option<Instant> {
        match connection.waiting() {
            Waiting::No => None,
            Waiting::ForRequest(since) => Some(since + self.idle),
            Waiting::ForReader(since) => Some(since + self.write),
        }
    }

    /// Whether the client's time is over.
    pub(crate) fn expired(self, connection: &Connection) -> bool {
        self.deadline(connection).is_some_and(|deadline| deadline <= Instant::now())
    }

    /// When to check the connection again. While a request is in service the deadline is unknown, so the next check is a
    /// full time-out away. A closing connection whose deadline has passed gets the same time to finish.
    pub(crate) fn next_check(self, connection: &Connection, closing: bool) -> Instant {
        let now = Instant::now();
        match self.deadline(connection) {
            Some(deadline) if deadline > now || !closing => deadline,
            _ => now + self.idle.min(self.write),
        }
    }
}

impl Default for Connection {
    fn default() -> Self {
        Self::new()
    }
}

impl InFlightRequest {
    /// The response is ready. From now on the server waits for the client to read it.
    pub(crate) fn respond(&mut self) {
        if !self.responding {
            self.responding = true;
            let mut state = self.connection.state();
            state.in_service -= 1;
            state.responding += 1;
            state.last_activity = Instant::now();
        }
    }

    /// The client took a part of the response.
    pub(crate) fn part_taken(&self) {
        self.connection.state().last_activity = Instant::now();
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        let mut state = self.connection.state();
        if self.responding {
            state.responding -= 1;
        } else {
            state.in_service -= 1;
        }
        state.last_activity = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_the_client_only_while_no_request_is_in_service() {
        let connection = Arc::new(Connection::new());
        assert!(matches!(connection.waiting(), Waiting::ForRequest(_)));
        let (mut first, second) = (connection.begin(), connection.begin());
        first.respond();
        first.respond();
        assert_eq!(connection.waiting(), Waiting::No);
        drop(second);
        assert!(matches!(connection.waiting(), Waiting::ForReader(_)));
        drop(first);
        assert!(matches!(connection.waiting(), Waiting::ForRequest(_)));
    }

    #[test]
    fn only_the_marked_request_is_ambiguous() {
        let connection = Arc::new(Connection::new());
        connection.mark_ambiguous(1);
        let ambiguous: Vec<_> = (0..3).map(|_| connection.begin().ambiguous).collect();
        assert_eq!(ambiguous, [false, true, false]);
    }
}
