//! Waits for transactions that have begun before. Their triggers may have run before a row was there that they would have kept up to date.

use std::time::Duration;

use tokio_postgres::{Client, Error};

/// Between two questions. Each is a statement of its own, so that nothing here holds a snapshot.
const INTERVAL: Duration = Duration::from_millis(200);

/// Waits until all transactions have ended that run now, as building an index concurrently does.
pub(super) async fn wait(client: &Client) -> Result<(), Error> {
    let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text";
    let next: String = client.query_one(next, &[]).await?.try_get(0)?;
    let have_ended = "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8";
    while !client.query_one(have_ended, &[&next]).await?.try_get::<_, bool>(0)? {
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(())
}
