//! Connections that many requests share, each with many statements on its way. A message to PostgreSQL, and a wake-up of its process,
//! then serve several requests; and so does an execution, if requests of the same text of few rows wait for one.
//!
//! Only statements that promise little work share a connection, because each waits for the statements before it. They are never
//! cancelled, since that could hit another request's statement: they end by themselves, or after a second. Planning a statement
//! takes longer than running it, so a text is prepared here only when it has come back, and while nothing else is on the way.
//! Until then it runs on a connection of its own. A text whose rows turn out to have many bytes does so for a while.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use tokio::task::AbortHandle;

use crate::byte_lru::ByteLru;
use crate::database::connection::batch_queue::{BatchQueue, MAX_MEMBERS, PreparedText};
use crate::database::connection::batches::{self, BatchTurn};
use crate::database::connection::lock_waits::LockWatch;
use crate::database::connection::pooled_connections::PooledConnections;
use crate::database::connection::shared_connection::{
    BatchStatement, Prepared, SharedConnection, StatementForm, StatementLoad,
};
use crate::database::connection::shared_turn::SharedTurn;
use crate::database::error::DatabaseError;

/// How often a text has to come before it is prepared here.
const USES: u32 = 3;

/// How many texts are counted.
const COUNTED_TEXTS: usize = 10_000;

/// How long a text whose rows had many bytes is not prepared here.
const EXCLUSION: Duration = Duration::from_mins(1);

/// Connections that many requests share.
#[derive(Debug, Clone)]
pub(in crate::database) struct SharedConnections(Arc<ConnectionSet>);

#[derive(Debug)]
struct ConnectionSet {
    /// Opens the connections.
    pool: PooledConnections,
    locks: LockWatch,
    slots: Vec<Slot>,
    /// The texts that are not prepared everywhere, by their keys.
    uses: Mutex<ByteLru<u64, TextUse>>,
    /// Whether a statement is being prepared on one of the connections.
    is_preparing: AtomicBool,
    /// The requests that wait for an execution to end.
    queue: Arc<BatchQueue>,
    /// The task that runs them, from the first connection on.
    batches: Mutex<Option<AbortHandle>>,
}

/// What is known of a text that is not prepared everywhere.
#[derive(Debug, Clone, Copy)]
enum TextUse {
    /// How often it came.
    Came(u32),
    /// Its rows had many bytes. Until then it is not prepared.
    Excluded(Instant),
}

/// The place of a connection.
#[derive(Debug, Default)]
struct Slot(ArcSwapOption<SharedConnection>);

/// A text, and a hash of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementText<'a> {
    pub(crate) sql: &'a str,
    pub(crate) key: u64,
    /// The most rows that it examines.
    pub(crate) examined: u64,
    /// Whether it returns so few rows that several requests may share an execution.
    pub(crate) has_few_rows: bool,
}

/// A request's place on the shared connections.
pub(in crate::database) enum SharedPlace {
    /// Its statement is sent by itself.
    Single(SharedTurn),
    /// It waits for an execution that serves others, too.
    Batched(BatchTurn),
}

impl SharedConnections {
    /// So many connections, which this pool opens when they are needed.
    pub(in crate::database) fn new(pool: PooledConnections, locks: LockWatch, connections: usize) -> Self {
        Self(Arc::new(ConnectionSet {
            pool,
            locks,
            slots: std::iter::repeat_with(Slot::default).take(connections).collect(),
            uses: Mutex::new(ByteLru::new(COUNTED_TEXTS)),
            is_preparing: AtomicBool::new(false),
            queue: Arc::default(),
            batches: Mutex::default(),
        }))
    }

    /// How many connections are open, and how many of these have statements on their way.
    pub(in crate::database) fn open_and_used(&self) -> (usize, usize) {
        let connections = self.0.slots.iter().filter_map(Slot::connection);
        connections.fold((0, 0), |(open, used), connection| (open + 1, used + usize::from(connection.is_used())))
    }

