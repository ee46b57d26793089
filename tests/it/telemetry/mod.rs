//! What the server reports to its operators: metrics, the log.

mod metrics;
mod unread_log;
