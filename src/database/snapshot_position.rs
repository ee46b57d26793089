//! Makes sure of a snapshot that leaves the database: waits until it is on disk, and finds a snapshot that survived promotions.

use crate::database::connection::own_connection::OwnConnection;
use crate::database::error::DatabaseError;
use crate::sync_token::{Epoch, Snapshot};

/// Commits a message that nobody reads, and waits until it is on disk. Then everything before it is on disk, too. With `synchronous_commit
/// = off`, a crash could otherwise lose transactions that were visible, and give their ids to others.
const FLUSH: &str = "
    SELECT set_config('synchronous_commit', 'local', true), pg_logical_emit_message(true, 'orderql', '')";

/// A snapshot that was stored.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) snapshot: Snapshot,
    pub(crate) timeline: i32,
    /// When it was taken, in UTC.
    pub(crate) at: String,
}

/// Waits until everything that was visible is on the disk of a primary.
pub(crate) async fn flush(connection: &OwnConnection) -> Result<(), DatabaseError> {
    connection.first_row(FLUSH).await.map(drop)
}

/// The newest tick of a timeline or an earlier one: changes that were visible then have survived later promotions.
pub(crate) async fn newest_tick(connection: &OwnConnection, epoch: Epoch) -> Result<Option<Tick>, DatabaseError> {
    let Epoch { epoch, timeline } = epoch;
    let sql = format!(
        "SELECT snapshot, timeline, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')
         FROM orderql.sync_tick WHERE epoch = {epoch} AND timeline <= {timeline}
         ORDER BY epoch DESC, timeline DESC, tick_id DESC LIMIT 1"
    );
    let row = connection.first_row(&sql).await?;
    Ok(row.and_then(|row| {
        let [snapshot, timeline, at] = row.try_into().ok()?;
        Some(Tick { snapshot: Snapshot::parse(&snapshot)?, timeline: timeline.parse().ok()?, at })
    }))
}