    /// Whether the statement is prepared on some connection.
    pub(in crate::database) fn has(&self, text: StatementText<'_>) -> bool {
        let mut connections = self.0.slots.iter().filter_map(Slot::connection);
        connections.any(|connection| connection.prepared(text.key, text.sql).is_some())
    }

    /// A place on the connection with the fewest statements on their way, of those that have prepared this one. If all have enough on
    /// their way, and its rows are few, a place in its next execution.
    pub(in crate::database) fn try_take(&self, text: StatementText<'_>) -> Option<SharedPlace> {
        let shared = &self.0;
        let places = shared.places_of(text.key, text.sql);
        if places.len() < shared.slots.len()
            && shared.has_come_back(text.key)
            && let Some(lacking) = (0..shared.slots.len()).find(|slot| places.iter().all(|place| place.slot != *slot))
        {
            shared.prepare(lacking, text, StatementForm::Single);
        }
        if text.has_few_rows {
            if !shared.queue.has(text.key)
                && let Some(place) = best(&places, StatementLoad::Execution)
            {
                return Some(SharedPlace::Single(place.turn(StatementLoad::Execution)));
            }
            let unprepared = |place: &&PreparedPlace| matches!(place.prepared.batch, BatchStatement::Unprepared);
            if let Some(place) = places.iter().find(unprepared) {
                shared.prepare(place.slot, text, StatementForm::Batch);
            }
            let may_wait =
                |place: &&PreparedPlace| place.prepared.batch.usable().is_some() && !place.connection.is_paused();
            if let Some(place) = places.iter().find(may_wait) {
                let Prepared { sql, statement, .. } = &*place.prepared;
                let prepared = PreparedText { key: text.key, sql: Arc::clone(sql) };
                let turn = BatchTurn::new(&shared.queue, prepared, text.examined, statement.clone());
                return Some(SharedPlace::Batched(turn));
            }
        }
        best(&places, StatementLoad::Pipelined).map(|place| SharedPlace::Single(place.turn(StatementLoad::Pipelined)))
    }

    /// Closes a statement wherever it is prepared.
    pub(in crate::database) fn forget(&self, text: StatementText<'_>) {
        self.0.slots.iter().filter_map(Slot::connection).for_each(|connection| connection.forget(text.key));
    }

    /// The rows of a statement had many bytes: it runs on connections of its own for a while.
    pub(in crate::database) fn exclude(&self, text: StatementText<'_>) {
        let excluded = TextUse::Excluded(Instant::now() + EXCLUSION);
        self.0.uses.lock().unwrap_or_else(PoisonError::into_inner).insert(text.key, excluded, 1);
        self.forget(text);
    }
}

/// A connection that has prepared a statement.
struct PreparedPlace {
    slot: usize,
    connection: Arc<SharedConnection>,
    prepared: Arc<Prepared>,
}

impl PreparedPlace {
    /// The right to run the statement of one request there.
    fn turn(&self, load: StatementLoad) -> SharedTurn {
        SharedTurn::begin(Arc::clone(&self.connection), self.prepared.statement.clone(), load)
    }
}

/// The place with the fewest statements on their way, of those that take one more.
fn best(places: &[PreparedPlace], load: StatementLoad) -> Option<&PreparedPlace> {
    let with_room = places.iter().filter_map(|place| Some((place.connection.room(load)?, place)));
    with_room.min_by_key(|(in_flight, _)| *in_flight).map(|(_, place)| place)
}

impl ConnectionSet {
    /// Where the statement is prepared.
    fn places_of(&self, key: u64, sql: &str) -> Vec<PreparedPlace> {
        let slots = self.slots.iter().enumerate();
        let places = slots.filter_map(|(slot, connection)| {
            let connection = connection.connection()?;
            Some(PreparedPlace { slot, prepared: connection.prepared(key, sql)?, connection })
        });
        places.collect()
    }

