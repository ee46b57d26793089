//! What the server reports to its operators: metrics, the log.

mod access_log;
mod metrics;
mod slow_queries;
mod statement_statistics;
mod unread_log;
