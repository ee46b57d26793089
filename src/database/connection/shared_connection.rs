//! A connection that many requests share, and the statements that are prepared on it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::{ClientWrapper, Object};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::Statement;

use crate::byte_lru::ByteLru;
use crate::database::connection::backend::Backend;
use crate::database::connection::batch_queue::{BatchQueue, PreparedText};
use crate::database::connection::batch_text::batch_text;
use crate::database::connection::lock_waits::LockWatch;
use crate::database::connection::pooled_connections::PooledConnections;
use crate::database::connection::statement_texts::{MAX_PLANS, plan_bytes};
use crate::database::error::DatabaseError;

/// The most statements on their way on one connection.
pub(crate) const MAX_IN_FLIGHT: usize = 16;

/// The most executions of texts of few rows on their way on one connection: while PostgreSQL runs one, the next is there. What comes
/// meanwhile runs together.
pub(crate) const MAX_EXECUTIONS: usize = 2;

/// After this time a statement ends, in milliseconds. It waits for a lock: then it is run on a connection of its own, and the statements
/// behind it go on.
const STATEMENT_TIMEOUT: u32 = 1000;

/// How long no statement may end on a connection on which each ends after a second: then it does not answer any more, as if a firewall had
/// forgotten it, and another one takes its place.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How long a statement waits to be prepared for those on their way to end.
const PREPARE_WAIT: Duration = Duration::from_secs(2);

/// How long requests of a text run one by one after PostgreSQL has rejected several together.
const REST: Duration = Duration::from_secs(5);

/// A connection that many requests share. Its slot holds it, and each turn of a statement on its way there. A lost connection leaves its
/// slot to another one, and is closed when its last turn ends.
///
/// No lock is held while a statement runs. The counts and flags are atomic, and a reader may see an old one: then a connection gets one
/// statement more than it should, or fewer.
pub(super) struct SharedConnection {
    /// Taken out of the pool for good: the pool does not count it, and does not reset it after each request.
    pub(super) client: ClientWrapper,
    /// Each turn copies it, to observe how long its statement waits for locks. It does not keep the connection open.
    pub(super) backend: Backend,
    /// The statements that are prepared here, by a hash of their texts; the least recently used are closed when the plans take too much of
    /// the server's memory. A turn has its own copy of the statement, which stays valid when the entry goes.
    statements: Mutex<ByteLru<u64, Arc<Prepared>>>,
    /// How many statements are on their way: of all turns that have begun and not ended.
    in_flight: AtomicUsize,
    /// How many of these are executions of texts of few rows. Few may run at once: other requests of such texts wait in the queue.
    executions: AtomicUsize,
    /// Grows with each answer. While it grows, the connection is there.
    answers: AtomicUsize,
    /// Whether it takes no statements, because one is to be prepared on it: planning takes longer than running, and statements behind it
    /// would wait. Only the task that prepares sets it, and resets it.
    is_paused: AtomicBool,
    /// Whether it cannot be trusted any more. It never becomes false again.
    is_lost: AtomicBool,
    /// Notified when nothing is on the way, for the task that prepares a statement.
    idle: Notify,
    /// The requests that wait for an execution to end, on any connection of the pool. The connection wakes them.
    queue: Arc<BatchQueue>,
}

/// A statement that is prepared. Its copies share one statement on the server, which is closed when the last copy is dropped.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// Compared with the text of a request, because two texts can have the same hash.
    pub(super) sql: Arc<str>,
    /// For one request.
    pub(super) statement: Statement,
    /// For several requests, prepared later than the single one: only when requests have to wait.
    pub(super) batch: BatchStatement,
    /// What the plans of both take on the server, about. It is the entry's weight among the statements of the connection.
    bytes: usize,
}

/// The statement that runs for several requests.
#[derive(Debug, Clone)]
pub(super) enum BatchStatement {
    /// It was not needed so far.
    Unprepared,
    Prepared(Statement),
    /// PostgreSQL has rejected the values of a request: until then requests run one by one, so that one caller's value does not fail the
    /// requests of others again and again.
    Resting(Statement, Instant),
    /// The text has none, or PostgreSQL did not prepare it.
    Impossible,
}

/// What is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementForm {
    /// The statement of one request.
    Single,
    /// The one of several requests; the single one is there.
    Batch,
}

/// What a statement takes of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementLoad {
    /// It has few rows, or those of a batch.
    Execution,
    /// It is one of many on their way.
    Pipelined,
}

impl std::fmt::Debug for SharedConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedConnection").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

impl SharedConnection {
    pub(super) async fn open(
        pool: &PooledConnections,
        locks: &LockWatch,
        queue: &Arc<BatchQueue>,
    ) -> Result<Self, DatabaseError> {
        let client = Object::take(pool.get().await?);
        let set_up = format!("SET statement_timeout = {STATEMENT_TIMEOUT}");
        timeout(PATIENCE, client.batch_execute(&set_up)).await.map_err(|_| DatabaseError::Busy)??;
        Ok(Self {
            backend: Backend::of(&client, locks),
            client,
            statements: Mutex::new(ByteLru::new(MAX_PLANS)),
            in_flight: AtomicUsize::new(0),
            executions: AtomicUsize::new(0),
            answers: AtomicUsize::new(0),
            is_paused: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            idle: Notify::new(),
            queue: Arc::clone(queue),
        })
    }

