//! Logs queries that take long: their operation, their text's hash, their cost and their steps. Never their variables.

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

/// What the log calls a query and its steps.
#[derive(Debug)]
pub(super) struct QueryNames {
    /// The hash of its text.
    pub(super) hash: String,
    /// The path of each step. A text that is not valid has no steps.
    pub(super) steps: Vec<String>,
}

impl QueryNames {
    /// The names of a query that was compiled before.
    pub(super) async fn of(service: &Service, caller: &Principal, request: &mut Request) -> Self {
        let hash = QueryHash::of(&request.query).to_string();
        let explained = compilation::explain(service, caller, request).await;
        let steps = explained.map(|explained| step_names(&explained.cost, explained.plan.steps().len()));
        Self { hash, steps: steps.unwrap_or_default() }
    }

    /// The steps, as far as they came.
    pub(super) fn steps(&self, log: &StepLog) -> Vec<SlowStep<'_>> {
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
    let names = QueryNames::of(service, caller, request).await;
    emit(&Event::SlowQuery(SlowQuery {
        request_id: &entry.id,
        trace_id: entry.trace_id,
        caller: &caller.user_id,
        operation: entry.operation(),
        hash: &names.hash,
        page: None,
        cost: entry.cost,
        duration,
        compile: entry.timeline.compile.map(Stage::time),
        wait: entry.timeline.waiting(),
        steps: &names.steps(&entry.timeline.steps),
    }));
}
