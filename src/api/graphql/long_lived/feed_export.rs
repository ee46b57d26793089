//! Exports of a change feed, as lines of JSON: page after page, and whenever something changed, until the client goes or `export-time` is
//! over.
//!
//! Each page is a statement of its own, with the snapshot of its time, and ends with a token. Between two pages the export holds no
//! connection to the database. A page without changes is refunded.

use std::time::Duration;

use futures_util::stream;
use hyper::body::Bytes;
use tokio::time::Instant;

use crate::api::access_log::timeline::Timeline;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::{Charge, PaidTime};
use crate::api::graphql::long_lived::export_lines::write_resume;
use crate::api::graphql::long_lived::export_run::{self, ExportRun};
use crate::api::graphql::long_lived::parking::{Parking, Wake};
use crate::api::graphql::request::query_request::Requester;
use crate::api::graphql::response::execution::Attempt;
use crate::api::graphql::response::gathered_body;
use crate::api::graphql::response::row_memory;
use crate::compile::compiled::Compiled;
use crate::execute::response_writer::PageEnd;
use crate::execute::row_limits::RowLimits;
use crate::http::connection::FurtherMemory;
use crate::http::response::{BoxError, HttpResponse};
use crate::replicas::read_servers::ReadServers;
use crate::throttle::query_throttle::MaxWait;

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
        let is_first = self.run.cursor.is_none();
        let mut timeline = Timeline::default();
        let page = self.fetch_page(max_wait, &mut timeline).await;
        self.run.record(started, timeline);
        match page? {
            None if !is_first => Ok(Vec::new()),
            lines => Ok([lines.unwrap_or_default(), self.resume()].concat()),
        }
    }

    async fn fetch_page(&mut self, max_wait: MaxWait, timeline: &mut Timeline) -> Result<Option<Vec<u8>>, ApiError> {
        self.run.check()?;
        let compiled = self.run.compile(timeline).await?;
        self.parking.begin_page(&self.run.service, &compiled.plan);
        let (_permit, paid) = self.run.admit(&compiled, max_wait, timeline).await?;
        let started = Instant::now();
        let page = self.fetch_paid(&compiled, paid, timeline).await;
        timeline.cost = self.run.requester().settle(paid.debit, Charge::of_page(&page)).await;
        if let Ok(None) = page {
            Parking::found_nothing(&self.run.service, &self.run.caller, started.elapsed());
        }
        page
    }

    /// Fetches a page that is paid for, and writes its lines. There are none if nothing changed.
    async fn fetch_paid(
        &mut self,
        compiled: &Compiled,
        paid: PaidTime,
        timeline: &mut Timeline,
    ) -> Result<Option<Vec<u8>>, ApiError> {
        let ExportRun { service, caller, request_id, memory, .. } = &mut self.run;
        let requester = Requester { service, caller, request_id };
        let attempt = Attempt { requester, compiled, route: &ReadServers::primary_route() };
        let mut limits = RowLimits { bytes: u64::MAX, memory: &mut |bytes| row_memory::hold(memory, bytes) };
        let mut rows = gathered_body::fetch(attempt, paid, &mut limits, timeline).await?;
        let lines = self.run.write(&mut rows, paid.debit)?;
        let PageEnd { has_next_page, end_cursor } = self.run.page_end(&rows)?;
        self.run.cursor = Some(end_cursor);
        self.is_at_end = compiled.plan.marks_of_changes().is_some() && !has_next_page;
        Ok((!rows.is_without_changes()).then_some(lines))
    }

    /// The line from which another export goes on.
    fn resume(&self) -> Vec<u8> {
        let mut line = Vec::new();
        write_resume(self.run.cursor.as_deref().unwrap_or_default(), self.run.nodes, &mut line);
        line
    }
}
