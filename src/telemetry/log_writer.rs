//! The sink that writes events to the log: the level, the message and the fields' names of each event.

use std::fmt;
use std::time::SystemTime;

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tracing::{debug, error, info, warn};

use crate::telemetry::access_log;
use crate::telemetry::error_chain::ErrorChain;
use crate::telemetry::event::{AccessWrite, Event, SlowBranch, SlowQuery};
use crate::telemetry::request_line::{self, milliseconds};

/// Writes an event to the log.
#[allow(clippy::too_many_lines, reason = "an arm for each event")]
pub(super) fn write(event: &Event<'_>) {
    match event {
        Event::Listening { address, endpoints } => info!(address, endpoints, "listening"),
        Event::DatabaseAwaited { error, longest } => {
            warn!(error = %ErrorChain(*error), ?longest, "the database is not up yet, and is waited for");
        }
        Event::Reloaded { changed } => info!(changed, "the settings were read again"),
        Event::RestartNeeded { settings } => {
            warn!(settings, "settings have changed that are in force when the server is started again");
        }
        Event::KeptTableDiffers { table, count } => {
            warn!(table, count, "rows of the table differ from OFBiz's tables; run `orderql tables --repair`");
        }
        Event::ChangeFeedIncomplete { feed } => {
            warn!(feed, "the change feed misses changes; run `orderql migrate`, then `orderql sync reset`");
        }
        Event::SyncTickFailed { error } => {
            warn!(error = %ErrorChain(*error), "no tick of the change feeds can be written; it is tried again");
        }
        Event::ReloadFailed { error } => {
            error!(error = %ErrorChain(*error), "the settings cannot be used; those that were read before stay in force");
        }
        Event::SchemaFits => info!("the tables fit the schema file, and are served as they are now"),
        Event::SchemaUnfit { error } => {
            error!(error = %ErrorChain(*error), "tables were changed; requests that need them fail with SCHEMA_CHANGED");
        }
        Event::ServiceManagerUnreachable { error } => {
            warn!(error = %ErrorChain(*error), "the service manager cannot be notified of the server's state");
        }
        Event::Draining { time } => info!(?time, "not ready any more; the server stops when load balancers know it"),
        Event::Stopping { open_connections, grace, endpoints } => {
            info!(open_connections, ?grace, endpoints, "stopping");
        }
        Event::ConnectionsCutOff { open_connections } => {
            warn!(open_connections, "connections were cut off at the end of the grace time");
        }
        Event::AcceptFailed { error } => error!(error = %ErrorChain(*error), "cannot accept a connection"),
        Event::HandshakeFailed { error } => debug!(error = %ErrorChain(*error), "a client did not complete TLS"),
        Event::TooManyConnections { shed, refused } => {
            warn!(shed, refused, "there are too many connections; idle ones were closed");
        }
        Event::Request(request) => {
            if access_log::admits(request) {
                request_line::write(request);
            }
        }
        Event::SlowQuery(query) => write_slow_query(query),
        Event::ConstraintMissing { mismatch } => warn!(%mismatch, "a promise of the schema is trusted"),
        Event::CollationChanged { collation, remedy } => warn!(remedy, "{collation}"),
        Event::IndexMissing { mismatch } => warn!(%mismatch, "an index is missing, so that some queries take longer"),
        Event::NullabilityViolations { request_id, count } => {
            warn!(
                request_id,
                count,
                "the database holds nulls in non-null fields, values that their types cannot be, or lists that are too long"
            );
        }
        Event::InternalError { request_id, error } => {
            error!(request_id, error = %ErrorChain(*error), "internal error");
        }
        Event::Unavailable { error, requests } => {
            warn!(error = %ErrorChain(*error), requests, "the service is unavailable");
        }

        Event::Audit(audit) => info!(
            action = audit.action,
            actor = audit.actor,
            address = audit.address.map(display),
            subject = audit.subject,
            details = %Json(audit.details),
            "audit"
        ),
        Event::AuditEventsDropped { count } => {
            warn!(count, "audit events came faster than they could be stored, and were left out");
        }
        Event::AuditFlushTimedOut => warn!("the last audit events were not stored; they are in the log"),
        Event::AuditPruned { table, rows } => info!(table, rows, "old rows of an audit trail were removed"),
        Event::AuditPruneFailed { error } => {
            warn!(error = %ErrorChain(*error), "old rows of the audit trails cannot be removed");
        }
        Event::AccessWriteFailed { write, error } => error!(error = %ErrorChain(*error), "{}", failure(*write)),
        Event::AccessWriteRetried { write, error, pause } => {
            debug!(error = %ErrorChain(*error), ?pause, "{} yet", failure(*write));
        }
        Event::GrantsStale { error } => {
            warn!(error = %ErrorChain(*error), "changes of grants are no longer received; the last grants read stay in force");
        }
        Event::GrantsFresh => info!("changes of grants are received again"),
        Event::NotificationsMissing { error } => {
            warn!(error = %ErrorChain(*error), "no notifications of changed grants are received; they are looked for every second");
        }
        Event::NotificationsReceived => info!("notifications of changed grants are received again"),
        Event::GrantsRetried { error, pause } => {
            debug!(error = %ErrorChain(*error), ?pause, "the grants cannot be read yet");
        }
        Event::KeysChanged { keys } => info!(keys = %Keys(keys), "other keys are in force"),
        Event::KeysUnreadable { error } => {
            error!(error = %ErrorChain(*error), "keys cannot be read; the last ones read stay in force");
        }

        Event::VocabulariesStale { error } => {
            warn!(error = %ErrorChain(*error), "the known values of search keys cannot be read; the last ones read stay in force");
        }
        Event::VocabularyTooLarge { relation, max_rows } => {
            warn!(relation, max_rows, "the vocabulary has too many rows and is not used");
        }

        Event::PrimaryLost { error } => {
            warn!(error = %ErrorChain(*error), "the primary does not answer; replicas are read, and order updates get 503");
        }
        Event::PrimaryFound => info!("the primary answers again"),
        Event::ReplicaJoined { server } => info!(server, "a replica is read"),
        Event::ReplicaLeft { server, error } => warn!(server, error = %ErrorChain(*error), "a replica is not read"),
        Event::SharedStoreLost { address, error } => {
            warn!(address, error = %ErrorChain(*error), "the shared store is away; it is tried again once a second");
        }
        Event::SharedStoreBack { address } => info!(address, "the shared store is back"),

        Event::PlanningSettingsLost { settings } => {
            warn!(
                settings,
                "statements are planned otherwise than they should; `orderql migrate --print-role-settings`"
            );
        }
        Event::ConnectsFail { pool, error } => {
            warn!(pool, error = %ErrorChain(*error), "no connection to the database can be opened; it is tried again once a second");
        }
        Event::ConnectsWork { pool } => info!(pool, "connections to the database can be opened again"),
        Event::ConnectionLost { error } => debug!(error = %ErrorChain(*error), "a database connection ended"),
        Event::CancelFailed { error } => debug!(error = %ErrorChain(*error), "a statement could not be cancelled"),
        #[cfg(feature = "tools")]
        Event::ClusterStopFailed { error, data } => {
            error!(error = %ErrorChain(*error), data = %data.display(), "the private PostgreSQL could not be stopped");
        }

        #[cfg(feature = "traces")]
        Event::SpansDropped { count, error: None } => debug!(count, "too many spans wait, and some were dropped"),
        #[cfg(feature = "traces")]
        Event::SpansDropped { count, error: Some(error) } => {
            warn!(count, error = %ErrorChain(*error), "spans of traces were dropped");
        }
        #[cfg(feature = "traces")]
        Event::TracesOff { error } => warn!(error = %ErrorChain(*error), "no traces are recorded"),
        Event::LogLinesDropped { count } => warn!(count, "lines of the log were dropped"),
        Event::Panicked { message, location } => {
            error!(location = location.map(display), panic = message, "a thread panicked");
        }

        #[cfg(feature = "tools")]
        Event::DemoMigrated { tables } => debug!(tables, "the demo's database is up to date"),
    }
}

