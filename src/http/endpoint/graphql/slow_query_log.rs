//! Logs queries that take long: their operation, their text's hash, their cost and their steps. Never their variables.

use std::sync::Arc;
use std::time::Duration;

use crate::access::grants::Principal;
use crate::cost::breakdown::step_names;
use crate::execute::step_log::{StepLog, StepState};
use crate::http::access_log::AccessLogEntry;
use crate::http::endpoint::graphql::compilation;
use crate::http::query_texts::QueryHash;
use crate::http::service::Service;
use crate::http::timeline::Stage;
use crate::query::Request;
use crate::telemetry::emit;
use crate::telemetry::event::{Event, SlowQuery, SlowStep};
use crate::telemetry::trace_context::TraceId;

/// A query that may have to be logged.
#[derive(Debug)]
pub(super) struct LoggedQuery {
    pub(super) request_id: Arc<str>,
    pub(super) trace_id: Option<TraceId>,
    pub(super) caller: Arc<str>,
    pub(super) operation: Option<Box<str>>,
    /// The hash of its text.
    pub(super) hash: String,
    /// The path of each step. A text that is not valid has no steps.
    pub(super) steps: Vec<String>,
}

/// What it took.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    /// The number of the slowest page, if it is an export.
    pub(super) page: Option<u64>,
    pub(super) cost: Option<u64>,
    pub(super) duration: Duration,
    pub(super) compile: Option<Duration>,
    pub(super) wait: Option<Duration>,
    pub(super) steps: &'a StepLog,
}

impl LoggedQuery {
    /// The request's query, which was compiled before.
    pub(super) async fn new(
        service: &Service,
        caller: &Principal,
        request: &mut Request,
        entry: &AccessLogEntry,
    ) -> Self {
        let hash = QueryHash::of(&request.query).to_string();
        let explained = compilation::explain(service, caller, request).await;
        let steps = explained.map(|explained| step_names(&explained.cost, explained.plan.steps().len()));
        Self {
            request_id: Arc::clone(&entry.id),
            trace_id: entry.trace_id,
            caller: Arc::clone(&caller.user_id),
            operation: entry.operation().map(Into::into),
            hash,
            steps: steps.unwrap_or_default(),
        }
    }

    /// Logs it.
    pub(super) fn log(&self, taken: &Taken<'_>) {
        emit(&Event::SlowQuery(SlowQuery {
            request_id: &self.request_id,
            trace_id: self.trace_id,
            caller: &self.caller,
            operation: self.operation.as_deref(),
            hash: &self.hash,
            page: taken.page,
            cost: taken.cost,
            duration: taken.duration,
            compile: taken.compile,
            wait: taken.wait,
            steps: &self.steps_of(taken.steps),
        }));
    }

    /// The steps, as far as they came.
    fn steps_of(&self, log: &StepLog) -> Vec<SlowStep<'_>> {
        let steps = log.states().zip(&self.steps).map(|(state, field)| {
            let (time, rows) = match state {
                StepState::Unsent => (None, None),
                StepState::Running(sent) => (Some(sent.elapsed()), None),
                StepState::Done { time, rows, .. } => (Some(time), Some(rows)),
            };
            SlowStep { field, time, rows }
        });
        steps.collect()
    }
}

/// Logs the query if it took long until now.
pub(crate) async fn report(service: &Service, caller: &Principal, request: &mut Request, entry: &AccessLogEntry) {
    let duration = entry.elapsed();
    if service.options.slow_query.is_none_or(|limit| duration < limit) {
        return;
    }
    LoggedQuery::new(service, caller, request, entry).await.log(&Taken {
        page: None,
        cost: entry.cost,
        duration,
        compile: entry.timeline.compile.map(Stage::time),
        wait: entry.timeline.waiting(),
        steps: &entry.timeline.steps,
    });
}

/// A query whose response is being sent. It is logged at the end if it took long, without the time in which its client was waited
/// for.
#[derive(Debug)]
pub(super) struct StreamedQuery {
    limit: Duration,
    /// How long it took until now.
    duration: Duration,
    query: LoggedQuery,
    cost: u64,
    compile: Option<Duration>,
    wait: Option<Duration>,
    steps: Arc<StepLog>,
}

impl StreamedQuery {
    /// A query whose first part is ready; `None` if no query is logged.
    pub(super) async fn new(
        service: &Service,
        caller: &Principal,
        request: &mut Request,
        cost: u64,
        entry: &AccessLogEntry,
    ) -> Option<Self> {
        Some(Self {
            limit: service.options.slow_query?,
            duration: entry.elapsed(),
            query: LoggedQuery::new(service, caller, request, entry).await,
            cost,
            compile: entry.timeline.compile.map(Stage::time),
            wait: entry.timeline.waiting(),
            steps: Arc::clone(&entry.timeline.steps),
        })
    }

    /// Another part took so long.
    pub(super) fn add(&mut self, time: Duration) {
        self.duration += time;
    }
}

impl Drop for StreamedQuery {
    fn drop(&mut self) {
        if self.duration >= self.limit {
            self.query.log(&Taken {
                page: None,
                cost: Some(self.cost),
                duration: self.duration,
                compile: self.compile,
                wait: self.wait,
                steps: &self.steps,
            });
        }
    }
}
