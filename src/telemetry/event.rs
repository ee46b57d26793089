//! The closed set of events: one table, a row an event. The enum, the code that writes the log and the documentation's table are made
//! from it. No event has a field for tokens, passwords, variables or query texts, so none of them can reach a sink.

use std::error::Error;
use std::fmt::Write;
use std::net::IpAddr;
use std::panic::Location;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::telemetry::log_value::{LogValue, SlowBranch};
use crate::telemetry::trace_context::TraceId;

/// Makes [`Event`] and its lines of the log. A row is `Event { fields [; part] } = level, message;`, with its meaning as doc comment.
/// Fields have the names and the order of the log's, and their types say how they are written. The part is in the message alone.
macro_rules! events {
    ($(
        #[doc = $help:literal]
        $(#[cfg(feature = $feature:literal)])?
        $event:ident $({ $($field:ident: $type:ty),+ $(; $part:ident: $part_type:ty)? })? = $level:ident, $message:literal;
    )+) => {
        /// Something that an operator may want to know.
        #[derive(Debug)]
        pub(crate) enum Event<'a> {
            $(#[doc = $help] $(#[cfg(feature = $feature)])? $event $({ $($field: $type,)+ $($part: $part_type)? })?,)+
        }

        impl Event<'_> {
            /// Writes the event to the log.
            pub(super) fn log(&self) {
                match self {
                    $(
                        $(#[cfg(feature = $feature)])?
                        Self::$event $({ $($field,)+ $($part)? })? => {
                            tracing::$level!($($($field = $field.log_value(),)+)? $message);
                        }
                    )+
                }
            }
        }

        /// Message, level, fields and meaning of each event.
        const ROWS: &[(&str, &str, &[&str], &str)] =
            &[$(($message, stringify!($level), &[$($(stringify!($field)),+)?], $help)),+];
    };
}

// Grouped by the module that emits them.
events! {
    // http
    /// The server accepts connections at `address`.
    Listening { address: &'a str, endpoints: &'a str } = info, "listening";
    /// The server was asked to stop and accepts no more connections. Open connections may take the grace time to finish.
    Stopping { open_connections: usize, grace: Duration, endpoints: &'a str } = info, "stopping";
    /// The grace time is over, and open connections were closed.
    ConnectionsCutOff { open_connections: usize } = warn, "connections were cut off at the end of the grace time";
    /// The system did not hand out a connection, usually for want of file descriptors.
    AcceptFailed { error: &'a dyn Error } = error, "cannot accept a connection";
    /// A client did not complete the handshake of TLS.
    HandshakeFailed { error: &'a dyn Error } = debug, "a client did not complete TLS";
    /// There were too many connections, in all or from one address: `shed` connections were open and made room for others, `refused` connections were not accepted.
    TooManyConnections { shed: u64, refused: u64 } = warn, "there are too many connections; idle ones were closed";

    // api
    /// A query took longer than `slow-query`.
    SlowQuery {
        request_id: &'a str, trace_id: Option<TraceId>, caller: &'a str, operation: Option<&'a str>, hash: &'a str, page: Option<u64>,
        cost: Option<u64>, duration_ms: f64, compile_ms: Option<f64>, wait_ms: Option<f64>, prepare_ms: Option<f64>,
        statement_ms: Option<f64>, lock_ms: Option<f64>, retries: Option<u32>, batch: Option<usize>, branches: &'a [SlowBranch<'a>]
    } = warn, "slow query";
    /// A response has null in place of `count` values, or of the objects around them.
    NullabilityViolations { request_id: &'a str, count: u64 }
        = warn, "the database holds nulls in non-null fields, values that their types cannot be, or lists that are too long";
    /// The request failed for a reason that is not the client's. The client sees only the request's id.
    InternalError { request_id: &'a str, error: &'a dyn Error } = error, "internal error";
    /// Requests were answered with 503; `requests` is their number since this was logged last.
    Unavailable { error: &'a dyn Error, requests: u64 } = warn, "the service is unavailable";

    // access
    /// A login succeeded or failed, or accounts were changed.
    Audit { action: &'a str, actor: &'a str, address: Option<IpAddr>, subject: Option<&'a str>, details: &'a Map<String, Value> } = info, "audit";
    /// The queue of audit events was full, so some were not stored.
    AuditEventsDropped { count: u64 } = warn, "audit events came faster than they could be stored, and were left out";
    /// The server stopped before the last audit events were stored.
    AuditFlushTimedOut = warn, "the last audit events were not stored; they are in the log";
    /// The database rejected audit events for good.
    AuditEventsRejected { error: &'a dyn Error } = error, "audit events cannot be stored";
    /// Audit events are stored again after the pause.
    AuditEventsRetried { error: &'a dyn Error, pause: Duration } = debug, "audit events cannot be stored yet";
    /// The database rejected a password's hash with today's parameters for good.
    PasswordHashRejected { error: &'a dyn Error } = error, "a password's new hash cannot be stored";
    /// The hash is stored again after the pause.
    PasswordHashRetried { error: &'a dyn Error, pause: Duration } = debug, "a password's new hash cannot be stored yet";
    /// Rows of an audit trail were removed because of their age.
    AuditPruned { table: &'a str, rows: u64 } = info, "old rows of an audit trail were removed";
    /// The server tries again in an hour.
    AuditPruneFailed { error: &'a dyn Error } = warn, "old rows of the audit trails cannot be removed";
    /// The database cannot be asked for changed grants.
    GrantsStale { error: &'a dyn Error } = warn, "changes of grants are no longer received; the last grants read stay in force";
    /// The connection for changes of grants is back.
    GrantsFresh = info, "changes of grants are received again";
    /// The database, or a pooler before it, does not notify this server of changed grants.
    NotificationsMissing { error: &'a dyn Error } = warn, "no notifications of changed grants are received; they are looked for every second";
    /// The database notifies this server again.
    NotificationsReceived = info, "notifications of changed grants are received again";
    /// The server reads the grants again after the pause.
    GrantsRetried { error: &'a dyn Error, pause: Duration } = debug, "the grants cannot be read yet";
    /// A key was added or retired. `keys` are the keys in force, each with the time at which it was made.
    KeysChanged { keys: &'a [(&'a str, SystemTime)] } = info, "other keys are in force";
    /// The server reads the keys again at the next check.
    KeysUnreadable { error: &'a dyn Error } = error, "keys cannot be read; the last ones read stay in force";

    // vocabulary
    /// No database server has answered the statements that read the values.
    VocabulariesStale { error: &'a dyn Error } = warn, "the known values of search keys cannot be read; the last ones read stay in force";
    /// The relation has more than `max_rows` rows. Its search keys have no known values.
    VocabularyTooLarge { relation: &'a str, max_rows: usize } = warn, "the vocabulary has too many rows and is not used";

    // change_feed
    /// The next attempt is in ten seconds.
    SyncTickFailed { error: &'a dyn Error } = warn, "no tick of the change feeds can be written; it is tried again";

    // replicas
    /// The primary is down, or cannot be reached.
    PrimaryLost { error: &'a dyn Error } = warn, "the primary does not answer; replicas are read, and order updates get 503";
    /// The server uses the primary as before.
    PrimaryFound = info, "the primary answers again";
    /// Queries are read from this replica, too.
    ReplicaJoined { server: &'a str } = info, "a replica is read";
    /// The error says why: for example, the replica's data are older than `replica-lag`.
    ReplicaLeft { server: &'a str, error: &'a dyn Error } = warn, "a replica is not read";

    // shared_store
    /// The store that the servers share does not answer.
    SharedStoreLost { address: &'a str, error: &'a dyn Error } = warn, "the shared store is away; it is tried again once a second";
    /// The store answers again.
    SharedStoreBack { address: &'a str } = info, "the shared store is back";

    // database
    /// Connections do not have the settings with which PostgreSQL plans statements well.
    PlanningSettingsLost { settings: &'a str } = warn, "statements are planned otherwise than they should; `orderql migrate --print-role-settings`";
    /// A pool cannot open a connection.
    ConnectsFail { pool: &'a str, error: &'a dyn Error } = warn, "no connection to the database can be opened; it is tried again once a second";
    /// The pool is in use again.
    ConnectsWork { pool: &'a str } = info, "connections to the database can be opened again";
    /// The connection ended with an error.
    ConnectionLost { error: &'a dyn Error } = debug, "a database connection ended";
    /// No client waits for the statement any more.
    CancelFailed { error: &'a dyn Error } = debug, "a statement could not be cancelled";

    // private_cluster
    /// The PostgreSQL that `orderql demo` has started, with its data in this folder.
    #[cfg(feature = "tools")]
    ClusterStopFailed { error: &'a dyn Error, data: &'a std::path::Path } = error, "the private PostgreSQL could not be stopped";

    // telemetry
    /// The queue of spans for the collector was full.
    #[cfg(feature = "traces")]
    SpanQueueFull { count: u64 } = debug, "too many spans wait, and some were dropped";
    /// The collector took no spans, or too few.
    #[cfg(feature = "traces")]
    SpansDropped { count: u64, error: &'a dyn Error } = warn, "spans of traces were dropped";
    /// A variable is wrong. The error says which, and what is valid.
    #[cfg(feature = "traces")]
    TracesOff { error: &'a dyn Error } = warn, "no traces are recorded";
    /// The reader of the log took no lines, or too few.
    LogLinesDropped { count: u64 } = warn, "lines of the log were dropped";
    /// A bug; `location` is its place in the source.
    Panicked { location: Option<&'a Location<'a>>, panic: &'a str } = error, "a thread panicked";

    // cli
    /// The server waits for the database, for `longest` at most.
    DatabaseAwaited { error: &'a dyn Error, longest: Duration } = warn, "the database is not up yet, and is waited for";
    /// `changed` names the settings that have another value.
    Reloaded { changed: &'a str } = info, "the settings were read again";
    /// The earlier values are in force until then.
    RestartNeeded { settings: &'a str } = warn, "settings have changed that are in force when the server is started again";
    /// The error says what is wrong.
    ReloadFailed { error: &'a dyn Error } = error, "the settings cannot be used; those that were read before stay in force";
    /// The database lacks a change feed of the schema file, or triggers of it.
    ChangeFeedIncomplete { feed: &'a str } = warn, "the change feed misses changes; run `orderql migrate`, then `orderql sync reset`";
    /// No constraint of the database guarantees what the schema declares, and `schema-constraints` is `trusted`.
    ConstraintMissing { mismatch: &'a dyn Error } = warn, "a promise of the schema is trusted";
    /// Migrations make the index. Queries that need it take longer, until their deadline.
    IndexMissing { mismatch: &'a dyn Error } = warn, "an index is missing, so that some queries take longer";
    /// A collation sorts otherwise than when indexes were built. The message names it; the remedy builds the indexes again.
    CollationChanged { remedy: &'a str; collation: &'a str } = warn, "{collation}";
    /// The server compared the tables with the schema file again.
    SchemaFits = info, "the tables fit the schema file, and are served as they are now";
    /// The error names the mismatch.
    SchemaUnfit { error: &'a dyn Error } = error, "tables were changed; requests that need them fail with SCHEMA_CHANGED";
    /// The server goes on without the service manager.
    ServiceManagerUnreachable { error: &'a dyn Error } = warn, "the service manager cannot be notified of the server's state";
    /// The server was asked to stop, and goes on for `time`, as `drain` says.
    Draining { time: Duration } = info, "not ready any more; the server stops when load balancers know it";
    /// The demo's database has the newest schema; `tables` is the number of tables that were made.
    #[cfg(feature = "tools")]
    DemoMigrated { tables: usize } = debug, "the demo's database is up to date";
}

/// The events as a Markdown table, for the documentation.
pub fn markdown_table() -> String {
    let mut table = String::from("| message | level | fields | |\n|---|---|---|---|\n");
    for (message, level, fields, help) in ROWS {
        let fields: Vec<_> = fields.iter().map(|field| format!("`{field}`")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {message} | {level} | {} | {} |", fields.join(", "), help.trim());
    }
    table
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::json;

    use super::*;
    use crate::telemetry::captured_line::json_of;

    #[test]
    fn writes_the_branches_of_a_slow_query() {
        let branches =
            [SlowBranch { field: "orders", rows: Some(20) }, SlowBranch { field: "orders.items", rows: None }];
        let query = Event::SlowQuery {
            request_id: "0f",
            trace_id: None,
            caller: "demo",
            operation: Some("Orders"),
            hash: "ab",
            page: Some(3),
            cost: Some(4),
            duration_ms: 1000.0,
            compile_ms: Some(0.003),
            wait_ms: None,
            prepare_ms: Some(250.0),
            statement_ms: Some(700.0),
            lock_ms: Some(640.0),
            retries: Some(1),
            batch: Some(7),
            branches: &branches,
        };
        let expected = json!({
            "level": "WARN", "message": "slow query", "request_id": "0f", "caller": "demo", "operation": "Orders", "hash": "ab",
            "page": 3, "cost": 4, "duration_ms": 1000.0, "compile_ms": 0.003,
            "prepare_ms": 250.0, "statement_ms": 700.0, "lock_ms": 640.0, "retries": 1, "batch": 7, "branches": "orders: 20 rows; orders.items: not finished",
        });
        assert_eq!(json_of(|| query.log()), expected);
    }

    #[test]
    fn writes_an_error_with_all_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read the grants")]
        struct Outer(#[source] io::Error);
        let error = Outer(io::Error::other("the disk is full"));
        let error: &dyn Error = &error;
        let internal = json_of(|| Event::InternalError { request_id: "0f", error }.log());
        assert_eq!(
            internal,
            json!({
                "level": "ERROR", "message": "internal error", "request_id": "0f",
                "error": "cannot read the grants: the disk is full",
            })
        );
        let pause = Duration::from_millis(100);
        let retried = json_of(|| Event::AuditEventsRetried { error, pause }.log());
        assert_eq!(retried["message"], "audit events cannot be stored yet");
        assert_eq!(retried["pause"], "100ms");
    }

    #[test]
    fn writes_the_times_of_keys_as_times() {
        let made = SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_123);
        let keys = [("first", made), ("second", made + Duration::from_hours(24))];
        let expected = "first of 2027-01-15T08:00:00Z, second of 2027-01-16T08:00:00Z";
        assert_eq!(json_of(|| Event::KeysChanged { keys: &keys }.log())["keys"], expected);
    }

    #[test]
    fn writes_an_audit_entry_with_its_details_as_json() {
        let details = Map::from_iter([("reason".to_owned(), json!("password"))]);
        let address = Some("192.0.2.1".parse().unwrap());
        let audit = Event::Audit { action: "login.failed", actor: "demo", address, subject: None, details: &details };
        assert_eq!(
            json_of(|| audit.log()),
            json!({
                "level": "INFO", "message": "audit", "action": "login.failed", "actor": "demo",
                "address": "192.0.2.1", "details": "{\"reason\":\"password\"}",
            })
        );
    }
}
