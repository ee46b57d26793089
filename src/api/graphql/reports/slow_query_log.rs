//! Logs queries that take long: their operation, their text's hash, their cost and the branches of their statement. Never their variables.

use std::sync::Arc;
use std::time::Duration;

use crate::access::grants::Principal;
use crate::api::access_log::AccessLogEntry;
use crate::api::access_log::timeline::Stage;
use crate::api::query_texts::QueryHash;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::execute::statement_log::{StatementLog, StatementState};
use crate::plan::request_plan::Plan;
use crate::query::Request;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::log_value::{SlowBranch, milliseconds};
use crate::telemetry::trace_context::TraceId;

/// A query that may have to be logged.
#[derive(Debug)]
pub(crate) struct LoggedQuery {
    pub(crate) request_id: Arc<str>,
    pub(crate) trace_id: Option<TraceId>,
    pub(crate) caller: Arc<str>,
    pub(crate) operation: Option<Box<str>>,
    /// The hash of its text.
    pub(crate) hash: String,
}

/// The page, cost, times and statement of a slow query.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    /// The number of the slowest page, if it is an export.
    pub(crate) page: Option<u64>,
    pub(crate) cost: Option<u64>,
    pub(crate) duration: Duration,
    pub(crate) compile: Option<Duration>,
    pub(crate) wait: Option<Duration>,
    /// A text that is not valid has none.
    pub(crate) plan: Option<&'a Plan>,
    pub(crate) statement: &'a StatementLog,
}

impl LoggedQuery {
    /// The request's query.
    pub(crate) fn new(caller: &Principal, request: &Request, entry: &AccessLogEntry) -> Self {
        Self {
            request_id: Arc::clone(&entry.id),
            trace_id: entry.trace_id,
            caller: Arc::clone(&caller.user_id),
            operation: entry.operation().map(Into::into),
            hash: QueryHash::of(&request.query).to_string(),
        }
    }

    /// Logs it.
    pub(crate) fn log(&self, taken: &Taken<'_>) {
        let waits = taken.statement.waits();
        emit(&Event::SlowQuery {
            request_id: &self.request_id,
            trace_id: self.trace_id,
            caller: &self.caller,
            operation: self.operation.as_deref(),
            hash: &self.hash,
            page: taken.page,
            cost: taken.cost,
            duration_ms: milliseconds(taken.duration),
            compile_ms: taken.compile.map(milliseconds),
            wait_ms: taken.wait.map(milliseconds),
            prepare_ms: waits.map(|waits| milliseconds(waits.prepare)),
            statement_ms: waits.and_then(|waits| waits.run).map(milliseconds),
            lock_ms: waits.and_then(|waits| waits.lock).map(milliseconds),
            retries: waits.map(|waits| waits.retries).filter(|retries| *retries > 0),
            batch: waits.map(|waits| waits.requests).filter(|requests| *requests > 1),
            branches: &taken.branches(),
        });
    }
}

impl Taken<'_> {
    /// The branches of the statement, if it was sent.
    fn branches(&self) -> Vec<SlowBranch<'_>> {
        let rows = match self.statement.state() {
            StatementState::Unsent => return Vec::new(),
            StatementState::Running(_) => &[][..],
            StatementState::Done { rows, .. } => rows,
        };
        let branches = self.plan.map_or(&[][..], Plan::steps).iter().enumerate();
        branches.map(|(id, step)| SlowBranch { field: &step.name, rows: rows.get(id).copied() }).collect()
    }
}

/// Logs the query if it took long until now.
pub(crate) fn report(context: &RequestContext, caller: &Principal, request: &Request) {
    let RequestContext { service, entry, .. } = context;
    let duration = entry.elapsed().saturating_sub(entry.timeline.parked);
    if service.options.slow_query.is_none_or(|limit| duration < limit) {
        return;
    }
    LoggedQuery::new(caller, request, entry).log(&Taken {
        page: None,
        cost: entry.timeline.cost,
        duration,
        compile: entry.timeline.compile.map(Stage::time),
        wait: entry.timeline.waiting(),
        plan: entry.timeline.plan.as_deref(),
        statement: &entry.timeline.statement,
    });
}

/// A query whose response is being sent. It is logged at the end if it took long, without the time in which its client was waited
/// for.
#[derive(Debug)]
pub(crate) struct StreamedQuery {
    limit: Duration,
    /// How long it took until now.
    duration: Duration,
    query: LoggedQuery,
    cost: u64,
    compile: Option<Duration>,
    wait: Option<Duration>,
    plan: Option<Arc<Plan>>,
    statement: Arc<StatementLog>,
}

impl StreamedQuery {
    /// A query whose first part is ready; `None` if no query is logged.
    pub(crate) fn new(
        service: &Service,
        caller: &Principal,
        request: &Request,
        cost: u64,
        entry: &AccessLogEntry,
    ) -> Option<Self> {
        Some(Self {
            limit: service.options.slow_query?,
            duration: entry.elapsed(),
            query: LoggedQuery::new(caller, request, entry),
            cost,
            compile: entry.timeline.compile.map(Stage::time),
            wait: entry.timeline.waiting(),
            plan: entry.timeline.plan.clone(),
            statement: Arc::clone(&entry.timeline.statement),
        })
    }

    /// The time of another part.
    pub(crate) fn add(&mut self, time: Duration) {
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
                plan: self.plan.as_deref(),
                statement: &self.statement,
            });
        }
    }
}