    /// The statement, if it is prepared here.
    pub(super) fn prepared(&self, key: u64, sql: &str) -> Option<Arc<Prepared>> {
        self.statements().get(&key).filter(|prepared| *prepared.sql == *sql).cloned()
    }

    /// PostgreSQL has rejected an execution for several requests.
    pub(super) fn rest(&self, key: u64) {
        self.statements().update(&key, |prepared| {
            let prepared = Arc::make_mut(prepared);
            if let Some(statement) = prepared.batch.usable().cloned() {
                prepared.batch = BatchStatement::Resting(statement, Instant::now() + REST);
            }
            prepared.bytes
        });
    }

    /// Closes a statement.
    pub(super) fn forget(&self, key: u64) {
        self.statements().remove(&key);
    }

    /// Prepares a statement when nothing else is on its way.
    pub(super) async fn prepare(&self, text: PreparedText, form: StatementForm) {
        self.is_paused.store(true, Ordering::Relaxed);
        // A connection that is lost may never be idle.
        if timeout(PREPARE_WAIT, self.until_idle()).await.is_ok() {
            let preparing = async {
                match form {
                    StatementForm::Single => self.prepare_single(text).await,
                    StatementForm::Batch => self.prepare_batch(text).await,
                }
            };
            self.while_it_answers(preparing).await;
        }
        self.is_paused.store(false, Ordering::Relaxed);
        self.queue.wake();
    }

    async fn prepare_single(&self, PreparedText { key, sql }: PreparedText) {
        // An error shows on the connection of its own that the statement is run on.
        if let Ok(statement) = self.client.prepare(&sql).await {
            let bytes = plan_bytes(&sql);
            let prepared = Prepared { sql, statement, batch: BatchStatement::Unprepared, bytes };
            self.statements().insert(key, Arc::new(prepared), bytes);
        }
    }

    async fn prepare_batch(&self, PreparedText { key, sql }: PreparedText) {
        let Some(single) = self.prepared(key, &sql) else { return };
        let (mut batch, mut more) = (BatchStatement::Impossible, 0);
        if let Some(text) = batch_text(&sql, single.statement.params()) {
            match self.client.prepare(&text).await.map_err(DatabaseError::from) {
                Ok(prepared) => {
                    batch = BatchStatement::Prepared(prepared);
                    more = plan_bytes(&text);
                }
                Err(DatabaseError::Statement(_)) => {}
                // It may succeed later.
                Err(_) => return,
            }
        }
        // It may have been closed meanwhile, as out of date.
        self.statements().update(&key, |prepared| {
            let prepared = Arc::make_mut(prepared);
            prepared.batch = batch;
            prepared.bytes += more;
            prepared.bytes
        });
    }

    /// Waits for an answer for as long as any come. If the connection does not answer any more, it is lost, and there is none: a statement
    /// that waits for others that wait for locks takes longer than each of them.
    pub(super) async fn while_it_answers<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let mut answer = std::pin::pin!(answer);
        loop {
            let before = self.answers.load(Ordering::Relaxed);
            if let Ok(answer) = timeout(PATIENCE, answer.as_mut()).await {
                self.answered();
                return Some(answer);
            }
            if self.answers.load(Ordering::Relaxed) == before {
                self.lose();
                return None;
            }
        }
    }

    /// A statement has ended, by its answer.
    pub(super) fn answered(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Statements on their way, if it takes one more of this kind.
    pub(super) fn room(&self, load: StatementLoad) -> Option<usize> {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        let is_full = match load {
            StatementLoad::Execution => self.executions.load(Ordering::Acquire) >= MAX_EXECUTIONS,
            StatementLoad::Pipelined => in_flight >= MAX_IN_FLIGHT,
        };
        (!is_full && !self.is_paused()).then_some(in_flight)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed)
    }

    pub(super) fn is_used(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) > 0
    }

    /// It cannot be trusted any more. It is closed when the statements on their way there have ended.
    pub(super) fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed) || self.client.is_closed()
    }

    /// A statement is about to be sent.
    pub(super) fn begin(&self, load: StatementLoad) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.executions.fetch_add(usize::from(load == StatementLoad::Execution), Ordering::Relaxed);
    }

    /// A statement has ended.
    pub(super) fn end(&self, load: StatementLoad) {
        self.executions.fetch_sub(usize::from(load == StatementLoad::Execution), Ordering::AcqRel);
        if self.in_flight.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.idle.notify_waiters();
        }
        self.queue.wake();
    }

    async fn until_idle(&self) {
        loop {
            let mut idle = std::pin::pin!(self.idle.notified());
            idle.as_mut().enable();
            if self.in_flight.load(Ordering::Acquire) == 0 {
                return;
            }
            idle.await;
        }
    }

    fn statements(&self) -> MutexGuard<'_, ByteLru<u64, Arc<Prepared>>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BatchStatement {
    /// The statement, if it can be run.
    pub(super) fn usable(&self) -> Option<&Statement> {
        match self {
            Self::Prepared(statement) => Some(statement),
            Self::Resting(statement, until) => (Instant::now() >= *until).then_some(statement),
            Self::Unprepared | Self::Impossible => None,
        }
    }
}
