//! Connections that many requests share, each with many statements on its way. A message to PostgreSQL, and a wake-up of its process,
//! then serve several requests.
//!
//! Only statements that promise little work share a connection, because each waits for the statements before it. They are never
//! cancelled, since that could hit another request's statement: they end by themselves, or after a second. Planning a statement
//! takes longer than running it, so a text is prepared here only when it has come back, and while nothing else is on the way.
//! Until then it runs on a connection of its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use deadpool_postgres::{ClientWrapper, Object};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio_postgres::Statement;

use crate::byte_lru::ByteLru;
use crate::database::connection::backend::Backend;
use crate::database::connection::lock_waits::LockWatch;
use crate::database::connection::pooled_connections::PooledConnections;
use crate::database::connection::rows::Rows;
use crate::database::connection::statement_texts::{MAX_PLANS, plan_bytes};
use crate::database::error::DatabaseError;
use crate::database::parameter::BinaryParameter;

/// The most statements on their way on one connection.
pub(crate) const MAX_IN_FLIGHT: usize = 16;

/// After this time a statement ends, in milliseconds. It waits for a lock: then it is run on a connection of its own, and the statements
/// behind it go on.
const STATEMENT_TIMEOUT: u32 = 1000;

/// How long a statement waits to be prepared for those on their way to end.
const PREPARE_WAIT: Duration = Duration::from_secs(2);

/// How often a text has to come before it is prepared here.
const USES: u32 = 3;

/// How many texts are counted.
const COUNTED_TEXTS: usize = 10_000;

/// Connections that many requests share.
#[derive(Debug, Clone)]
pub(in crate::database) struct SharedConnections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Opens the connections.
    pool: PooledConnections,
    locks: LockWatch,
    slots: Vec<Slot>,
    /// How often texts came that are not prepared everywhere, by their keys.
    uses: Mutex<ByteLru<u64, u32>>,
    /// Whether a statement is being prepared on one of the connections.
    is_preparing: AtomicBool,
}

/// The place of a connection.
#[derive(Debug, Default)]
struct Slot(ArcSwapOption<SharedConnection>);

struct SharedConnection {
    client: ClientWrapper,
    backend: Backend,
    statements: Mutex<ByteLru<u64, Prepared>>,
    in_flight: AtomicUsize,
    /// Whether it takes no statements, because one is to be prepared on it.
    is_paused: AtomicBool,
    /// Whether it cannot be trusted any more.
    is_lost: AtomicBool,
    /// Notified when nothing is on the way.
    idle: Notify,
}

#[derive(Debug)]
struct Prepared {
    sql: Box<str>,
    statement: Statement,
}

/// A text, and a hash of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementText<'a> {
    pub(crate) sql: &'a str,
    pub(crate) key: u64,
}

/// The right to run one statement on a shared connection.
#[derive(Debug)]
pub struct SharedTurn {
    /// `None` when the statement has ended.
    connection: Option<Arc<SharedConnection>>,
    statement: Statement,
}

impl std::fmt::Debug for SharedConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedConnection").field("in_flight", &self.in_flight).finish_non_exhaustive()
    }
}

impl SharedConnections {
    /// So many connections, which this pool opens when they are needed.
    pub(in crate::database) fn new(pool: PooledConnections, locks: LockWatch, connections: usize) -> Self {
        Self(Arc::new(Shared {
            pool,
            locks,
            slots: std::iter::repeat_with(Slot::default).take(connections).collect(),
            uses: Mutex::new(ByteLru::new(COUNTED_TEXTS)),
            is_preparing: AtomicBool::new(false),
        }))
    }

    /// How many connections are open, and how many of these have statements on their way.
    pub(in crate::database) fn open_and_used(&self) -> (usize, usize) {
        self.0.slots.iter().filter_map(Slot::connection).fold((0, 0), |(open, used), connection| {
            (open + 1, used + usize::from(connection.in_flight.load(Ordering::Relaxed) > 0))
        })
    }

    /// Whether the statement is prepared on some connection.
    pub(in crate::database) fn has(&self, text: StatementText<'_>) -> bool {
        let mut connections = self.0.slots.iter().filter_map(Slot::connection);
        connections.any(|connection| connection.with_statement(text).is_some())
    }

    /// A turn on the connection with the fewest statements on their way, of those that have prepared this one.
    pub(in crate::database) fn try_take(&self, text: StatementText<'_>) -> Option<SharedTurn> {
        let mut best: Option<(usize, SharedTurn)> = None;
        let mut lacking = None;
        for index in 0..self.0.slots.len() {
            let connection = self.0.slots[index].connection();
            let Some((connection, statement)) = connection.and_then(|connection| connection.with_statement(text))
            else {
                lacking = Some(index);
                continue;
            };
            let in_flight = connection.in_flight.load(Ordering::Relaxed);
            if in_flight < MAX_IN_FLIGHT
                && !connection.is_paused.load(Ordering::Relaxed)
                && best.as_ref().is_none_or(|(least, _)| in_flight < *least)
            {
                let turn = SharedTurn::begin(connection, statement);
                if let Some((_, other)) = best.replace((in_flight, turn)) {
                    other.finish();
                }
            }
        }
        if let Some(index) = lacking
            && self.has_come_back(text.key)
        {
            self.prepare(index, text);
        }
        best.map(|(_, turn)| turn)
    }

