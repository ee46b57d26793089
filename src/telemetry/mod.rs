//! The reports of the service to its operators: a closed set of events, handed to every sink.
//!
//! - `event`: the table of events, from which the log's lines are made
//! - `log_value`: how the fields of events are written to the log
//! - `event_metrics`: the sink that counts events
//! - `emit`, below: hands an event to every sink
//! - `access_log`: what is logged of a request, and which requests are logged
//! - `request_line`: the line of a request; most lines are such
//! - `trace_context`: the trace that a request belongs to
//! - `traces`: sends what requests did to a collector; the feature `traces`
//! - `log`: opens the log: where it goes, its format and its filter
//! - `log_queue`: takes the log's lines without waiting for where it goes
//! - `error_chain`: an error and its causes on one line
//! - `metrics`: counters, gauges and histograms, and their text for Prometheus

pub(crate) mod access_log;
#[cfg(test)]
mod captured_line;
pub(crate) mod error_chain;
pub mod event;
pub(crate) mod event_metrics;
pub(crate) mod log;
mod log_queue;
pub(crate) mod log_value;
pub(crate) mod metrics;
mod request_line;
pub(crate) mod trace_context;
#[cfg(feature = "traces")]
pub(crate) mod traces;

/// Hands an event to every sink.
pub(crate) fn emit(event: &event::Event<'_>) {
    event_metrics::count(event);
    event.log();
}

/// Writes a request to the log, if such requests are logged.
pub(crate) fn log_request(request: &access_log::ServedRequest<'_>) {
    if access_log::admits(request) {
        request_line::write(request);
    }
}
