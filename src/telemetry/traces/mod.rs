//! Traces: what a request did and when, sent to an OpenTelemetry collector. Silent until `OTEL_EXPORTER_OTLP_ENDPOINT` is set;
//! then a request without a trace costs one look at a static.
//!
//! - [`span`]: a part of a request, and the spans of one request together
//! - [`settings`]: OpenTelemetry's environment variables
//! - `sampler`: which requests are recorded
//! - `otlp_json`: spans as OTLP's JSON
//! - [`exporter`]: sends them in the background

pub(crate) mod exporter;
mod otlp_json;
mod sampler;
mod settings;
pub(crate) mod span;