    /// Closes a statement wherever it is prepared.
    pub(in crate::database) fn forget(&self, text: StatementText<'_>) {
        for connection in self.0.slots.iter().filter_map(Slot::connection) {
            connection.statements().remove(&text.key);
        }
    }

    /// Whether a text has come often enough to be prepared.
    fn has_come_back(&self, key: u64) -> bool {
        let mut uses = self.0.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = 1;
        let is_known = uses.update(&key, |uses| {
            *uses = uses.saturating_add(1);
            count = *uses;
            1
        });
        if !is_known {
            uses.insert(key, 1, 1);
        }
        count >= USES
    }

    /// Prepares a statement on the connection of a slot, which is opened if there is none, when nothing else is on its way there. Does
    /// nothing if another statement is being prepared.
    fn prepare(&self, index: usize, StatementText { sql, key }: StatementText<'_>) {
        if self.0.is_preparing.swap(true, Ordering::Relaxed) {
            return;
        }
        let (shared, sql) = (Arc::clone(&self.0), Box::<str>::from(sql));
        tokio::spawn(async move {
            // If that fails, the statement runs on a connection of its own, which says why.
            if let Ok(connection) = shared.open(index).await {
                connection.prepare(key, sql).await;
            }
            shared.is_preparing.store(false, Ordering::Relaxed);
        });
    }
}

impl Shared {
    /// The connection of a slot.
    async fn open(&self, index: usize) -> Result<Arc<SharedConnection>, DatabaseError> {
        let slot = &self.slots[index];
        if let Some(connection) = slot.connection() {
            return Ok(connection);
        }
        let connection = Arc::new(SharedConnection::open(&self.pool, &self.locks).await?);
        slot.0.store(Some(Arc::clone(&connection)));
        Ok(connection)
    }
}

impl Slot {
    fn connection(&self) -> Option<Arc<SharedConnection>> {
        self.0.load_full().filter(|connection| !connection.is_lost())
    }
}

impl SharedConnection {
    async fn open(pool: &PooledConnections, locks: &LockWatch) -> Result<Self, DatabaseError> {
        let client = Object::take(pool.get().await?);
        client.batch_execute(&format!("SET statement_timeout = {STATEMENT_TIMEOUT}")).await?;
        Ok(Self {
            backend: Backend::of(&client, locks),
            client,
            statements: Mutex::new(ByteLru::new(MAX_PLANS)),
            in_flight: AtomicUsize::new(0),
            is_paused: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            idle: Notify::new(),
        })
    }

    fn statements(&self) -> MutexGuard<'_, ByteLru<u64, Prepared>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The statement, if it is prepared here.
    fn with_statement(self: Arc<Self>, text: StatementText<'_>) -> Option<(Arc<Self>, Statement)> {
        let statement = {
            let mut statements = self.statements();
            let prepared = statements.get(&text.key).filter(|prepared| *prepared.sql == *text.sql)?;
            prepared.statement.clone()
        };
        Some((self, statement))
    }

    /// Prepares a statement when nothing else is on its way.
    async fn prepare(&self, key: u64, sql: Box<str>) {
        self.is_paused.store(true, Ordering::Relaxed);
        // A connection that is lost may never be idle.
        let idle = tokio::time::timeout(PREPARE_WAIT, self.until_idle()).await;
        // An error shows on the connection of its own that the statement is run on.
        if idle.is_ok()
            && let Ok(statement) = self.client.prepare(&sql).await
        {
            let bytes = plan_bytes(&sql);
            self.statements().insert(key, Prepared { sql, statement }, bytes);
        }
        self.is_paused.store(false, Ordering::Relaxed);
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed) || self.client.is_closed()
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

    /// A statement has ended.
    fn end(&self) {
        if self.in_flight.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.idle.notify_waiters();
        }
    }
}

impl SharedTurn {
    /// A statement that counts as on its way until the turn ends.
    fn begin(connection: Arc<SharedConnection>, statement: Statement) -> Self {
        connection.in_flight.fetch_add(1, Ordering::Relaxed);
        Self { connection: Some(connection), statement }
    }

    pub(super) fn backend(&self) -> Option<Backend> {
        self.connection.as_ref().map(|connection| connection.backend.clone())
    }

    pub(super) fn statement(&self) -> &Statement {
        &self.statement
    }

    pub(super) async fn query<'p>(
        &self,
        statement: &Statement,
        parameters: impl ExactSizeIterator<Item = BinaryParameter<'p>>,
    ) -> Result<Rows<'_>, DatabaseError> {
        let connection = self.connection.as_ref().ok_or(DatabaseError::Busy)?;
        Ok(Rows::new(connection.client.query_raw(statement, parameters).await?, None))
    }

    /// The statement has ended.
    pub(super) fn finish(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.end();
        }
    }

    /// The connection cannot be trusted any more. It is closed when the statements on their way there have ended.
    pub(super) fn discard(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.is_lost.store(true, Ordering::Relaxed);
            connection.end();
        }
    }
}

impl Drop for SharedTurn {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    // The response comes after that of the statement, whose rows are discarded.
                    let _ = connection.client.check_connection().await;
                    connection.end();
                });
            }
            Err(_) => connection.end(),
        }
    }
}
