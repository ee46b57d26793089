//! What the server reports to its operators: metrics, the log.

mod access_log;
mod metrics;
mod slow_queries;
mod statement_statistics;
#[cfg(feature = "traces")]
mod traces;
mod unread_log;
