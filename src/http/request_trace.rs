//! The spans of a request, from what is logged of it: the request, its stages and its statements. No text and no value of a
//! query is in them.

use std::num::NonZeroU64;
use std::time::Instant;

use crate::execute::step_log::StepState;
use crate::http::route::Route;
use crate::http::timeline::{Stage, Timeline};
use crate::telemetry::event::ServedRequest;
use crate::telemetry::trace_context::TraceContext;
use crate::telemetry::traces::span::{Attribute, Calendar, Span, SpanKind, Trace, random_id};

/// The spans of a request that is over.
pub(crate) fn spans(
    served: &ServedRequest<'_>,
    route: Option<Route>,
    timeline: &Timeline,
    context: TraceContext,
) -> Trace {
    let calendar = Calendar::now();
    let request = request(served, route, context, calendar);
    let parent = request.id;
    let span = |name: &str, kind, start: Instant, end: Option<Instant>| Span {
        id: random_id(),
        parent: Some(parent),
        name: name.to_owned(),
        kind,
        times: [calendar.nanoseconds(start), end.map_or(calendar.end(), |end| calendar.nanoseconds(end))],
        attributes: Vec::new(),
        has_failed: end.is_none(),
    };
    let stages = [
        ("compile", timeline.compile),
        ("wait for admission", timeline.admission),
        ("wait for connection", timeline.connection),
    ];
    let stage = |(name, stage): (&str, Option<Stage>)| {
        stage.map(|stage| span(name, SpanKind::Internal, stage.start, Some(stage.end)))
    };
    let steps = timeline.steps.states().filter_map(|state| {
        let (sent, end, rows) = match state {
            StepState::Unsent => return None,
            StepState::Running(sent) => (sent, None, None),
            StepState::Done { sent, time, rows } => (sent, Some(sent + time), Some(rows)),
        };
        let mut attributes = vec![("db.system.name", text("postgresql")), ("db.operation.name", text("SELECT"))];
        attributes.extend(rows.map(|rows| ("db.response.returned_rows", Attribute::Number(rows))));
        Some(Span { attributes, ..span("SELECT", SpanKind::Client, sent, end) })
    });
    let mut spans = vec![request];
    spans.extend(stages.into_iter().filter_map(stage));
    spans.extend(steps);
    spans.extend(stage(("write", timeline.write)));
    Trace { id: context.trace_id, spans }
}

/// The whole request.
fn request(served: &ServedRequest<'_>, route: Option<Route>, context: TraceContext, calendar: Calendar) -> Span {
    let method = served.method;
    let route = route.map(Route::path);
    let number = Attribute::Number;
    let mut attributes = vec![("http.request.method", text(method)), ("orderql.request_id", text(served.request_id))];
    attributes.extend(route.map(|route| ("http.route", text(route))));
    attributes.extend(served.status.map(|status| ("http.response.status_code", number(status.into()))));
    attributes.extend(served.peer.map(|peer| ("client.address", text(&peer.to_string()))));
    attributes.extend(served.operation.map(|name| ("graphql.operation.name", text(name))));
    attributes.extend(served.error_code.map(|code| ("error.type", text(code))));
    attributes.extend(served.cost.map(|cost| ("orderql.cost", number(cost))));
    attributes.push(("http.request.body.size", number(served.bytes_in)));
    attributes.push(("http.response.body.size", number(served.bytes_out)));
    Span {
        id: random_id(),
        parent: context.parent_id.and_then(NonZeroU64::new),
        name: route.map_or(method.to_owned(), |route| format!("{method} {route}")),
        kind: SpanKind::Server,
        times: [calendar.before_end(served.duration), calendar.end()],
        attributes,
        // A client's errors are none of the server.
        has_failed: served.status.is_none_or(|status| status >= 500),
    }
}

fn text(text: &str) -> Attribute {
    Attribute::Text(text.to_owned())
}
