//! Exports of a change feed, as lines of JSON: page after page, and whenever something changed, until the client goes or `export-time` is
//! over.
//!
//! Each page is a statement of its own, with the snapshot of its time, and ends with a token. Between two pages the export holds no
//! connection to the database. A page without changes is refunded.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::stream;
use hyper::body::Bytes;
use tokio::time::Instant;

use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::take_permit;
use crate::api::graphql::long_lived::export_lines::write_resume;
use crate::api::graphql::long_lived::export_run::{self, ExportRun};
use crate::api::graphql::long_lived::parking::{Parking, Wake};
use crate::api::graphql::response::changes;
use crate::api::graphql::response::execution::{AdmittedQuery, Requester, fetch, is_charged};
use crate::api::graphql::response::row_memory;
use crate::compile::compiled::Compiled;
use crate::execute::response_writer::PageEnd;
use crate::execute::row_limits::RowLimits;
use crate::http::connection::FurtherMemory;
use crate::http::response::{BoxError, HttpResponse};
use crate::replicas::read_servers::ReadServers;
use crate::throttle::caller_queue::Demand;
use crate::throttle::query_throttle::MaxWait;
use crate::throttle::rate_limiter::Debit;

/// How often a client without changes gets a line, so that it sees that the connection is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The state between two chunks of the response.
enum State {
    /// Lines that are there, the first ones.
    Ready(Bytes, Box<FeedExport>),
    Running(Box<FeedExport>),
    /// Nothing, once the client has taken the last lines, which have memory until then.
    Over {
        _memory: FurtherMemory,
    },
}

/// An export of a feed between two pages.
struct FeedExport {
    run: ExportRun,
    parking: Parking,
    /// Whether the last page showed all changes that there were.
    is_at_end: bool,
}

/// The response of an export, once its first page is there.
pub(crate) async fn begin(run: ExportRun, max_wait: MaxWait) -> Result<HttpResponse, ApiError> {
    let mut parking = Parking::new(&run.service, &run.caller)?;
    parking.wait(&run.service, &run.caller, run.until).await;
    let mut export = FeedExport { run, parking, is_at_end: false };
    let first = export.page(max_wait).await?;
    Ok(export_run::response(stream::unfold(State::Ready(first.into(), Box::new(export)), next)))
}

async fn next(state: State) -> Option<(Result<Bytes, BoxError>, State)> {
    let mut export = match state {
        State::Ready(lines, export) => return Some((Ok(lines), State::Running(export))),
        State::Running(export) => export,
        State::Over { .. } => return None,
    };
    Some(match export.lines().await {
        Ok(Some(lines)) => (Ok(lines), State::Running(export)),
        Ok(None) => (Ok(export.run.end_early(None)), State::Over { _memory: export.run.memory }),
        Err(error) => (Ok(export.run.end_early(Some(&error))), State::Over { _memory: export.run.memory }),
    })
}

impl FeedExport {
    /// The next lines, when there are some. There are none once the time is over.
    async fn lines(&mut self) -> Result<Option<Bytes>, ApiError> {
        let heartbeat = Instant::now() + HEARTBEAT;
        loop {
            let left = self.run.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            if self.is_at_end {
                let until = heartbeat.min(self.run.until);
                match self.parking.wait(&self.run.service, &self.run.caller, until).await {
                    Wake::Changes => {}
                    Wake::Stop => return Err(ServiceError::Stopping.into()),
                    Wake::Time if Instant::now() < self.run.until => return Ok(Some(self.resume().into())),
                    Wake::Time => return Ok(None),
                }
            }
            let lines = self.page(MaxWait::for_all(left)).await?;
            if !lines.is_empty() {
                return Ok(Some(lines.into()));
            }
        }
    }

    /// Pays for the next page and fetches it, and records what it took. It has no lines if nothing changed, unless it is the first one.
    async fn page(&mut self, max_wait: MaxWait) -> Result<Vec<u8>, ApiError> {
        let started = std::time::Instant::now();
        let cost_before = self.run.cost.load(Ordering::Relaxed);
        let mut timeline = Timeline::default();
        let page = self.fetch(max_wait, &mut timeline).await;
        self.run.record(started, cost_before, timeline);
        page
    }

    async fn fetch(&mut self, max_wait: MaxWait, timeline: &mut Timeline) -> Result<Vec<u8>, ApiError> {
        self.run.check()?;
        let compiled = self.run.compile(timeline).await?;
        self.parking.begin_page(&self.run.service, &compiled.plan);
        let demand = Demand { credits: compiled.estimate.cost(), bytes: self.run.bytes };
        let started = std::time::Instant::now();
        let admitted = take_permit(&self.run.service, &self.run.caller, demand, max_wait).await;
        timeline.admission = Some(Stage::since(started));
        let (_permit, debit) = admitted?;
        self.fetch_paid(compiled, debit, timeline).await
    }

    /// Fetches a page that is paid for, and writes its lines.
    async fn fetch_paid(
        &mut self,
        compiled: Compiled,
        debit: Debit,
        timeline: &mut Timeline,
    ) -> Result<Vec<u8>, ApiError> {
        let is_until_now = compiled.plan.marks_of_changes().is_some();
        let run = &mut self.run;
        let (service, caller) = (Arc::clone(&run.service), Arc::clone(&run.caller));
        let query = AdmittedQuery {
            compiled,
            grants: run.view.grants,
            field_costs: None,
            includes_plan: false,
            debit,
            route: ReadServers::primary_route(),
            until: Instant::now() + caller.limits.deadline,
        };
        let started = Instant::now();
        let memory = &mut run.memory;
        let mut limits = RowLimits { bytes: u64::MAX, memory: &mut |bytes| row_memory::hold(memory, bytes) };
        let requester = Requester { service: &service, caller: &caller, request_id: &run.request_id };
        let rows = fetch(requester, &query, &mut limits, timeline).await;
        if is_charged(&rows) {
            run.cost.fetch_add(debit.cost, Ordering::Relaxed);
        }
        let mut rows = rows?;
        let checked = changes::check(requester, &query, &rows, timeline).await;
        checked.inspect_err(|_| {
            run.cost.fetch_sub(debit.cost, Ordering::Relaxed);
        })?;
        let mut lines = run.write(&mut rows, debit).await?;
        let PageEnd { has_next_page, end_cursor } = run.page_end(&rows)?;
        let is_first = run.cursor.replace(end_cursor).is_none();
        self.is_at_end = is_until_now && !has_next_page;
        let is_empty = rows.is_without_changes();
        if is_empty {
            run.refund(debit).await;
            Parking::found_nothing(&service, &caller, started.elapsed());
        }
        if is_first || !is_empty {
            lines.extend(self.resume());
        }
        Ok(lines)
    }

    /// The line from which another export goes on.
    fn resume(&self) -> Vec<u8> {
        let mut line = Vec::new();
        write_resume(self.run.cursor.as_deref().unwrap_or_default(), self.run.nodes, &mut line);
        line
    }
}
