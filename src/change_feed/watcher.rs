//! Looks for new marks while requests wait for changes, and wakes these requests.
//!
//! One task does that for all requests of the server, on one connection to the primary. A look compares two snapshots, as a page of
//! changes does. So it misses no commit, however late that comes. Marks of transactions that still run are not read.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{self, Instant, MissedTickBehavior};
use tokio_postgres::{Client, Error};

use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::connect;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(200);

/// The time until the next look after one that failed.
const RETRY: Duration = Duration::from_secs(1);

/// How long connecting and looking may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long the connection is kept while no request waits.
const IDLE: Duration = Duration::from_secs(5);

/// The two tables with the marks of a feed, as they are written in SQL.
pub(crate) type Marks = [String; 2];

/// Wakes requests that wait for changes.
#[derive(Debug)]
pub(crate) struct Watcher {
    database: DatabaseAddress,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The feeds that somebody waits for.
    feeds: BTreeMap<Marks, watch::Sender<()>>,
    is_running: bool,
}

/// Changes of a feed that somebody waits for.
#[derive(Debug)]
pub(crate) struct AwaitedChanges(watch::Receiver<()>);

impl Watcher {
    /// Looks at this database, while somebody waits.
    pub(crate) fn new(database: DatabaseAddress) -> Self {
        Self { database, state: Mutex::default() }
    }

    /// How many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.state().feeds.values().map(watch::Sender::receiver_count).sum()
    }

    /// Waits for changes of a feed.
    pub(crate) fn subscribe(self: &Arc<Self>, marks: Marks) -> AwaitedChanges {
        let mut state = self.state();
        let feed = state.feeds.entry(marks).or_insert_with(|| watch::Sender::new(()));
        let changes = AwaitedChanges(feed.subscribe());
        if !mem::replace(&mut state.is_running, true) {
            tokio::spawn(Arc::clone(self).run());
        }
        changes
    }

    async fn run(self: Arc<Self>) {
        let mut interval = time::interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut client, mut seen) = (None, BTreeMap::new());
        let mut needed = Instant::now();
        loop {
            interval.tick().await;
            let feeds = self.awaited();
            seen.retain(|marks, _| feeds.contains(marks));
            if feeds.is_empty() {
                if needed.elapsed() > IDLE && self.stop() {
                    return;
                }
                continue;
            }
            needed = Instant::now();
            let looked = time::timeout(TIMEOUT, self.look(&mut client, &feeds, &mut seen)).await;
            if !matches!(looked, Ok(Ok(()))) {
                // The connection may be in any state, and the next look must not depend on it.
                client = None;
                seen.clear();
                time::sleep(RETRY).await;
            }
        }
    }

    /// Looks for marks of these feeds, and wakes who waits for them. `seen` has the snapshot of each feed's last look. Without one, there
    /// may have been changes.
    async fn look(
        &self,
        client: &mut Option<Client>,
        feeds: &[Marks],
        seen: &mut BTreeMap<Marks, String>,
    ) -> Result<(), Error> {
        let connected = match client.take().filter(|client| !client.is_closed()) {
            Some(connected) => connected,
            None => connect(self.database.for_role(Role::Changes)).await?,
        };
        let client = client.insert(connected);
        for marks in feeds {
            let row = client.query_one(&statement(marks), &[&seen.get(marks)]).await?;
            if row.try_get(1)?
                && let Some(feed) = self.state().feeds.get(marks)
            {
                feed.send_replace(());
            }
            seen.insert(marks.clone(), row.try_get(0)?);
        }
        Ok(())
    }

    /// The feeds that somebody waits for. The others are forgotten.
    fn awaited(&self) -> Vec<Marks> {
        let mut state = self.state();
        state.feeds.retain(|_, feed| feed.receiver_count() > 0);
        state.feeds.keys().cloned().collect()
    }

    /// Whether no request waits. The next one that does starts another task.
    fn stop(&self) -> bool {
        let mut state = self.state();
        state.is_running = !state.feeds.is_empty();
        !state.is_running
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AwaitedChanges {
    /// Changes that are visible now count as seen. Call it before the feed is read.
    pub(crate) fn forget(&mut self) {
        self.0.mark_unchanged();
    }

    /// Completes when there may be changes that came since [`AwaitedChanges::forget`].
    pub(crate) async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            // The sender lasts as long as this.
            std::future::pending::<()>().await;
        }
    }
}

/// The present snapshot, and whether it shows marks that an earlier one (`$1`) did not. A standby cannot tell which transactions run: all
/// from the oldest on may.
fn statement([direct, indirect]: &Marks) -> String {
    format!(
        "SELECT now::text, last IS NULL OR EXISTS (
             SELECT
             FROM (
                 SELECT pg_snapshot_xip(last) AS xid
                 UNION ALL
                 SELECT number::text::xid8
                 FROM generate_series(pg_snapshot_xmax(last)::text::bigint, pg_snapshot_xmax(now)::text::bigint - 1) AS number
             ) AS ended
             WHERE pg_visible_in_snapshot(ended.xid, now) AND (
                 (SELECT TRUE FROM {direct} AS mark WHERE mark.xid = ended.xid LIMIT 1)
                 OR (SELECT TRUE FROM {indirect} AS mark WHERE mark.xid = ended.xid LIMIT 1)
             )
         )
         FROM (
             SELECT
                 CASE WHEN pg_is_in_recovery()
                      THEN concat(pg_snapshot_xmin(current), ':', pg_snapshot_xmin(current), ':')::pg_snapshot
                      ELSE current END AS now,
                 $1::text::pg_snapshot AS last
             FROM pg_current_snapshot() AS current
         ) AS taken"
    )
}
