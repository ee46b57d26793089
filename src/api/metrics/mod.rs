//! The metrics of requests, which are recorded, by the `request_labels`; and the list of all metrics.

pub(crate) mod request_labels;

use crate::access;
use crate::api::metrics::request_labels::{RequestMethod, ResponseStatus};
use crate::api::route::Route;
use crate::database;
use crate::error::code::ErrorCode;
use crate::http;
use crate::shared_store;
use crate::telemetry::event_metrics;
use crate::telemetry::metrics::instrument::{Counter, Credits, Gauge, Histogram, Seconds};
use crate::telemetry::metrics::label::label;
use crate::telemetry::metrics::process;
use crate::telemetry::metrics::reading::Metric;
use crate::telemetry::metrics::table::metrics;
use crate::throttle;

metrics! {
    /// Time from a request's head to the last byte of its response that was handed to the connection.
    REQUESTS: Histogram<Seconds>, by (RequestMethod, Option<Route>, ResponseStatus) = "http_server_request_duration_seconds";
    /// The same of requests to the operators' listener, which are not counted above.
    ADMIN_REQUESTS: Histogram<Seconds>, by (Option<Route>, ResponseStatus) = "orderql_admin_request_duration_seconds";
    /// Time that charged queries took, without waiting for credits or for their callers' other queries.
    QUERIES: Histogram<Seconds>, by () = "orderql_query_duration_seconds";
    /// Time that queries waited for credits or for their callers' other queries.
    QUERY_WAITS: Histogram<Seconds>, by () = "orderql_query_wait_seconds";
    /// Time that charged exports took; they are as slow as their clients, and as their callers' credits are restored.
    EXPORTS: Histogram<Seconds>, by () = "orderql_export_duration_seconds";
    /// Requests without a response, or with a response that is not handed over yet.
    ACTIVE: Gauge, by () = "http_server_active_requests";
    /// Requests that got an error, by the code of the first.
    ERRORS: Counter, by (ErrorCode,) = "orderql_errors_total";
    /// Estimated cost of the queries that were charged.
    COST_ESTIMATED: Histogram<Credits>, by () = "orderql_cost_estimated";
    /// Cost of the queries that were charged and answered, computed from the rows that they returned.
    COST_ACTUAL: Histogram<Credits>, by () = "orderql_cost_actual";
    /// Credits of the queries that were throttled.
    THROTTLED_CREDITS: Counter, by () = "orderql_throttled_credits_total";
    /// Refusals of throttled queries that were held back, because their callers got many.
    HELD_BACK: Counter, by () = "orderql_refusals_held_back_total";
    /// Order updates that were well-formed, by their outcome.
    UPDATES: Counter, by (UpdateResult,) = "orderql_updates_total";
}

label! {
    /// What became of an order update.
    UpdateResult = "outcome" {
        /// All rows were applied.
        Applied = "applied",
        /// It names what does not exist, or conflicts with the state of the orders.
        Rejected = "rejected",
        /// Its idempotency key cannot be used.
        KeyRejected = "key_rejected",
        /// The database cannot be used, or it took too long.
        Unavailable = "unavailable",
        /// An internal error.
        Failed = "failed",
    }
}

/// The metrics of all modules that are recorded.
pub(crate) fn recorded<'a>() -> impl Iterator<Item = &'a (dyn Metric + 'a)> {
    let modules = [
        RECORDED,
        http::metrics::RECORDED,
        database::metrics::RECORDED,
        shared_store::metrics::RECORDED,
        throttle::metrics::RECORDED,
        access::metrics::RECORDED,
        event_metrics::RECORDED,
    ];
    modules.into_iter().chain([process::FIGURES]).flatten().map(|metric| *metric as &dyn Metric)
}
