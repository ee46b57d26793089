//! What the service reports to its operators: a closed set of events, handed to every sink.
//!
//! - `event`: the events and their typed fields
//! - `emit`, below: hands an event to every sink
//! - `log_writer`: the sink that writes events to the log
//! - `log`: opens the log: where it goes, its format and its filter
//! - `log_queue`: takes the log's lines without waiting for where it goes
//! - `error_chain`: an error and its causes on one line

pub(crate) mod error_chain;
pub(crate) mod event;
pub mod log;
mod log_queue;
mod log_writer;

/// Hands an event to every sink. The log is the only one so far; another one, such as metrics, is called here too.
pub(crate) fn emit(event: &event::Event<'_>) {
    log_writer::write(event);
}
