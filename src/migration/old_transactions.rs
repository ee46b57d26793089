//! Waits for writers that have begun before. Their triggers may have run before a row was there that they would have kept up to date.

use std::time::Duration;

use tokio_postgres::{Client, Error};

/// Between two questions. Each is a statement of its own, so that nothing here holds a snapshot.
const INTERVAL: Duration = Duration::from_millis(200);

/// The transactions that write tables of this database.
const WRITERS: &str = "
    SELECT DISTINCT virtualtransaction
    FROM pg_catalog.pg_locks
    WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()
      AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())";

/// Waits until the transactions have ended that write now.
pub(super) async fn wait(client: &Client) -> Result<(), Error> {
    let rows = client.query(WRITERS, &[]).await?;
    let writers: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let are_running = "SELECT EXISTS (SELECT FROM pg_catalog.pg_locks WHERE virtualtransaction = ANY ($1))";
    while client.query_one(are_running, &[&writers]).await?.try_get::<_, bool>(0)? {
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(())
}