fn write_slow_query(query: &SlowQuery<'_>) {
    warn!(
        request_id = query.request_id,
        trace_id = query.trace_id.map(display),
        caller = query.caller,
        operation = query.operation,
        hash = query.hash,
        page = query.page,
        cost = query.cost,
        duration_ms = milliseconds(query.duration),
        compile_ms = query.compile.map(milliseconds),
        wait_ms = query.wait.map(milliseconds),
        prepare_ms = query.prepare.map(milliseconds),
        statement_ms = query.statement.map(milliseconds),
        lock_ms = query.lock.map(milliseconds),
        retries = query.retries.filter(|retries| *retries > 0),
        batch = query.requests.filter(|requests| *requests > 1),
        branches = %Branches(query.branches),
        "slow query"
    );
}

const fn failure(write: AccessWrite) -> &'static str {
    match write {
        AccessWrite::AuditEvents => "audit events cannot be stored",
        AccessWrite::PasswordHash => "a password's new hash cannot be stored",
    }
}

/// The branches of a statement, each with its rows.
struct Branches<'a>(&'a [SlowBranch<'a>]);

impl fmt::Display for Branches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, SlowBranch { field, rows }) in self.0.iter().enumerate() {
            write!(f, "{}{field}: ", if index == 0 { "" } else { "; " })?;
            match rows {
                None => f.write_str("not finished")?,
                Some(rows) => write!(f, "{rows} rows")?,
            }
        }
        Ok(())
    }
}

