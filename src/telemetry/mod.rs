//! The reports of the service to its operators: a closed set of events, handed to every sink.
//!
//! - `event`: the events and their typed fields
//! - `emit`, below: hands an event to every sink
//! - `log_writer`: the sink that writes events to the log
//! - `request_line`: the line of a request; most lines are such
//! - `event_metrics`: the sink that counts events
//! - `access_log`: which requests are logged
//! - `trace_context`: the trace that a request belongs to
//! - `traces`: sends what requests did to a collector; the feature `traces`
//! - `log`: opens the log: where it goes, its format and its filter
//! - `log_queue`: takes the log's lines without waiting for where it goes
//! - `error_chain`: an error and its causes on one line
//! - `metrics`: counters, gauges and histograms, and their text for Prometheus

pub mod access_log;
pub(crate) mod error_chain;
pub(crate) mod event;
pub(crate) mod event_metrics;
pub mod log;
mod log_queue;
mod log_writer;
pub(crate) mod metrics;
mod request_line;
pub(crate) mod trace_context;
#[cfg(feature = "traces")]
pub(crate) mod traces;

/// Hands an event to every sink.
pub(crate) fn emit(event: &event::Event<'_>) {
    event_metrics::count(event);
    log_writer::write(event);
}
