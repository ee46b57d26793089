//! The settings of the endpoints.

use std::time::Duration;

use crate::api::console_mode::ConsoleMode;
use crate::api::query_texts::QueryTextOptions;

/// The settings of the endpoints.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) max_wait: Duration,
    pub(crate) queue_wait: Duration,
    pub(crate) queue_length: usize,
    /// Requests of one caller that may wait for changes.
    pub parked_requests: u32,
    pub(crate) export_time: Duration,
    /// How much the texts of persisted queries may take.
    pub persisted_queries: QueryTextOptions,
    /// How long a query may take without being logged as slow; `None` if none is.
    pub(crate) slow_query: Option<Duration>,
    /// Which listener has the console.
    pub console: ConsoleMode,
    /// Whether the schema that is published without a token has the parts that need a grant.
    pub(crate) publishes_granted: bool,
}
