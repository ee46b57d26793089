//! Traces: what a request did and when, sent to an OpenTelemetry collector by OpenTelemetry's SDK. Silent until
//! `OTEL_EXPORTER_OTLP_ENDPOINT` is set; then a request without a trace costs one look at a static.
//!
//! - [`recorder`]: starts and stops the SDK
//! - `collector`: the HTTP client, with TLS
//! - `bound`: how many spans wait, and how many are dropped
//! - `variables`: the variables that the SDK leaves to the program

mod bound;
mod collector;
mod error;
pub(crate) mod recorder;
mod variables;
