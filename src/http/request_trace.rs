//! The spans of a request: the request, its stages and its statements. No text and no value of a query is in them.

use std::time::{Instant, SystemTime};

use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceState,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use crate::execute::step_log::StepState;
use crate::http::route::Route;
use crate::http::timeline::{Stage, Timeline};
use crate::telemetry::event::ServedRequest;
use crate::telemetry::trace_context::{TraceContext, TraceId};
use crate::telemetry::traces::recorder;

/// A request's span, from its arrival on.
#[derive(Debug)]
pub(crate) struct RequestTrace {
    tracer: &'static SdkTracer,
    span: Span,
    /// When it began, by both clocks: its other times are so long after it as the monotonic clock says.
    began: (Instant, SystemTime),
}

impl RequestTrace {
    /// Begins the span of a request: as a part of its client's trace, or as a trace of its own. `None` if no traces are
    /// recorded.
    pub(crate) fn begin(client: Option<TraceContext>) -> Option<Box<Self>> {
        let tracer = recorder::tracer()?;
        let began = (Instant::now(), SystemTime::now());
        let parent = client.map_or_else(Context::new, |client| Context::new().with_remote_span_context(remote(client)));
        let builder = SpanBuilder::from_name("request").with_kind(SpanKind::Server).with_start_time(began.1);
        Some(Box::new(Self { tracer, span: builder.start_with_context(tracer, &parent), began }))
    }

    /// The trace that the request belongs to, recorded or not.
    pub(crate) fn id(&self) -> TraceId {
        TraceId(u128::from_be_bytes(self.span.span_context().trace_id().to_bytes()))
    }

    /// Records what the request did. It is over now.
    pub(crate) fn finish(mut self, served: &ServedRequest<'_>, route: Option<Route>, timeline: &Timeline) {
        if !self.span.is_recording() {
            return;
        }
        let end = Instant::now();
        for (name, stage) in [
            ("compile", timeline.compile),
            ("wait for admission", timeline.admission),
            ("wait for connection", timeline.connection),
        ] {
            self.stage(name, stage);
        }
        timeline.steps.states().for_each(|state| self.statement(state, end));
        self.stage("write", timeline.write);
        self.describe(served, route);
        self.span.end_with_timestamp(self.time(end));
    }

    fn stage(&self, name: &'static str, stage: Option<Stage>) {
        if let Some(Stage { start, end }) = stage {
            self.part(name, SpanKind::Internal, start).end_with_timestamp(self.time(end));
        }
    }

    fn statement(&self, state: StepState, now: Instant) {
        let (sent, end, rows) = match state {
            StepState::Unsent => return,
            StepState::Running(sent) => (sent, now, None),
            StepState::Done { sent, time, rows } => (sent, sent + time, Some(rows)),
        };
        let mut span = self.part("SELECT", SpanKind::Client, sent);
        span.set_attribute(KeyValue::new("db.system.name", "postgresql"));
        span.set_attribute(KeyValue::new("db.operation.name", "SELECT"));
        match rows {
            Some(rows) => span.set_attribute(KeyValue::new("db.response.returned_rows", number(rows))),
            None => span.set_status(Status::error("")),
        }
        span.end_with_timestamp(self.time(end));
    }

    /// A part of the request that began then.
    fn part(&self, name: &'static str, kind: SpanKind, start: Instant) -> Span {
        let parent = Context::new().with_remote_span_context(self.span.span_context().clone());
        let builder = SpanBuilder::from_name(name).with_kind(kind).with_start_time(self.time(start));
        builder.start_with_context(self.tracer, &parent)
    }

    fn describe(&mut self, served: &ServedRequest<'_>, route: Option<Route>) {
        let method = served.method;
        let route = route.map(Route::path);
        self.span.update_name(route.map_or(method.to_owned(), |route| format!("{method} {route}")));
        let mut attributes = vec![
            KeyValue::new("http.request.method", method),
            KeyValue::new("orderql.request_id", served.request_id.to_owned()),
        ];
        attributes.extend(route.map(|route| KeyValue::new("http.route", route)));
        attributes.extend(served.status.map(|status| KeyValue::new("http.response.status_code", i64::from(status))));
        attributes.extend(served.peer.map(|peer| KeyValue::new("client.address", peer.to_string())));
        attributes.extend(served.operation.map(|name| KeyValue::new("graphql.operation.name", name.to_owned())));
        attributes.extend(served.error_code.map(|code| KeyValue::new("error.type", code)));
        attributes.extend(served.cost.map(|cost| KeyValue::new("orderql.cost", number(cost))));
        attributes.push(KeyValue::new("http.request.body.size", number(served.bytes_in)));
        attributes.push(KeyValue::new("http.response.body.size", number(served.bytes_out)));
        self.span.set_attributes(attributes);
        // A client's errors are none of the server.
        if served.status.is_none_or(|status| status >= 500) {
            self.span.set_status(Status::error(""));
        }
    }

    /// The calendar's time of a moment since the beginning.
    fn time(&self, moment: Instant) -> SystemTime {
        self.began.1 + moment.saturating_duration_since(self.began.0)
    }
}

/// A client's span.
fn remote(client: TraceContext) -> SpanContext {
    let flags = TraceFlags::default().with_sampled(client.is_sampled);
    let (trace, span) = (client.trace_id.0.into(), SpanId::from(client.parent_id));
    SpanContext::new(trace, span, flags, true, TraceState::NONE)
}

/// OpenTelemetry's numbers are signed.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