    /// Whether a text has come often enough to be prepared.
    fn has_come_back(&self, key: u64) -> bool {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_come_back = false;
        let is_known = uses.update(&key, |text| {
            match text {
                TextUse::Came(uses) => {
                    *uses = uses.saturating_add(1);
                    has_come_back = *uses >= USES;
                }
                TextUse::Excluded(until) if Instant::now() < *until => {}
                TextUse::Excluded(_) => *text = TextUse::Came(1),
            }
            1
        });
        if !is_known {
            uses.insert(key, TextUse::Came(1), 1);
        }
        has_come_back
    }

    /// Prepares a statement on the connection of a slot, which is opened if there is none, when nothing else is on its way there. Does
    /// nothing if another statement is being prepared.
    fn prepare(self: &Arc<Self>, slot: usize, StatementText { key, sql, .. }: StatementText<'_>, form: StatementForm) {
        if self.is_preparing.swap(true, Ordering::Relaxed) {
            return;
        }
        let (shared, text) = (Arc::clone(self), PreparedText { key, sql: sql.into() });
        tokio::spawn(async move {
            // If that fails, the statement runs on a connection of its own, which says why.
            if let Ok(connection) = shared.open(slot).await {
                connection.prepare(text, form).await;
            }
            shared.is_preparing.store(false, Ordering::Relaxed);
        });
    }

    /// The connection of a slot.
    async fn open(self: &Arc<Self>, slot: usize) -> Result<Arc<SharedConnection>, DatabaseError> {
        let slot = &self.slots[slot];
        if let Some(connection) = slot.connection() {
            return Ok(connection);
        }
        let connection = Arc::new(SharedConnection::open(&self.pool, &self.locks, &self.queue).await?);
        slot.0.store(Some(Arc::clone(&connection)));
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.get_or_insert_with(|| {
            tokio::spawn(run_batches(Arc::downgrade(self), Arc::clone(&self.queue))).abort_handle()
        });
        Ok(connection)
    }

    /// Runs the requests that wait, as far as connections have room for their executions.
    fn run_waiting(&self) {
        let mut without_room = Vec::new();
        while let Some(text) = self.queue.first_text(&without_room) {
            let places = self.places_of(text.key, &text.sql);
            let Some(PreparedPlace { connection, prepared, .. }) = best(&places, StatementLoad::Execution) else {
                if places.is_empty() {
                    // The connections were lost, or the statement was closed. Each request runs on a connection of its own.
                    self.queue.take_all(&text).fail(DatabaseError::Batch);
                } else {
                    without_room.push(text);
                }
                continue;
            };
            let several = prepared.batch.usable();
            let most = if several.is_some() { MAX_MEMBERS } else { 1 };
            let batch = self.queue.take(&text, prepared.statement.params(), most);
            let statement = match (several, batch.members().len()) {
                (_, 0) => {
                    // The types of its parameters have changed.
                    self.queue.take_all(&text).fail(DatabaseError::Batch);
                    continue;
                }
                (Some(statement), 2..) => statement,
                _ => &prepared.statement,
            };
            let turn = SharedTurn::begin(Arc::clone(connection), statement.clone(), StatementLoad::Execution);
            tokio::spawn(batches::run(turn, batch, text.key, prepared.statement.clone()));
        }
    }
}

impl Drop for ConnectionSet {
    fn drop(&mut self) {
        let batches = self.batches.get_mut().unwrap_or_else(PoisonError::into_inner);
        batches.take().iter().for_each(AbortHandle::abort);
    }
}

/// Runs the requests that wait, whenever an execution has ended.
async fn run_batches(shared: Weak<ConnectionSet>, queue: Arc<BatchQueue>) {
    loop {
        queue.changed().await;
        let Some(shared) = shared.upgrade() else { return };
        shared.run_waiting();
    }
}

impl Slot {
    fn connection(&self) -> Option<Arc<SharedConnection>> {
        self.0.load_full().filter(|connection| !connection.is_lost())
    }
}
