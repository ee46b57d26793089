//! The spans of a request: the request, its stages and its statement. No value of a query is in them. Of its text they have the
//! response keys that the statement reads.

use std::borrow::Cow;
use std::time::{Instant, SystemTime};

use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceState,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::route::Route;
use crate::execute::statement_log::StatementState;
use crate::plan::step::Step;
use crate::telemetry::access_log::ServedRequest;
use crate::telemetry::trace_context::{TraceContext, TraceId};
use crate::telemetry::traces::recorder;

/// Bytes that a statement's summary may have, by OpenTelemetry's conventions.
const MAX_SUMMARY: usize = 255;

/// A request's span, from its arrival on.
#[derive(Debug)]
pub(crate) struct RequestTrace {
    span: Span,
    parts: SpanParent,
}

/// Makes the spans that are parts of another span.
#[derive(Debug, Clone)]
pub(crate) struct SpanParent {
    tracer: &'static SdkTracer,
    context: SpanContext,
    /// When the request began, by both clocks: its other times are so long after it as the monotonic clock says.
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
        let span = builder.start_with_context(tracer, &parent);
        let parts = SpanParent { tracer, context: span.span_context().clone(), began };
        Some(Box::new(Self { span, parts }))
    }

    /// The trace that the request belongs to, recorded or not.
    pub(crate) fn id(&self) -> TraceId {
        TraceId(u128::from_be_bytes(self.span.span_context().trace_id().to_bytes()))
    }

    /// Makes the spans of the request's parts before it ends. `None` if it is not recorded.
    pub(crate) fn parts(&self) -> Option<SpanParent> {
        self.span.is_recording().then(|| self.parts.clone())
    }

    /// Records what the request did. It is over now.
    pub(crate) fn finish(mut self, served: &ServedRequest<'_>, route: Option<Route>, timeline: &Timeline) {
        if !self.span.is_recording() {
            return;
        }
        let end = Instant::now();
        self.parts.timeline(timeline, end);
        self.describe(served, route);
        self.span.end_with_timestamp(self.parts.time(end));
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
}

impl SpanParent {
    /// Records a page of an export, which is over now.
    pub(crate) fn page(&self, started: Instant, timeline: &Timeline) {
        let end = Instant::now();
        let mut span = self.start("page", SpanKind::Internal, started);
        Self { context: span.span_context().clone(), ..self.clone() }.timeline(timeline, end);
        span.end_with_timestamp(self.time(end));
    }

    /// Records the stages of a query. Stages that are not over end now.
    fn timeline(&self, timeline: &Timeline, now: Instant) {
        for (name, stage) in [
            ("compile", timeline.compile),
            ("wait for admission", timeline.admission),
            ("wait for connection", timeline.connection),
        ] {
            self.stage(name, stage);
        }
        self.statement(timeline, now);
        self.stage("write", timeline.write);
    }

    fn stage(&self, name: &'static str, stage: Option<Stage>) {
        if let Some(Stage { start, end }) = stage {
            self.start(name, SpanKind::Internal, start).end_with_timestamp(self.time(end));
        }
    }

    fn statement(&self, timeline: &Timeline, now: Instant) {
        let (sent, end, rows) = match timeline.statement.state() {
            StatementState::Unsent => return,
            StatementState::Running(sent) => (sent, now, None),
            StatementState::Done { sent, time, rows } => (sent, sent + time, Some(rows.iter().sum())),
        };
        let summary = timeline.plan.as_ref().map_or_else(|| "SELECT".to_owned(), |plan| summary(plan.steps()));
        let mut span = self.start(summary.clone(), SpanKind::Client, sent);
        span.set_attribute(KeyValue::new("db.query.summary", summary));
        span.set_attribute(KeyValue::new("db.system.name", "postgresql"));
        span.set_attribute(KeyValue::new("db.operation.name", "SELECT"));
        if let Some(table) = timeline.plan.as_ref().and_then(|plan| table(plan.steps())) {
            span.set_attribute(KeyValue::new("db.collection.name", table.to_owned()));
        }
        if let Some((address, port)) = timeline.statement.server() {
            span.set_attribute(KeyValue::new("server.address", address));
            span.set_attributes(port.map(|port| KeyValue::new("server.port", i64::from(port))));
        }
        // The conventions have the attribute for batches alone.
        if let Some(requests @ 2..) = timeline.statement.waits().map(|waits| waits.requests) {
            span.set_attribute(KeyValue::new("db.operation.batch.size", number(requests as u64)));
        }
        match rows {
            Some(rows) => span.set_attribute(KeyValue::new("db.response.returned_rows", number(rows))),
            None => span.set_status(Status::error("")),
        }
        span.end_with_timestamp(self.time(end));
    }

    /// A part that began then.
    fn start(&self, name: impl Into<Cow<'static, str>>, kind: SpanKind, start: Instant) -> Span {
        let parent = Context::new().with_remote_span_context(self.context.clone());
        let builder = SpanBuilder::from_name(name).with_kind(kind).with_start_time(self.time(start));
        builder.start_with_context(self.tracer, &parent)
    }

    /// The calendar's time of a moment since the request began.
    fn time(&self, moment: Instant) -> SystemTime {
        self.began.1 + moment.saturating_duration_since(self.began.0)
    }
}

/// The name of a statement's span, as OpenTelemetry's conventions have it: the operation and its steps, as far as they fit.
fn summary(steps: &[Step]) -> String {
    let mut summary = "SELECT".to_owned();
    for step in steps {
        if summary.len() + 1 + step.name.len() > MAX_SUMMARY {
            break;
        }
        summary.push(' ');
        summary.push_str(&step.name);
    }
    summary
}

/// The table that a statement reads: the table of the query's fields, to whose rows the rows of other tables belong. OpenTelemetry's
/// conventions have one table for a statement: a statement for fields of several tables has none.
fn table(steps: &[Step]) -> Option<&str> {
    let mut roots = steps.iter().filter(|step| step.parent.is_none()).map(|step| &*step.relation);
    let first = roots.next()?;
    roots.all(|other| other == first).then_some(first)
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