/// Keys, each with the time at which it was made.
struct Keys<'a>(&'a [(&'a str, SystemTime)]);

impl fmt::Display for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (id, made)) in self.0.iter().enumerate() {
            let made = OffsetDateTime::from(*made).replace_nanosecond(0).ok();
            let made = made.and_then(|made| made.format(&Rfc3339).ok()).unwrap_or_default();
            write!(f, "{}{id} of {made}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A map as JSON text.
struct Json<'a>(&'a Map<String, Value>);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self.0).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io::{self, Write};
    use std::net::IpAddr;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::telemetry::event::{Audit, ServedRequest};
    use crate::telemetry::trace_context::TraceId;

    /// A log in memory.
    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The event's line, without its time.
    fn line(event: &Event<'_>) -> Value {
        let buffer = Buffer::default();
        let writer = buffer.clone();
        let log = tracing_subscriber::fmt().json().flatten_event(true).with_target(false);
        let log = log.with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(log, || write(event));
        let mut line: Value = serde_json::from_slice(&buffer.0.lock().unwrap()).unwrap();
        line.as_object_mut().unwrap().remove("timestamp");
        line
    }

    #[test]
    fn writes_a_request_with_the_fields_that_are_known_and_no_others() {
        let request = ServedRequest {
            request_id: "0f",
            trace_id: Some(TraceId(1)),
            listener: Some("public"),
            peer: Some(IpAddr::from([192, 0, 2, 1])),
            method: "POST",
            route: "graphql",
            caller: Some("demo"),
            operation: Some("Orders"),
            cost: Some(4),
            error_code: Some("THROTTLED"),
            token_fault: Some("aud"),
            status: Some(200),
            bytes_in: 12,
            bytes_out: 34,
            broken_off: true,
            duration: Duration::from_nanos(1_234_567),
            compile: Some(Duration::from_micros(3)),
            wait: Some(Duration::from_micros(20)),
            database: Some(Duration::from_millis(1)),
        };
        let all = json!({
            "level": "INFO", "message": "request", "request_id": "0f", "method": "POST", "route": "graphql",
            "status": 200, "duration_ms": 1.235, "caller": "demo", "operation": "Orders", "cost": 4,
            "error_code": "THROTTLED", "token_fault": "aud", "trace_id": "00000000000000000000000000000001", "listener": "public",
            "peer": "192.0.2.1", "bytes_in": 12, "bytes_out": 34, "broken_off": true, "compile_ms": 0.003, "wait_ms": 0.02, "database_ms": 1.0,
        });
        assert_eq!(line(&Event::Request(request)), all);
        let request = ServedRequest {
            request_id: "0f",
            trace_id: None,
            listener: None,
            peer: None,
            method: "none",
            route: "none",
            caller: None,
            operation: None,
            cost: None,
            error_code: None,
            token_fault: None,
            status: None,
            bytes_in: 0,
            bytes_out: 0,
            broken_off: false,
            duration: Duration::from_secs(2),
            compile: None,
            wait: None,
            database: None,
        };
        let least = json!({
            "level": "INFO", "message": "request", "request_id": "0f", "method": "none", "route": "none",
            "duration_ms": 2000.0, "bytes_in": 0, "bytes_out": 0,
        });
        assert_eq!(line(&Event::Request(request)), least);
    }

    #[test]
    fn writes_the_branches_of_a_slow_query() {
        let time = |micros| Some(Duration::from_micros(micros));
        let branches =
            [SlowBranch { field: "orders", rows: Some(20) }, SlowBranch { field: "orders.items", rows: None }];
        let query = SlowQuery {
            request_id: "0f",
            trace_id: None,
            caller: "demo",
            operation: Some("Orders"),
            hash: "ab",
            page: Some(3),
            cost: Some(4),
            duration: Duration::from_secs(1),
            compile: time(3),
            wait: None,
            statement: time(700_000),
            prepare: time(250_000),
            lock: time(640_000),
            retries: Some(1),
            requests: Some(7),
            branches: &branches,
        };
        let expected = json!({
            "level": "WARN", "message": "slow query", "request_id": "0f", "caller": "demo", "operation": "Orders", "hash": "ab",
            "page": 3, "cost": 4, "duration_ms": 1000.0, "compile_ms": 0.003,
            "prepare_ms": 250.0, "statement_ms": 700.0, "lock_ms": 640.0, "retries": 1, "batch": 7, "branches": "orders: 20 rows; orders.items: not finished",
        });
        assert_eq!(line(&Event::SlowQuery(query)), expected);
    }

    #[test]
    fn writes_an_error_with_all_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read the grants")]
        struct Outer(#[source] io::Error);
        let error = Outer(io::Error::other("the disk is full"));
        let error: &dyn Error = &error;
        let internal = line(&Event::InternalError { request_id: "0f", error });
        assert_eq!(
            internal,
            json!({
                "level": "ERROR", "message": "internal error", "request_id": "0f",
                "error": "cannot read the grants: the disk is full",
            })
        );
        let pause = Duration::from_millis(100);
        let retried = line(&Event::AccessWriteRetried { write: AccessWrite::AuditEvents, error, pause });
        assert_eq!(retried["message"], "audit events cannot be stored yet");
        assert_eq!(retried["pause"], "100ms");
    }

    #[test]
    fn writes_the_times_of_keys_as_times() {
        let made = SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_123);
        let keys = [("first", made), ("second", made + Duration::from_hours(24))];
        let expected = "first of 2027-01-15T08:00:00Z, second of 2027-01-16T08:00:00Z";
        assert_eq!(line(&Event::KeysChanged { keys: &keys })["keys"], expected);
    }

    #[test]
    fn writes_an_audit_entry_with_its_details_as_json() {
        let details = Map::from_iter([("reason".to_owned(), json!("password"))]);
        let address = Some("192.0.2.1".parse().unwrap());
        let audit = Audit { action: "login.failed", actor: "demo", address, subject: None, details: &details };
        assert_eq!(
            line(&Event::Audit(audit)),
            json!({
                "level": "INFO", "message": "audit", "action": "login.failed", "actor": "demo",
                "address": "192.0.2.1", "details": "{\"reason\":\"password\"}",
            })
        );
    }
}
