//! The state behind a page of changes: the later snapshot, and the facts about it. Makes the page's tokens.

use tokio_postgres::Row;

use crate::cursor::OrderingTag;
use crate::execute::statement_rows::StatementRows;
use crate::plan::request_plan::Plan;
use crate::plan::step::ChangesColumns;
use crate::query::bind::changes::ChangesStart;
use crate::query::bind::step_id::StepId;
use crate::sync_token::{Epoch, Position, Snapshot, SyncToken, Walk};
use crate::value::Timestamp;

/// The state of the feed that a page of changes shows.
#[derive(Debug)]
pub(crate) struct ChangesState {
    /// The feed.
    pub tag: OrderingTag,
    /// The epoch of the transaction ids.
    pub epoch: Epoch,
    /// The later snapshot, and when it was taken. `None` if the server has not come as far as the token, or if no snapshot is known of
    /// the time that was asked for.
    pub until: Option<(Snapshot, Timestamp)>,
    /// Whether the server is a standby, which may not have come as far.
    pub is_standby: bool,
    /// Whether changes that are visible in the later snapshot may still be lost in a crash.
    pub(crate) is_unflushed: bool,
    /// Milliseconds since the later snapshot was taken.
    pub lag: Option<i64>,
    /// Milliseconds since the oldest writer began that is not visible in the server's present snapshot, at most.
    pub(crate) oldest_writer: Option<i64>,
    /// The last mark that was read, if there may be others after it.
    pub(crate) last_mark: Option<Position>,
}

impl ChangesState {
    /// Reads it from a row of a step's page.
    pub(super) fn of_page(plan: &Plan, rows: &StatementRows, step: StepId) -> Option<Self> {
        let (_, row) = rows.changes().iter().find(|(of, _)| *of == step)?;
        let columns = plan.steps()[step].changes()?;
        let bytes = |column| rows.value(row, column).map(|(_, bytes)| bytes);
        let number = |column| Some(i64::from_be_bytes(bytes(column)?.try_into().ok()?));
        let truth = |column| bytes(column) == Some(&[1]);
        let snapshot = |column| Snapshot::parse(std::str::from_utf8(bytes(column)?).ok()?);
        let timeline = number(columns.timeline).and_then(|timeline| i32::try_from(timeline).ok());
        Some(Self {
            tag: feed(plan, columns),
            // There is no timeline where no snapshot is known of a time.
            epoch: Epoch { epoch: number(columns.epoch)?, timeline: timeline.unwrap_or_default() },
            until: snapshot(columns.until).zip(number(columns.at).map(Timestamp)),
            is_standby: truth(columns.is_standby),
            is_unflushed: truth(columns.is_unflushed),
            lag: number(columns.lag),
            oldest_writer: number(columns.oldest_writer),
            last_mark: bytes(columns.last_mark).and_then(Position::parse),
        })
    }

    /// The token of a position on the page, or of its end. A standby that has not come as far as the request's token gives that back.
    pub(super) fn token(&self, start: &ChangesStart, position: Option<Position>) -> Option<SyncToken> {
        let (epoch, Some((to, at))) = (self.epoch, self.until.clone()) else { return start.token.clone() };
        Some(match (&start.token, position) {
            (Some(SyncToken { from, .. }), Some(position)) => {
                SyncToken { epoch, from: from.clone(), walk: Some(Walk { to, at, position }) }
            }
            _ => SyncToken { epoch, from: to, walk: None },
        })
    }
}

/// The feed of a page, with the values that limit its rows.
pub(super) fn feed(plan: &Plan, columns: &ChangesColumns) -> OrderingTag {
    columns.tag.in_scope(plan.scope().of_cursors(columns.limited_by))
}

/// The mark that a row of the page is of.
pub(super) fn position(rows: &StatementRows, row: &Row, columns: &ChangesColumns) -> Option<Position> {
    Position::parse(rows.value(row, columns.position)?.1)
}
