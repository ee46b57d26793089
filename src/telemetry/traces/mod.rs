//! Traces: what a request did and when, sent to an OpenTelemetry collector by OpenTelemetry's SDK. They are off unless
//! `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set. While they are off, a request costs one look at a static.
//!
//! - [`recorder`]: starts and stops the SDK
//! - `collector`: the HTTP client, with TLS
//! - `bound`: how many spans wait, and how many are dropped
//! - `variables`: the variables that the SDK leaves to the program
//! - `error`: why no traces are recorded

mod bound;
mod collector;
mod error;
pub(crate) mod recorder;
mod variables;
