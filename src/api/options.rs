//! The settings of the endpoints.

use std::time::Duration;

use crate::api::console_mode::ConsoleMode;
use crate::api::query_texts::QueryTextOptions;

/// The settings of the endpoints.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long a query may ask to wait for its credits or its place.
    pub max_wait: Duration,
    /// How long a query waits for its place without asking.
    pub queue_wait: Duration,
    /// Queries of one caller that may wait.
    pub queue_length: usize,
    /// Requests of one caller that may wait for changes.
    pub parked_requests: u32,
    /// How long an export reads from one snapshot.
    pub export_time: Duration,
    /// How much the texts of persisted queries may take.
    pub persisted_queries: QueryTextOptions,
    /// How long a query may take without being logged as slow; `None` if none is.
    pub slow_query: Option<Duration>,
    /// Which listener has the console.
    pub console: ConsoleMode,
    /// Whether the schema that is published without a token has the parts that need a grant.
    pub publishes_granted: bool,
}
