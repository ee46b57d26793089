//! Starts and stops OpenTelemetry's SDK, which reads its variables from the environment.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{InstrumentationScope, Key, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracer, SdkTracerProvider};
use tokio::task;

use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::traces::bound::{Bound, BoundedProcessor, CountingExporter};
use crate::telemetry::traces::collector::Collector;
use crate::telemetry::traces::error::TracesError;
use crate::telemetry::traces::variables;

static RECORDER: OnceLock<Recorder> = OnceLock::new();

#[derive(Debug)]
struct Recorder {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    bound: Arc<Bound>,
}

/// Starts to record and send traces, if the environment names a collector. Once for a process, in its runtime. Variables that
/// cannot be used are logged: a server serves without its traces.
pub(crate) fn start() {
    if variables::are_off() {
        return;
    }
    match Recorder::new() {
        Ok(recorder) => drop(RECORDER.set(recorder)),
        Err(error) => emit(&Event::TracesOff { error: &error }),
    }
}

/// The tracer, if traces are recorded.
pub(crate) fn tracer() -> Option<&'static SdkTracer> {
    RECORDER.get().map(|recorder| &recorder.tracer)
}

/// Waits until the spans that ended before are sent, for `timeout` at most. Nothing is recorded afterwards.
pub(crate) async fn finish(timeout: Duration) {
    let Some(recorder) = RECORDER.get() else { return };
    let shutdown = move || recorder.provider.shutdown_with_timeout(timeout);
    if let Ok(Err(error @ OTelSdkError::Timeout(_))) = task::spawn_blocking(shutdown).await {
        emit(&Event::SpansDropped { count: recorder.bound.waiting(), error: &error });
    }
}

impl Recorder {
    fn new() -> Result<Self, TracesError> {
        let collector = Collector::new()?;
        let failure = Arc::clone(&collector.failure);
        let exporter = SpanExporter::builder().with_http().with_http_client(collector).build()?;
        let bound = Arc::new(Bound::from_environment());
        let exporter = CountingExporter { inner: exporter, bound: Arc::clone(&bound), failure };
        let processor = BatchSpanProcessor::builder(exporter).build();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_span_processor(BoundedProcessor { inner: processor, bound: Arc::clone(&bound) })
            .build();
        let scope = InstrumentationScope::builder("orderql").with_version(env!("CARGO_PKG_VERSION")).build();
        let tracer = provider.tracer_with_scope(scope);
        Ok(Self { provider, tracer, bound })
    }
}

/// The attributes of this server: from the variables, and the program's name and version unless the variables have others.
fn resource() -> Resource {
    let given = |key| Resource::builder().build().get(&Key::from_static_str(key));
    let mut resource = Resource::builder();
    if given("service.version").is_none() {
        resource = resource.with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    }
    let name = given("service.name");
    if name.is_some_and(|name| !name.as_str().starts_with("unknown_service")) {
        resource.build()
    } else {
        resource.with_service_name("orderql").build()
    }
}
