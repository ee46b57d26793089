//! Stores the running service's audit events: a bounded queue, and a task that empties it into the database.
//!
//! No request waits for it. While the database is unreachable or read-only, events stay in the queue and are tried again. If the
//! queue is full, further events are dropped, and the log reports how many. Every event is in the log in any case. Events that
//! strangers cause come through `audit_repeats`, which counts equal ones.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time;
use tokio_postgres::Client;

use crate::access::audit::{self, AuditEvent};
use crate::access::audit_repeats::Repeats;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::connect;
use crate::database::error::DatabaseError;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The most events that wait. Each is some hundred bytes.
const LONGEST_QUEUE: usize = 4096;

/// The most events that one statement stores.
const LARGEST_BATCH: usize = 256;

/// How often events that repeat are recorded.
const MINUTE: Duration = Duration::from_mins(1);

/// How long one attempt to write may take.
const LONGEST_WRITE: Duration = Duration::from_secs(10);

/// The pause after the first failed attempt. Every further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Stores audit events in the background.
#[derive(Clone)]
pub(crate) struct AuditWriter {
    queue: mpsc::Sender<AuditItem>,
    repeats: SharedRepeats,
    dropped: Arc<AtomicU64>,
}

#[derive(Clone, Default)]
struct SharedRepeats(Arc<Mutex<Repeats>>);

enum AuditItem {
    Event(AuditEvent),
    Rehash(Rehash),
    Finish(oneshot::Sender<()>),
}

/// A password's hash with the current parameters.
#[derive(Clone)]
pub(crate) struct Rehash {
    /// The account.
    pub(crate) user_id: String,
    /// The hash that it replaces. A hash that was stored meanwhile stays.
    pub(crate) old: Arc<str>,
    /// The new hash.
    pub(crate) new: String,
}

impl AuditWriter {
    /// Starts the task that stores events. It connects to the database at the first event.
    pub(crate) fn start(database: DatabaseAddress) -> Self {
        let (queue, items) = mpsc::channel(LONGEST_QUEUE);
        let (repeats, dropped) = (SharedRepeats::default(), Arc::new(AtomicU64::new(0)));
        tokio::spawn(write(database, items, repeats.clone(), Arc::clone(&dropped)));
        Self { queue, repeats, dropped }
    }

    /// Records an event that anybody can cause as often as they like: the first of its kind at once, the others as one
    /// event a minute. Does not wait.
    pub(crate) fn record_repeatable(&self, event: AuditEvent) {
        let first = self.repeats.lock().add(event);
        if let Some(event) = first {
            self.record(event);
        }
    }

    /// Logs the event and queues it. Does not wait.
    pub(crate) fn record(&self, event: AuditEvent) {
        event.log();
        self.enqueue(AuditItem::Event(event));
    }

    /// Queues the hash. Does not wait. If the queue is full, the next login makes the hash again.
    pub(crate) fn rehash(&self, rehash: Rehash) {
        self.enqueue(AuditItem::Rehash(rehash));
    }

    /// Records the events that were counted, and waits until all queued events are stored, for `timeout` at most.
    pub(crate) async fn finish(&self, timeout: Duration) {
        let (done, finished) = oneshot::channel();
        for event in self.repeats.lock().next_minute() {
            self.record(event);
        }
        let finishing = async {
            if self.queue.send(AuditItem::Finish(done)).await.is_ok() {
                let _ = finished.await;
            }
        };
        if time::timeout(timeout, finishing).await.is_err() {
            emit(&Event::AuditFlushTimedOut);
        }
    }

