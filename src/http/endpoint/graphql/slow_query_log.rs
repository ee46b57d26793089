//! Logs queries that take long: their operation, their text's hash, their cost and their steps. Never their variables.

use crate::access::grants::Principal;
use crate::cost::breakdown::step_names;
use crate::execute::step_log::StepState;
use crate::http::access_log::AccessLogEntry;
use crate::http::endpoint::graphql::compilation;
use crate::http::query_texts::QueryHash;
use crate::http::service::Service;
use crate::http::timeline::Stage;
use crate::query::Request;
use crate::telemetry::emit;
use crate::telemetry::event::{Event, SlowQuery, SlowStep};

/// Logs the query if it took long until now.
pub(crate) async fn report(service: &Service, caller: &Principal, request: &mut Request, entry: &AccessLogEntry) {
    let duration = entry.elapsed();
    if service.options.slow_query.is_none_or(|limit| duration < limit) {
        return;
    }
    let hash = QueryHash::of(&request.query).to_string();
    // A text that is not valid has no steps.
    let names = match compilation::explain(service, caller, request).await {
        Ok(explanation) => step_names(&explanation.cost, explanation.plan.steps().len()),
        Err(_) => Vec::new(),
    };
    let steps = entry.timeline.steps.states().zip(&names).map(|(state, field)| {
        let (time, rows) = match state {
            StepState::Unsent => (None, None),
            StepState::Running(sent) => (Some(sent.elapsed()), None),
            StepState::Done { time, rows, .. } => (Some(time), Some(rows)),
        };
        SlowStep { field, time, rows }
    });
    emit(&Event::SlowQuery(SlowQuery {
        request_id: &entry.id,
        trace_id: entry.trace_id,
        caller: &caller.user_id,
        operation: entry.operation(),
        hash: &hash,
        cost: entry.cost,
        duration,
        compile: entry.timeline.compile.map(Stage::time),
        wait: entry.timeline.waiting(),
        steps: &steps.collect::<Vec<_>>(),
    }));
}
