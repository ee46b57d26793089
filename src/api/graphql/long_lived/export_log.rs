//! The reports on an export's pages for operators: spans of the first pages, and a line of the log about the slowest page if it was slow.

use std::time::{Duration, Instant};

use crate::access::grants::Principal;
use crate::api::access_log::AccessLogEntry;
#[cfg(feature = "traces")]
use crate::api::access_log::request_trace::SpanParent;
use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::graphql::reports::slow_query_log::{LoggedQuery, Taken};
use crate::api::service::Service;
use crate::query::Request;

/// Pages of an export that have spans. An export can have thousands, which differ little.
#[cfg(feature = "traces")]
const MAX_TRACED: u64 = 20;

/// Collects what an export's pages took. The slowest one is logged when it is dropped, at the export's end.
#[derive(Debug)]
pub(crate) struct ExportLog {
    pages: u64,
    slow: Option<SlowPages>,
    #[cfg(feature = "traces")]
    trace: Option<SpanParent>,
}

/// The search for the slowest page.
#[derive(Debug)]
struct SlowPages {
    /// How long a page has to take.
    limit: Duration,
    slowest: Option<SlowPage>,
    query: LoggedQuery,
}

#[derive(Debug)]
struct SlowPage {
    number: u64,
    duration: Duration,
    timeline: Timeline,
}

impl ExportLog {
    /// Begins with the request, whose operation is known.
    pub(crate) fn new(service: &Service, caller: &Principal, request: &Request, entry: &AccessLogEntry) -> Self {
        let slow = |limit| SlowPages { limit, slowest: None, query: LoggedQuery::new(caller, request, entry) };
        let slow = service.options.slow_query.map(slow);
        Self {
            pages: 0,
            slow,
            #[cfg(feature = "traces")]
            trace: entry.trace.as_ref().and_then(|trace| trace.parts()),
        }
    }

    /// Adds a page that ends now. It is slow without the time that it waited for a place and for credits: the client's own time is
    /// between pages.
    pub(crate) fn add(&mut self, started: Instant, timeline: Timeline) {
        self.pages += 1;
        #[cfg(feature = "traces")]
        if let Some(trace) = self.trace.as_ref().filter(|_| self.pages <= MAX_TRACED) {
            trace.page(started, &timeline);
        }
        let Some(slow) = &mut self.slow else { return };
        let duration = started.elapsed().saturating_sub(timeline.waiting().unwrap_or_default());
        if duration >= slow.slowest.as_ref().map_or(slow.limit, |slowest| slowest.duration) {
            slow.slowest = Some(SlowPage { number: self.pages, duration, timeline });
        }
    }
}

impl Drop for SlowPages {
    fn drop(&mut self) {
        let Some(page) = &self.slowest else { return };
        self.query.log(&Taken {
            page: Some(page.number),
            cost: page.timeline.cost,
            duration: page.duration + page.timeline.waiting().unwrap_or_default(),
            compile: page.timeline.compile.map(Stage::time),
            wait: page.timeline.waiting(),
            plan: page.timeline.plan.as_deref(),
            statement: &page.timeline.statement,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_page_is_the_one_that_took_longest_without_waiting_for_credits() {
        let query = LoggedQuery {
            request_id: "0f".into(),
            trace_id: None,
            caller: "demo".into(),
            operation: None,
            hash: String::new(),
        };
        let slow = SlowPages { limit: Duration::from_secs(5), slowest: None, query };
        let mut log = ExportLog {
            pages: 0,
            slow: Some(slow),
            #[cfg(feature = "traces")]
            trace: None,
        };
        let now = Instant::now();
        let ago = |seconds| now.checked_sub(Duration::from_secs(seconds)).unwrap();
        let mut add = |seconds, waited| {
            let admission = Some(Stage { start: ago(seconds), end: ago(seconds - waited) });
            log.add(ago(seconds), Timeline { admission, ..Timeline::default() });
            log.slow.as_ref().unwrap().slowest.as_ref().map(|page| page.number)
        };
        assert_eq!(
            [add(60, 59), add(7, 0), add(600, 598), add(500, 1), add(30, 1)],
            [None, Some(2), Some(2), Some(4), Some(4)]
        );
    }
}
