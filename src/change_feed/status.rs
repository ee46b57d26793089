//! How far the change feeds of a database are.

use tokio_postgres::{Client, Error};

/// The result of `orderql.sync_epoch()`, with the ticks of the epoch. A writer began after the newest tick with only lower transaction ids.
const SELECT: &str = "
    SELECT
        here.epoch,
        here.timeline,
        pg_is_in_recovery(),
        (SELECT count(*) FROM orderql.sync_tick AS tick WHERE tick.epoch = here.epoch),
        extract(epoch FROM clock_timestamp() - (
            SELECT max(at) FROM orderql.sync_tick AS tick WHERE tick.epoch = here.epoch
        ))::float8,
        extract(epoch FROM clock_timestamp() - COALESCE(
            (SELECT at FROM orderql.sync_tick AS tick
             WHERE tick.epoch = here.epoch AND pg_snapshot_xmax(snapshot) <= pg_snapshot_xmin(pg_current_snapshot())
             ORDER BY tick_id DESC LIMIT 1),
            (SELECT min(at) FROM orderql.sync_tick AS tick WHERE tick.epoch = here.epoch)
        ))::float8
    FROM orderql.sync_epoch() AS here";

/// PostgreSQL's estimate of the rows, since counting them reads all.
const MARKS: &str = "
    SELECT feed, sum(GREATEST(pg_stat_get_live_tuples(pg_class.oid), 0))::int8
    FROM orderql.sync_compaction
    JOIN pg_class ON relname = marks
    JOIN pg_namespace ON pg_namespace.oid = relnamespace AND nspname = 'orderql'
    GROUP BY feed
    ORDER BY feed";

/// How far the feeds of a database are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeedStatus {
    pub(crate) epoch: i64,
    pub(crate) timeline: i32,
    pub(crate) is_standby: bool,
    /// The number of the epoch's ticks.
    pub(crate) ticks: i64,
    /// Seconds since the newest tick; `None` before the first one.
    pub(crate) lag: Option<f64>,
    /// Seconds that the oldest transaction that writes takes already, at most; `None` before the first tick.
    pub(crate) oldest_writer: Option<f64>,
    /// About how many marks each feed has.
    pub(crate) marks: Vec<(String, i64)>,
}

impl FeedStatus {
    /// Reads it from a database that has feeds.
    pub(crate) async fn read(client: &Client) -> Result<Self, Error> {
        let row = client.query_one(SELECT, &[]).await?;
        let marks = client.query(MARKS, &[]).await?;
        Ok(Self {
            epoch: row.try_get(0)?,
            timeline: row.try_get(1)?,
            is_standby: row.try_get(2)?,
            ticks: row.try_get(3)?,
            lag: row.try_get(4)?,
            oldest_writer: row.try_get(5)?,
            marks: marks.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Error>>()?,
        })
    }
}