    fn enqueue(&self, item: AuditItem) {
        if self.queue.try_send(item).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl SharedRepeats {
    /// Locks the counts. A panic elsewhere cannot leave them half written, so a poisoned lock can be used.
    fn lock(&self) -> MutexGuard<'_, Repeats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for AuditWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditWriter").field("dropped", &self.dropped).finish_non_exhaustive()
    }
}

async fn write(
    database: DatabaseAddress,
    mut items: mpsc::Receiver<AuditItem>,
    repeats: SharedRepeats,
    dropped: Arc<AtomicU64>,
) {
    let mut client = None;
    let mut batch = Vec::new();
    let mut minutes = time::interval(MINUTE);
    loop {
        tokio::select! {
            count = items.recv_many(&mut batch, LARGEST_BATCH) => if count == 0 { return },
            _ = minutes.tick() => {
                let counted = repeats.lock().next_minute();
                batch.extend(counted.into_iter().inspect(AuditEvent::log).map(AuditItem::Event));
            }
        }
        let (mut events, mut rehashes, mut finished) = (Vec::new(), Vec::new(), Vec::new());
        for item in batch.drain(..) {
            match item {
                AuditItem::Event(event) => events.push(event),
                AuditItem::Rehash(rehash) => rehashes.push(rehash),
                AuditItem::Finish(done) => finished.push(done),
            }
        }
        if !events.is_empty() {
            persist(&mut client, &database, &AuditWrite::Events(&events)).await;
        }
        for rehash in &rehashes {
            persist(&mut client, &database, &AuditWrite::Rehash(rehash)).await;
        }
        match dropped.swap(0, Ordering::Relaxed) {
            0 => {}
            count => emit(&Event::AuditEventsDropped { count }),
        }
        for done in finished {
            // The caller may no longer wait.
            let _ = done.send(());
        }
    }
}

/// The rows that one statement writes.
enum AuditWrite<'a> {
    Events(&'a [AuditEvent]),
    Rehash(&'a Rehash),
}

impl AuditWrite<'_> {
    async fn run(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        match self {
            Self::Events(events) => audit::store(client, events).await,
            Self::Rehash(Rehash { user_id, old, new }) => {
                let update = "UPDATE orderql.user_account SET password_hash = $3, changed_at = now()
                              WHERE user_id = $1 AND password_hash = $2";
                client.execute(update, &[user_id, &&**old, new]).await.map(drop)
            }
        }
    }

    const fn rejected<'a>(&self, error: &'a dyn Error) -> Event<'a> {
        match self {
            Self::Events(_) => Event::AuditEventsRejected { error },
            Self::Rehash(_) => Event::PasswordHashRejected { error },
        }
    }

    const fn retried<'a>(&self, error: &'a dyn Error, pause: Duration) -> Event<'a> {
        match self {
            Self::Events(_) => Event::AuditEventsRetried { error, pause },
            Self::Rehash(_) => Event::PasswordHashRetried { error, pause },
        }
    }
}

/// Tries until it succeeds, or until the database rejects the write itself, which is logged. A database in a state in which
/// it rejects every write, such as a standby that becomes the primary, accepts it later, on a new connection.
async fn persist(client: &mut Option<Client>, database: &DatabaseAddress, write: &AuditWrite<'_>) {
    let mut pause = FIRST_PAUSE;
    loop {
        match time::timeout(LONGEST_WRITE, attempt(client, database, write)).await {
            Ok(Ok(())) => return,
            Ok(Err(error @ (DatabaseError::Statement(_) | DatabaseError::SchemaChanged(_)))) => {
                emit(&write.rejected(&error));
                return;
            }
            Ok(Err(error)) => emit(&write.retried(&error, pause)),
            Err(timeout) => emit(&write.retried(&timeout, pause)),
        }
        *client = None;
        time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(
    client: &mut Option<Client>,
    database: &DatabaseAddress,
    write: &AuditWrite<'_>,
) -> Result<(), DatabaseError> {
    let client = match client {
        Some(client) if !client.is_closed() => client,
        // Whatever keeps it from connecting: the database rejects no event by that. None of its hosts may be the primary now.
        _ => client.insert(
            connect(database.for_role(Role::Audit)).await.map_err(|error| DatabaseError::Unreachable(error.into()))?,
        ),
    };
    Ok(write.run(client).await?)
}
