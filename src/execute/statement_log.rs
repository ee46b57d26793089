//! When the statement of a plan ran, and how many rows each of its branches returned: for the log of slow queries, for traces, and for
//! clients that ask; and what it had to wait for. What is recorded stays when the execution is given up.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::database::connection::backend::Backend;
use crate::database::connection::lock_waits::LockWait;

/// The record of a plan's statement.
#[derive(Debug, Default)]
pub struct StatementLog {
    attempts: Mutex<Attempts>,
    sent: OnceLock<Instant>,
    end: OnceLock<(Instant, Box<[u64]>)>,
}

/// The attempts to run the statement.
#[derive(Debug, Default)]
struct Attempts {
    count: u32,
    /// Since when the statement is being prepared.
    preparing: Option<Instant>,
    /// How long it was prepared before.
    prepared: Duration,
    /// Since when it runs.
    running: Option<Instant>,
    /// How long it ran before.
    ran: Duration,
    /// How many requests its last execution served.
    requests: usize,
    /// The connection that it is run on.
    backend: Option<Backend>,
    /// The observed waits for locks.
    lock_wait: Option<Arc<LockWait>>,
}

/// The waits of a statement, so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StatementWaits {
    /// To be prepared, in all attempts.
    pub(crate) prepare: Duration,
    /// From being sent to its last row, in all attempts, without what its client was waited for; `None` if it was not sent.
    pub(crate) run: Option<Duration>,
    /// For locks, while it was prepared and run; `None` if that was not observed.
    pub(crate) lock: Option<Duration>,
    /// How often it was begun once more.
    pub(crate) retries: u32,
    /// How many requests its last execution served; 0 if it has returned nothing.
    pub(crate) requests: usize,
}

/// How far a statement came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementState<'a> {
    /// It was not sent.
    Unsent,
    /// It was sent, then.
    Running(Instant),
    /// All of its rows are there.
    Done {
        /// When it was sent.
        sent: Instant,
        /// How long it took.
        time: Duration,
        /// How many rows each step has.
        rows: &'a [u64],
    },
}

impl StatementLog {
    /// How far the statement came.
    pub(crate) fn state(&self) -> StatementState<'_> {
        match (self.sent.get(), self.end.get()) {
            (None, _) => StatementState::Unsent,
            (Some(sent), None) => StatementState::Running(*sent),
            (Some(sent), Some((end, rows))) => {
                StatementState::Done { sent: *sent, time: end.duration_since(*sent), rows }
            }
        }
    }

    /// Its waits, until now if one goes on; `None` if it was not begun.
    pub(crate) fn waits(&self) -> Option<StatementWaits> {
        let attempts = self.attempts();
        Some(StatementWaits {
            prepare: attempts.prepared + attempts.preparing.map_or(Duration::ZERO, |since| since.elapsed()),
            run: self
                .sent
                .get()
                .map(|_| attempts.ran + attempts.running.map_or(Duration::ZERO, |since| since.elapsed())),
            lock: attempts.lock_wait.as_ref().and_then(|wait| wait.time()),
            retries: attempts.count.checked_sub(1)?,
            requests: attempts.requests,
        })
    }

    /// The server that it was sent to last: its host and port, or its socket.
    #[cfg(feature = "traces")]
    pub(crate) fn server(&self) -> Option<(String, Option<u16>)> {
        self.attempts().backend.as_ref()?.server()
    }

    /// It takes long: from now on its waits for locks are observed.
    pub(crate) fn observe_locks(&self) {
        let mut attempts = self.attempts();
        let wait = Arc::<LockWait>::default();
        if let Some(backend) = &attempts.backend {
            backend.watch(&wait);
        }
        attempts.lock_wait = Some(wait);
    }

    /// An attempt begins, with preparing the statement.
    pub(super) fn prepare(&self, backend: Option<Backend>, now: Instant) {
        let mut attempts = self.attempts();
        attempts.count += 1;
        attempts.end_of_preparing(now);
        attempts.preparing = Some(now);
        if let (Some(backend), Some(wait)) = (&backend, &attempts.lock_wait) {
            backend.watch(wait);
        }
        attempts.backend = backend;
    }

    /// The statement has its locks, or failed. Its execution serves this many requests.
    pub(super) fn has_locks(&self, requests: usize) {
        let mut attempts = self.attempts();
        attempts.requests = requests;
        if let Some(wait) = &attempts.lock_wait {
            wait.end();
        }
    }

    /// The statement was sent.
    pub(super) fn begin(&self, sent: Instant) {
        // A statement that is run once more is recorded from its first attempt on.
        let _ = self.sent.set(sent);
        let mut attempts = self.attempts();
        attempts.end_of_preparing(sent);
        attempts.running = Some(sent);
    }

    /// An attempt has failed, or its client is waited for.
    pub(crate) fn pause(&self, now: Instant) {
        let mut attempts = self.attempts();
        attempts.end_of_preparing(now);
        if let Some(since) = attempts.running.take() {
            attempts.ran += now.duration_since(since);
        }
    }

    /// The client waits again for what was sent.
    pub(super) fn resume(&self, now: Instant) {
        if matches!(self.state(), StatementState::Running(_)) {
            self.attempts().running.get_or_insert(now);
        }
    }

    /// All rows are there: this many of each step.
    pub(super) fn end(&self, end: Instant, rows: impl FnOnce() -> Box<[u64]>) {
        self.pause(end);
        self.end.get_or_init(|| (end, rows()));
    }

    fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempts {
    fn end_of_preparing(&mut self, now: Instant) {
        if let Some(since) = self.preparing.take() {
            self.prepared += now.duration_since(since);
        }
    }
}
