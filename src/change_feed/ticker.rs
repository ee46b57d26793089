//! Writes a tick every ten seconds, and removes marks and ticks that no reader needs.
//!
//! All servers try, and the database lets one of them do it. Each has a connection of its own to the primary for that, so that queries need
//! not wait.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{self, MissedTickBehavior};
use tokio_postgres::{Client, Error};

use crate::change_feed::check;
use crate::change_feed::status::FeedStatus;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::connect;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The time between two ticks.
const INTERVAL: Duration = Duration::from_secs(10);

/// How long connecting and the work of a tick may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How many marks a statement looks at: it removes the earlier ones of their keys.
const BATCH: i32 = 1000;

/// The pause between two such statements.
const PAUSE: Duration = Duration::from_millis(20);

/// The time for them after a tick. What is left waits for the next one.
const COMPACTION: Duration = Duration::from_secs(5);

/// Writes ticks in the background until it is dropped.
#[derive(Debug)]
pub(crate) struct Ticker {
    task: JoinHandle<()>,
    status: Arc<Mutex<Option<FeedStatus>>>,
}

/// Why a tick cannot be written.
#[derive(Debug, thiserror::Error)]
enum TickError {
    /// The database reported an error, or cannot be reached.
    #[error("the database reported an error")]
    Database(#[from] Error),
    /// The database did not answer in time.
    #[error("the database did not answer within {} s", TIMEOUT.as_secs())]
    TooSlow(#[from] time::error::Elapsed),
}

impl Ticker {
    /// Writes a tick now, and every ten seconds.
    pub(crate) fn start(database: DatabaseAddress) -> Self {
        let status = Arc::default();
        let task = tokio::spawn(run(database, Arc::clone(&status)));
        Self { task, status }
    }

    /// The state of the feeds when the server last read it; `None` before.
    pub(crate) fn status(&self) -> Option<FeedStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(database: DatabaseAddress, status: Arc<Mutex<Option<FeedStatus>>>) {
    let mut interval = time::interval(INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut client = None;
    let mut is_reported = false;
    loop {
        interval.tick().await;
        let result = turn(&database, &mut client).await;
        if let Err(error) = &result {
            // The connection may be in any state.
            client = None;
            if !is_reported {
                emit(&Event::SyncTickFailed { error });
            }
        }
        is_reported = result.is_err();
        *status.lock().unwrap_or_else(PoisonError::into_inner) = result.unwrap_or_default();
    }
}

/// Does the work that is due. Returns how far the feeds are then, if the database has any.
async fn turn(database: &DatabaseAddress, client: &mut Option<Client>) -> Result<Option<FeedStatus>, TickError> {
    let connected = match client.take().filter(|client| !client.is_closed()) {
        Some(connected) => connected,
        None => time::timeout(TIMEOUT, connect(database.for_role(Role::Changes))).await??,
    };
    let connected = client.insert(connected);
    time::timeout(TIMEOUT, work(connected)).await?.map_err(TickError::from)
}

async fn work(client: &Client) -> Result<Option<FeedStatus>, Error> {
    if !check::exist(client).await? {
        return Ok(None);
    }
    let is_standby: bool = client.query_one("SELECT pg_is_in_recovery()", &[]).await?.try_get(0)?;
    let is_written =
        !is_standby && client.query_one("SELECT orderql.sync_write_tick()", &[]).await?.try_get::<_, bool>(0)?;
    let status = FeedStatus::read(client).await?;
    if is_written {
        compact(client).await?;
    }
    Ok(Some(status))
}

/// Removes marks for some seconds, and ticks.
async fn compact(client: &Client) -> Result<(), Error> {
    let end = time::Instant::now() + COMPACTION;
    for row in client.query("SELECT marks FROM orderql.sync_compaction ORDER BY marks", &[]).await? {
        let marks: String = row.try_get(0)?;
        while time::Instant::now() < end {
            let select = "SELECT is_done FROM orderql.sync_compact($1, $2)";
            if client.query_one(select, &[&marks, &BATCH]).await?.try_get(0)? {
                break;
            }
            time::sleep(PAUSE).await;
        }
    }
    client.query_one("SELECT orderql.sync_thin_ticks()", &[]).await?;
    Ok(())
}
