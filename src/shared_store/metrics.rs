//! The metrics of a shared store.

use crate::telemetry::metrics::instrument::{Histogram, Seconds};
use crate::telemetry::metrics::table::metrics;

metrics! {
    /// Time that calls of the shared store took, also of those that failed.
    DURATION: Histogram<Seconds>, by () = "orderql_bucket_store_duration_seconds";
}
