//! Checks of a page of changes before its tokens leave: the request's token has a meaning in this database, and a crash cannot
//! lose the changes before the new tokens.

use tokio::time;

use crate::api::access_log::timeline::Timeline;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::changes_error::ChangesError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::request::query_request::Requester;
use crate::api::graphql::response::execution::{Attempt, connect_own};
use crate::database::error::DatabaseError;
use crate::database::snapshot_position::{self, Tick};
use crate::execute::changes_state::ChangesState;
use crate::execute::response_writer::ResponseWriter;
use crate::query::bind::changes::ChangesStart;
use crate::replicas::read_servers::LeasedConnection;
use crate::sync_token::{Epoch, SyncToken};

/// Checks the pages of changes of a query, until the deadline of the query.
pub(crate) async fn check(
    Attempt { requester, route, .. }: Attempt<'_>,
    until: time::Instant,
    rows: &ResponseWriter,
    timeline: &mut Timeline,
) -> Result<(), ApiError> {
    let Requester { service, request_id, .. } = requester;
    let mut is_flushed = false;
    for (start, state) in rows.changes_states() {
        let checked = async {
            if let (Some(epoch), Some(token)) = (history(start, &state)?, &start.token) {
                let LeasedConnection { connection, held: _held } = connect_own(requester, route, timeline).await?;
                let tick = snapshot_position::newest_tick(&connection, epoch).await?;
                connection.release();
                survives(token, tick, &state)?;
            }
            if state.is_unflushed && !is_flushed {
                let flush = async {
                    let LeasedConnection { connection, held: _held } = connect_own(requester, route, timeline).await?;
                    snapshot_position::flush(&connection).await?;
                    connection.release();
                    Ok::<_, DatabaseError>(())
                };
                service.flushes.run(flush).await?;
                is_flushed = true;
            }
            Ok(())
        };
        // Waiting for the disk counts for the deadline, too.
        let checked = time::timeout_at(until, checked).await.unwrap_or(Err(CheckError::TooLate));
        checked.map_err(|error| match error {
            CheckError::Changes(error) => error.into(),
            CheckError::Database(error) if error.is_temporary() => ServiceError::Unavailable(error.into()).into(),
            CheckError::Database(error) => ApiError::from(ServiceError::internal(request_id, error)),
            CheckError::TooLate => ServiceError::Unavailable("the database does not answer".into()).into(),
        })?;
    }
    Ok(())
}

/// Why a check failed.
enum CheckError {
    Changes(ChangesError),
    Database(DatabaseError),
    TooLate,
}

impl From<DatabaseError> for CheckError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<ChangesError> for CheckError {
    fn from(error: ChangesError) -> Self {
        Self::Changes(error)
    }
}

/// The epoch of a token that is older than a promotion: the server must know which changes survived it. Fails if the token means nothing here.
fn history(start: &ChangesStart, state: &ChangesState) -> Result<Option<Epoch>, ChangesError> {
    if state.until.is_none() && start.is_since() {
        return Err(ChangesError::TooOld);
    }
    let Some(token) = &start.token else { return Ok(None) };
    if token.epoch.epoch != state.epoch.epoch {
        return Err(ChangesError::OtherEpoch);
    }
    if token.epoch.timeline > state.epoch.timeline {
        return Err(ChangesError::OtherTimeline);
    }
    if token.epoch.timeline < state.epoch.timeline {
        return Ok(Some(token.epoch));
    }
    // A standby may come as far later.
    if state.until.is_none() && !state.is_standby {
        return Err(ChangesError::Ahead);
    }
    Ok(None)
}

/// Fails if the token shows more than survived the promotion after its timeline.
fn survives(token: &SyncToken, tick: Option<Tick>, state: &ChangesState) -> Result<(), ChangesError> {
    let Some(tick) = tick else { return Err(ChangesError::OtherTimeline) };
    let shown = token.walk.as_ref().map_or(&token.from, |walk| &walk.to);
    if shown.is_within(&tick.snapshot) {
        return Ok(());
    }
    let epoch = Epoch { timeline: tick.timeline, ..token.epoch };
    // Between two pages, the changes before the tick that are not delivered yet come once more.
    let from = if token.from.is_within(&tick.snapshot) { token.from.clone() } else { tick.snapshot };
    let rewound = SyncToken { epoch, from, walk: None };
    Err(ChangesError::Rewound { token: rewound.text(state.tag), at: tick.at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::OrderingTag;
    use crate::sync_token::{Position, Snapshot, Walk};
    use crate::value::Timestamp;

    fn snapshot(text: &str) -> Snapshot {
        Snapshot::parse(text).unwrap()
    }

    fn token(timeline: i32, from: &str) -> SyncToken {
        SyncToken { epoch: Epoch { epoch: 7, timeline }, from: snapshot(from), walk: None }
    }

    fn state(epoch: i64, timeline: i32) -> ChangesState {
        ChangesState {
            tag: OrderingTag::new("orderChanges", "CHANGE"),
            epoch: Epoch { epoch, timeline },
            until: Some((snapshot("20:20:"), Timestamp(0))),
            is_standby: false,
            is_unflushed: false,
            lag: None,
            oldest_writer: None,
            last_mark: None,
        }
    }

    fn start(token: SyncToken) -> ChangesStart {
        ChangesStart::of_token(token)
    }

    #[test]
    fn a_token_of_another_epoch_or_a_later_timeline_means_nothing() {
        let start = start(token(2, "9:9:"));
        assert_eq!(history(&start, &state(7, 2)).unwrap(), None);
        assert!(matches!(history(&start, &state(8, 2)), Err(ChangesError::OtherEpoch)));
        assert!(matches!(history(&start, &state(7, 1)), Err(ChangesError::OtherTimeline)));
        assert_eq!(history(&start, &state(7, 3)).unwrap(), Some(Epoch { epoch: 7, timeline: 2 }));
        let behind = ChangesState { until: None, ..state(7, 2) };
        assert!(matches!(history(&start, &behind), Err(ChangesError::Ahead)));
        assert_eq!(history(&start, &ChangesState { is_standby: true, ..behind }).unwrap(), None);
    }

    #[test]
    fn a_token_that_shows_what_a_promotion_lost_gets_one_of_the_last_tick() {
        let tick = || Some(Tick { snapshot: snapshot("9:12:9"), timeline: 2, at: "2026-05-01T00:00:00Z".to_owned() });
        let after = state(7, 3);
        for (from, survived) in
            [("9:12:9", true), ("9:11:9", true), ("5:9:5", true), ("12:12:", false), ("9:13:9", false)]
        {
            let result = survives(&token(2, from), tick(), &after);
            assert_eq!(result.is_ok(), survived, "{from}");
            if let Err(ChangesError::Rewound { token: text, .. }) = result {
                assert_eq!(SyncToken::decode(&text, after.tag), Ok(token(2, "9:12:9")));
            }
        }
        assert!(matches!(survives(&token(2, "9:9:"), None, &after), Err(ChangesError::OtherTimeline)));
        // A walk that began before the tick begins again.
        let position = Position { xid: 10, via: String::new(), id: "A".to_owned(), key: None };
        let walk = Walk { to: snapshot("13:15:"), at: Timestamp(0), position };
        let between = SyncToken { walk: Some(walk), ..token(2, "9:11:9") };
        let Err(ChangesError::Rewound { token: text, .. }) = survives(&between, tick(), &after) else {
            panic!("it shows what was lost")
        };
        assert_eq!(SyncToken::decode(&text, after.tag), Ok(token(2, "9:11:9")));
    }
}
