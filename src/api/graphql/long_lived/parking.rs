//! Requests that wait for changes of a feed. They hold no connection to the database, no credits, and no place among their callers' queries.
//!
//! A page without changes is refunded. What it took is paced instead, as for all that is free: a client could ask, leave, and ask again. A request
//! that has a place waits for its turn.

use std::time::Duration;

use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::api::errors::query_error::QueryError;
use crate::api::graphql::gates::free_requests::{self, FreeWork};
use crate::api::service::Service;
use crate::change_feed::watcher::AwaitedChanges;
use crate::plan::request_plan::Plan;
use crate::plan::sql::Relation;
use crate::throttle::queues::{Permit, QueryPlaces};

/// A place among a caller's requests that wait for changes.
pub(crate) struct Parking {
    /// Known from the first page after a token on.
    changes: Option<AwaitedChanges>,
    _permit: Permit,
}

/// Why a request goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    /// There may be changes.
    Changes,
    /// The time is over.
    Time,
    /// The server stops.
    Stop,
}

impl Parking {
    /// A place, unless the caller's places are all taken.
    pub(crate) fn new(service: &Service, caller: &Principal) -> Result<Self, QueryError> {
        let limit = service.options.parked_requests;
        let permit = service.parked.start(&caller.user_id, QueryPlaces { running: limit, waiting: 0 }, 0);
        Ok(Self { changes: None, _permit: permit.map_err(|_| QueryError::TooManyParked { limit })? })
    }

    /// A page of this plan is read now: changes that it may show do not wake.
    pub(crate) fn begin_page(&mut self, service: &Service, plan: &Plan) {
        match (&mut self.changes, plan.marks_of_changes()) {
            (Some(changes), _) => changes.forget(),
            (None, Some(marks)) => {
                let marks = marks.map(|relation| Relation(relation).to_string());
                self.changes = Some(service.change_watcher.subscribe(marks));
            }
            (None, None) => {}
        }
    }

    /// A page without changes took so long.
    pub(crate) fn found_nothing(service: &Service, caller: &Principal, took: Duration) {
        free_requests::charge_unpaced(&service.free_query_pace, caller, FreeWork { bytes: 0, time: took });
    }

    /// Waits for changes that the last page did not show, if there was one, and then for the turn of the next page.
    pub(crate) async fn wait(&mut self, service: &Service, caller: &Principal, until: Instant) -> Wake {
        let changed = async {
            if let Some(changes) = &mut self.changes {
                changes.changed().await;
            }
            while let Err(late) = service.free_query_pace.check(&caller.user_id, Instant::now().into_std()) {
                time::sleep(late).await;
            }
        };
        tokio::select! {
            biased;
            () = service.admission.closed() => Wake::Stop,
            () = changed => Wake::Changes,
            () = time::sleep_until(until) => Wake::Time,
        }
    }
}
