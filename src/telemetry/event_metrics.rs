//! The sink that counts events which an operator should be alerted to.

use crate::telemetry::event::Event;
use crate::telemetry::metrics::instrument::Counter;
use crate::telemetry::metrics::table::metrics;

metrics! {
    /// Lines of the log that were dropped, because their reader took none or too few.
    LOG_LINES_DROPPED: Counter, by () = "orderql_log_lines_dropped_total";
    /// Audit events that were not stored, because they came faster than the database took them. They are in the log.
    AUDIT_EVENTS_DROPPED: Counter, by () = "orderql_audit_lost_total";
    /// Writes to the tables of accounts and their audit trail that the database rejected for good.
    ACCESS_WRITES_FAILED: Counter, by () = "orderql_access_writes_failed_total";
    /// Values of the database that the schema rules out: nulls in non-null fields, values that their types cannot be, and lists that are too long.
    NULLABILITY_VIOLATIONS: Counter, by () = "orderql_nullability_violations_total";
    /// Spans of traces that were dropped, because the collector took none or too few.
    SPANS_DROPPED: Counter, by () = "orderql_spans_dropped_total";
    /// Panics, which are bugs.
    PANICS: Counter, by () = "orderql_panics_total";
}

/// Counts an event.
pub(super) fn count(event: &Event<'_>) {
    match event {
        Event::LogLinesDropped { count } => LOG_LINES_DROPPED.of(()).add(*count),
        Event::AuditEventsDropped { count } => AUDIT_EVENTS_DROPPED.of(()).add(*count),
        Event::AuditEventsRejected { .. } | Event::PasswordHashRejected { .. } => {
            ACCESS_WRITES_FAILED.of(()).increment();
        }
        Event::NullabilityViolations { count, .. } => NULLABILITY_VIOLATIONS.of(()).add(*count),
        #[cfg(feature = "traces")]
        Event::SpanQueueFull { count } | Event::SpansDropped { count, .. } => SPANS_DROPPED.of(()).add(*count),
        Event::Panicked { .. } => PANICS.of(()).increment(),
        _ => {}
    }
}
