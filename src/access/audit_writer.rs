//! The way of events from the running service to the database: a bounded queue and one task that empties it.
//!
//! Nobody waits for it. While the database is away events are kept and tried again; where the queue is full they are left
//! out, and the log says how many. Every event is in the log in any case.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time;
use tokio_postgres::{Client, Config, Error};

use crate::access::audit::{self, Entry};
use crate::database::connect::connect;
use crate::telemetry::emit;
use crate::telemetry::event::{AccessWrite, Event};

/// Events that wait at the most. Each is some hundred bytes.
const LONGEST_QUEUE: usize = 4096;

/// Events that one statement stores at the most.
const LARGEST_BATCH: usize = 256;

/// How long one attempt to store may take.
const LONGEST_WRITE: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Takes events and stores them.
#[derive(Clone)]
pub struct AuditWriter {
    queue: mpsc::Sender<Item>,
    lost: Arc<AtomicU64>,
}

enum Item {
    Event(Entry),
    Rehash(Rehash),
    Finish(oneshot::Sender<()>),
}

/// A password's hash in today's form.
#[derive(Clone)]
pub struct Rehash {
    /// Whose.
    pub user_id: String,
    /// The hash that it replaces, and none that was stored meanwhile.
    pub old: Arc<str>,
    /// The new one.
    pub new: String,
}

impl AuditWriter {
    /// Begins. The database is asked for nothing before the first event.
    pub fn start(database: Config) -> Self {
        let (queue, items) = mpsc::channel(LONGEST_QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        tokio::spawn(write(database, items, Arc::clone(&lost)));
        Self { queue, lost }
    }

    /// Logs the event, and has it stored. Returns at once.
    pub fn tell(&self, entry: Entry) {
        entry.log();
        self.hand_over(Item::Event(entry));
    }

    /// Has the hash stored. Returns at once; what is left out is made again with the next login.
    pub fn rehash(&self, rehash: Rehash) {
        self.hand_over(Item::Rehash(rehash));
    }

    /// Waits until what was told so far is stored, but no longer than `patience`.
    pub async fn finish(&self, patience: Duration) {
        let (done, finished) = oneshot::channel();
        let finishing = async {
            if self.queue.send(Item::Finish(done)).await.is_ok() {
                let _ = finished.await;
            }
        };
        if time::timeout(patience, finishing).await.is_err() {
            emit(&Event::AuditFlushTimedOut);
        }
    }

    fn hand_over(&self, item: Item) {
        if self.queue.try_send(item).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for AuditWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditWriter").field("lost", &self.lost).finish_non_exhaustive()
    }
}

async fn write(database: Config, mut items: mpsc::Receiver<Item>, lost: Arc<AtomicU64>) {
    let mut client = None;
    let mut batch = Vec::new();
    while items.recv_many(&mut batch, LARGEST_BATCH).await > 0 {
        let (mut entries, mut rehashes, mut finished) = (Vec::new(), Vec::new(), Vec::new());
        for item in batch.drain(..) {
            match item {
                Item::Event(entry) => entries.push(entry),
                Item::Rehash(rehash) => rehashes.push(rehash),
                Item::Finish(done) => finished.push(done),
            }
        }
        persist(&mut client, &database, &Write::Events(&entries)).await;
        for rehash in &rehashes {
            persist(&mut client, &database, &Write::Rehash(rehash)).await;
        }
        match lost.swap(0, Ordering::Relaxed) {
            0 => {}
            count => emit(&Event::AuditEventsDropped { count }),
        }
        for done in finished {
            // Who asked may have given up waiting.
            let _ = done.send(());
        }
    }
}

/// What one statement writes.
enum Write<'a> {
    Events(&'a [Entry]),
    Rehash(&'a Rehash),
}

impl Write<'_> {
    async fn run(&self, client: &Client) -> Result<(), Error> {
        match self {
            Self::Events([]) => Ok(()),
            Self::Events(entries) => audit::store(client, entries).await,
            Self::Rehash(Rehash { user_id, old, new }) => {
                let update = "UPDATE orderql.user_account SET password_hash = $3, changed_at = now()
                              WHERE user_id = $1 AND password_hash = $2";
                client.execute(update, &[user_id, &&**old, new]).await.map(drop)
            }
        }
    }

    const fn reported_as(&self) -> AccessWrite {
        match self {
            Self::Events(_) => AccessWrite::AuditEvents,
            Self::Rehash(_) => AccessWrite::PasswordHash,
        }
    }
}

/// Tries until it succeeds, or the database refuses for good, which is logged.
async fn persist(client: &mut Option<Client>, database: &Config, write: &Write<'_>) {
    let mut pause = FIRST_PAUSE;
    loop {
        match time::timeout(LONGEST_WRITE, attempt(client, database, write)).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) if is_final(&error) => {
                emit(&Event::AccessWriteFailed { write: write.reported_as(), error: &error });
                return;
            }
            Ok(Err(error)) => emit(&Event::AccessWriteRetried { write: write.reported_as(), error: &error, pause }),
            Err(timeout) => emit(&Event::AccessWriteRetried { write: write.reported_as(), error: &timeout, pause }),
        }
        *client = None;
        time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(client: &mut Option<Client>, database: &Config, write: &Write<'_>) -> Result<(), Error> {
    let client = match client {
        Some(client) if !client.is_closed() => client,
        _ => client.insert(connect(database).await?),
    };
    write.run(client).await
}

/// Whether the same would be refused again: the server said so, and it was not about its own state (class 57, such as a
/// shutdown, 53, such as too many connections, or 55, such as a database that takes no connections).
fn is_final(error: &Error) -> bool {
    error.code().is_some_and(|code| !["57", "53", "55"].iter().any(|class| code.code().starts_with(class)))
}
