//! Bounds how many spans wait for the collector, and counts spans that it does not get. The SDK's own queue is bounded as well, but its
//! drops are not reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use opentelemetry::Context;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{
    self, BatchSpanProcessor, OTEL_BSP_MAX_QUEUE_SIZE, OTEL_BSP_MAX_QUEUE_SIZE_DEFAULT, Span, SpanData, SpanProcessor,
};

use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::traces::variables::variable;

/// How many spans wait or are being sent, and how many may.
#[derive(Debug)]
pub(super) struct Bound {
    waiting: AtomicUsize,
    limit: usize,
}

impl Bound {
    /// The length of the SDK's queue, which so never overflows.
    pub(super) fn from_environment() -> Self {
        let limit = variable(OTEL_BSP_MAX_QUEUE_SIZE).and_then(|value| value.parse().ok());
        Self { waiting: AtomicUsize::new(0), limit: limit.unwrap_or(OTEL_BSP_MAX_QUEUE_SIZE_DEFAULT) }
    }

    /// How many spans wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed) as u64
    }

    /// Whether one more may wait.
    fn enter(&self) -> bool {
        let has_entered = self.waiting.fetch_add(1, Ordering::Relaxed) < self.limit;
        if !has_entered {
            self.leave(1);
        }
        has_entered
    }

    fn leave(&self, count: usize) {
        self.waiting.fetch_sub(count, Ordering::Relaxed);
    }
}

/// Hands on the spans that may wait.
#[derive(Debug)]
pub(super) struct BoundedProcessor {
    pub(super) inner: BatchSpanProcessor,
    pub(super) bound: Arc<Bound>,
}

impl SpanProcessor for BoundedProcessor {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.bound.enter() {
            self.inner.on_end(span);
        } else {
            emit(&Event::SpanQueueFull { count: 1 });
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Sends spans, and counts spans that the collector does not take.
#[derive(Debug)]
pub(super) struct CountingExporter {
    pub(super) inner: SpanExporter,
    pub(super) bound: Arc<Bound>,
    /// Why the last request got no response.
    pub(super) failure: Arc<ArcSwapOption<String>>,
}

/// Why the collector did not take spans.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("the collector cannot be reached: {0}")]
    Unreachable(Arc<String>),
    #[error(transparent)]
    Rejected(OTelSdkError),
}

impl trace::SpanExporter for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let result = self.inner.export(batch).await;
        self.bound.leave(count);
        if let Err(error) = result {
            let error = self.failure.swap(None).map_or(ExportError::Rejected(error), ExportError::Unreachable);
            emit(&Event::SpansDropped { count: count as u64, error: &error });
        }
        // The SDK would log the error again.
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}
