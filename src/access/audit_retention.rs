//! Removes rows of the audit trails that are older than they are to be kept.
//!
//! A few rows at a time, so that no statement holds locks or disk space for long. Servers that do it at the same time skip
//! each other's rows.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{Client, Error};

use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::connection::connect::connect;
use crate::migration::record::has_order_tables;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// How often a server looks for old rows.
const INTERVAL: Duration = Duration::from_hours(1);

/// The most rows that a statement removes.
const BATCH: i64 = 1000;

/// The pause between two statements of a server.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a connection or a statement may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A table of the audit trails.
#[derive(Debug)]
pub(crate) struct Trail {
    /// Its name.
    pub(crate) table: &'static str,
    time: &'static str,
    /// The function that removes old rows: the server's role may not delete others.
    prune: &'static str,
}

/// The audit trail of order updates.
const ORDER_UPDATES: &str = "orderql.order_update";

/// The audit trails.
const TRAILS: [Trail; 2] = [
    Trail { table: "orderql.audit_event", time: "at", prune: "orderql.prune_audit_events" },
    Trail { table: ORDER_UPDATES, time: "updated_at", prune: "orderql.prune_order_updates" },
];

/// Removes old rows in the background until it is dropped.
#[derive(Debug)]
pub(crate) struct Retention {
    task: JoinHandle<()>,
}

/// Why rows cannot be removed.
#[derive(Debug, thiserror::Error)]
enum RetentionError {
    /// The database reported an error, or cannot be reached.
    #[error("the database reported an error")]
    Database(#[from] Error),
    /// The database did not answer in time.
    #[error("the database did not answer within {} s", TIMEOUT.as_secs())]
    TooSlow(#[from] time::error::Elapsed),
}

impl Retention {
    /// Removes rows older than `keep`: now, and once an hour.
    pub(crate) fn start(database: DatabaseAddress, keep: Duration) -> Self {
        let task = tokio::spawn(async move {
            let mut hours = time::interval(INTERVAL);
            loop {
                hours.tick().await;
                if let Err(error) = prune_all(&database, keep).await {
                    emit(&Event::AuditPruneFailed { error: &error });
                }
            }
        });
        Self { task }
    }
}

impl Drop for Retention {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn prune_all(database: &DatabaseAddress, keep: Duration) -> Result<(), RetentionError> {
    let client = time::timeout(TIMEOUT, connect(database.for_role(Role::Retention))).await??;
    for trail in trails(&client).await? {
        let mut rows = 0;
        loop {
            let removed = time::timeout(TIMEOUT, trail.remove_some(&client, keep)).await??;
            rows += removed;
            if removed == 0 {
                break;
            }
            time::sleep(PAUSE).await;
        }
        if rows > 0 {
            emit(&Event::AuditPruned { table: trail.table, rows });
        }
    }
    Ok(())
}

/// The audit trails that a database has: one without the order tables has no trail of order updates.
pub(crate) async fn trails(client: &Client) -> Result<Vec<&'static Trail>, Error> {
    let has_orders = has_order_tables(client).await?;
    Ok(TRAILS.iter().filter(|trail| has_orders || trail.table != ORDER_UPDATES).collect())
}

impl Trail {
    /// The number of rows that are older than `keep`.
    pub(crate) async fn count(&self, client: &Client, keep: Duration) -> Result<u64, Error> {
        let Self { table, time, .. } = self;
        let select = format!("SELECT count(*) FROM {table} WHERE {time} < now() - make_interval(secs => $1)");
        let count: i64 = client.query_one(&select, &[&keep.as_secs_f64()]).await?.try_get(0)?;
        Ok(count.unsigned_abs())
    }

    /// Removes the rows that are older than `keep`. Returns their number.
    pub(crate) async fn remove(&self, client: &Client, keep: Duration) -> Result<u64, Error> {
        let mut rows = 0;
        loop {
            match self.remove_some(client, keep).await? {
                0 => return Ok(rows),
                removed => rows += removed,
            }
        }
    }

    /// Removes the oldest of the rows that are older than `keep`, [`BATCH`] at most. Returns their number.
    async fn remove_some(&self, client: &Client, keep: Duration) -> Result<u64, Error> {
        let prune = format!("SELECT {}(make_interval(secs => $1), $2)", self.prune);
        let removed: i64 = client.query_one(&prune, &[&keep.as_secs_f64(), &BATCH]).await?.try_get(0)?;
        Ok(removed.unsigned_abs())
    }
}
