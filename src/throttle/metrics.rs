//! The metrics of buckets.

use crate::telemetry::metrics::instrument::Counter;
use crate::telemetry::metrics::table::metrics;

metrics! {
    /// Queries that were admitted or refused as `bucket-away` says, because the shared store was away.
    FALLBACKS: Counter, by () = "orderql_bucket_fallback_total";
}
