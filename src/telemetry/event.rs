//! The closed set of events. No event has a field for tokens, passwords, variables or the text of a query. Of a query's text, events have
//! the operation's name, a hash and response keys. Events with an error are written with its text and its causes, so errors must not quote
//! secrets either.

use std::error::Error;
use std::net::IpAddr;
use std::panic::Location;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::telemetry::trace_context::TraceId;

/// Something that an operator may want to know. Each begins with the name of the module that emits it.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// http: the server accepts connections.
    Listening {
        /// The bound address.
        address: &'a str,
        /// Which endpoints it has.
        endpoints: &'a str,
    },
    /// cli: the database is not up yet, and is waited for.
    DatabaseAwaited {
        /// Why it cannot be connected to.
        error: &'a dyn Error,
        /// How long it is waited for.
        longest: Duration,
    },
    /// cli: the settings were read again.
    Reloaded {
        /// The settings that have another value now.
        changed: &'a str,
    },
    /// cli: a table that triggers keep equal to OFBiz's tables differs from them.
    KeptTableDiffers {
        table: &'a str,
        /// Its rows that differ.
        count: i64,
    },
    /// cli: the database lacks a change feed of the schema file, or triggers of it.
    ChangeFeedIncomplete { feed: &'a str },
    /// `change_feed`: no tick was written. It is tried again in ten seconds.
    SyncTickFailed {
        /// Why.
        error: &'a dyn Error,
    },
    /// cli: settings have another value, which will be in force when the server is started again.
    RestartNeeded { settings: &'a str },
    /// cli: the settings cannot be used. The settings that were read before stay in force.
    ReloadFailed {
        /// Why.
        error: &'a dyn Error,
    },
    /// cli: the tables were compared with the schema again. They fit it, and are served as they are now.
    SchemaFits,
    /// cli: a table was changed and does not fit the schema any more.
    SchemaUnfit {
        /// The mismatch between the tables and the schema.
        error: &'a dyn Error,
    },
    /// cli: the service manager cannot be notified of the server's state.
    ServiceManagerUnreachable {
        /// Why.
        error: &'a dyn Error,
    },
    /// cli: the server was asked to stop, and goes on for a while, not ready any more.
    Draining {
        /// How long.
        time: Duration,
    },
    /// http: the server was asked to stop and accepts no more connections.
    Stopping {
        /// Connections that are still open.
        open_connections: usize,
        /// How long they may take to finish.
        grace: Duration,
        /// Which endpoints they use.
        endpoints: &'a str,
    },
    /// http: the grace time is over, and open connections were closed.
    ConnectionsCutOff {
        /// How many.
        open_connections: usize,
    },
    /// http: the system did not hand out a connection, usually for want of file descriptors.
    AcceptFailed {
        /// The system's error.
        error: &'a dyn Error,
    },
    /// http: a client did not complete the handshake of TLS.
    HandshakeFailed {
        /// Why.
        error: &'a dyn Error,
    },
    /// http: connections were closed because there were too many of them, in all or from one address.
    TooManyConnections {
        /// The open connections that were closed to make room for others.
        shed: u64,
        /// The connections that were not accepted.
        refused: u64,
    },
    /// api: a request was answered, or its client disconnected first.
    Request(ServedRequest<'a>),
    /// api: a query took long.
    SlowQuery(SlowQuery<'a>),
    /// cli: no constraint of the database guarantees something that the schema promises. It is trusted, as configured.
    ConstraintMissing {
        /// The declaration, and a constraint that would guarantee it.
        mismatch: &'a dyn Error,
    },
    /// cli: an index that migrations make is missing. Queries that need it take longer, until their deadline.
    IndexMissing {
        /// The part of the schema that needs it, and the command that makes it.
        mismatch: &'a dyn Error,
    },
    /// cli: a collation sorts otherwise than when indexes were built.
    CollationChanged {
        /// Which, and how it has changed.
        collation: &'a str,
        /// The statements that build the indexes again.
        remedy: &'a str,
    },
    /// api: the database holds nulls in fields that the schema declares non-null. The response has null for the objects around them.
    NullabilityViolations {
        /// The request that met them.
        request_id: &'a str,
        /// How many it met.
        count: u64,
    },
    /// api, http: the request failed for a reason that is not the client's. The client sees only the request's id.
    InternalError {
        /// The id that the client sees.
        request_id: &'a str,
        error: &'a dyn Error,
    },
    /// api: requests were answered with 503.
    Unavailable {
        /// Why.
        error: &'a dyn Error,
        /// How many, since this was logged last.
        requests: u64,
    },

    /// access: a login succeeded or failed, or accounts were changed.
    Audit(Audit<'a>),
    /// access: the queue of audit events was full, so some were not stored.
    AuditEventsDropped {
        /// How many.
        count: u64,
    },
    /// access: the server stopped before the last audit events were stored.
    AuditFlushTimedOut,
    /// access: the database rejected a write for good.
    AccessWriteFailed {
        /// The kind of rows that were to be written.
        write: AccessWrite,
        /// The database's error.
        error: &'a dyn Error,
    },
    /// access: a write failed and will be tried again.
    AccessWriteRetried {
        /// The kind of rows that are to be written.
        write: AccessWrite,
        /// Why it failed.
        error: &'a dyn Error,
        /// When it is tried again.
        pause: Duration,
    },
    /// access: rows of an audit trail were removed because of their age.
    AuditPruned {
        table: &'a str,
        /// How many.
        rows: u64,
    },
    /// access: old rows of the audit trails cannot be removed. It is tried again in an hour.
    AuditPruneFailed {
        /// Why.
        error: &'a dyn Error,
    },
    /// access: changes of grants are no longer received. The grants that were read last stay in force.
    GrantsStale {
        /// Why.
        error: &'a dyn Error,
    },
    /// access: changes of grants are received again.
    GrantsFresh,
    /// access: the database does not notify this server of changed grants. It looks for them every second.
    NotificationsMissing {
        /// Why.
        error: &'a dyn Error,
    },
    /// access: the database notifies this server of changed grants again.
    NotificationsReceived,
    /// access: the grants could not be read and will be read again.
    GrantsRetried {
        /// Why.
        error: &'a dyn Error,
        /// When they are read again.
        pause: Duration,
    },
    /// access: a key was added or retired.
    KeysChanged {
        /// The ids of the keys in force, and when each was made.
        keys: &'a [(&'a str, SystemTime)],
    },
    /// access: the keys cannot be read. The keys that were read last stay in force.
    KeysUnreadable {
        /// Why.
        error: &'a dyn Error,
    },

    /// vocabulary: the known values of search keys cannot be read. The last ones stay in force.
    VocabulariesStale {
        /// Why.
        error: &'a dyn Error,
    },
    /// vocabulary: a relation has too many rows to be read as a vocabulary. Its keys have none.
    VocabularyTooLarge {
        /// The relation, as the schema file names it.
        relation: &'a str,
        /// The most rows that are read.
        max_rows: usize,
    },

    /// replicas: the primary does not answer. Replicas are read all the same, and order updates get 503.
    PrimaryLost {
        /// Why.
        error: &'a dyn Error,
    },
    /// replicas: the primary answers again.
    PrimaryFound,
    /// replicas: a replica may be read.
    ReplicaJoined {
        /// Its host and port.
        server: &'a str,
    },
    /// replicas: a replica is not read.
    ReplicaLeft {
        /// Its host and port.
        server: &'a str,
        /// Why.
        error: &'a dyn Error,
    },
    /// `shared_store`: the store that the nodes share is away. It is tried again once a second.
    SharedStoreLost {
        /// Host and port.
        address: &'a str,
        /// Why.
        error: &'a dyn Error,
    },
    /// `shared_store`: the store that the nodes share is back.
    SharedStoreBack {
        /// Host and port.
        address: &'a str,
    },

    /// database: connections do not have the settings with which PostgreSQL plans statements well.
    PlanningSettingsLost { settings: &'a str },
    /// database: a pool cannot open a connection. It is tried again once a second.
    ConnectsFail {
        pool: &'a str,
        /// Why.
        error: &'a dyn Error,
    },
    /// database: the pool can open connections again.
    ConnectsWork { pool: &'a str },
    /// database: a connection ended with an error.
    ConnectionLost { error: &'a dyn Error },
    /// database: a statement that nobody waits for could not be cancelled.
    CancelFailed { error: &'a dyn Error },
    /// `private_cluster`: the private PostgreSQL cluster could not be stopped.
    #[cfg(feature = "tools")]
    ClusterStopFailed {
        error: &'a dyn Error,
        /// The cluster's data folder.
        data: &'a std::path::Path,
    },

    /// telemetry: spans were dropped, because the collector took none or too few.
    #[cfg(feature = "traces")]
    SpansDropped {
        /// How many.
        count: u64,
        /// Why, unless too many waited.
        error: Option<&'a dyn Error>,
    },
    /// telemetry: traces are not recorded, because a variable is wrong.
    #[cfg(feature = "traces")]
    TracesOff {
        /// The variable, and its valid values.
        error: &'a dyn Error,
    },
    /// telemetry: lines of the log were dropped, because where it goes took none or too few.
    LogLinesDropped {
        /// How many.
        count: u64,
    },
    /// telemetry: a bug made a thread panic, in any module.
    Panicked {
        /// The panic's message.
        message: &'a str,
        /// The place in the source.
        location: Option<&'a Location<'a>>,
    },

    /// cli: the demo's database has the newest schema.
    #[cfg(feature = "tools")]
    DemoMigrated {
        /// Tables that were made.
        tables: usize,
    },
}

/// A request, as in an access log.
#[derive(Debug)]
pub(crate) struct ServedRequest<'a> {
    /// The id in the response's `X-Request-Id`.
    pub(crate) request_id: &'a str,
    /// The trace that it belongs to.
    pub(crate) trace_id: Option<TraceId>,
    /// The listener that it came to.
    pub(crate) listener: Option<&'a str>,
    /// The client's address.
    pub(crate) peer: Option<IpAddr>,
    /// The method, `other` for one that no endpoint has, or `none` where the head could not be read.
    pub(crate) method: &'static str,
    /// The endpoint's name; never the path, which a client chooses.
    pub(crate) route: &'a str,
    /// The authenticated user.
    pub(crate) caller: Option<&'a str>,
    /// The GraphQL operation's name.
    pub(crate) operation: Option<&'a str>,
    /// Credits that were debited.
    pub(crate) cost: Option<u64>,
    /// The first error's code.
    pub(crate) error_code: Option<&'static str>,
    /// Why the token is none of this service's.
    pub(crate) token_fault: Option<&'static str>,
    /// The HTTP status; none where the client disconnected first.
    pub(crate) status: Option<u16>,
    /// Bytes of its body.
    pub(crate) bytes_in: u64,
    /// Bytes of the response's body that were handed to the connection.
    pub(crate) bytes_out: u64,
    /// Whether the response was not sent to its end.
    pub(crate) broken_off: bool,
    /// From the request's head to the last byte of the response that was handed to the connection.
    pub(crate) duration: Duration,
    /// From the query's text to its plan.
    pub(crate) compile: Option<Duration>,
    /// Waiting for other queries, for credits and for a connection to the database.
    pub(crate) wait: Option<Duration>,
    /// From sending the first statement to the last row.
    pub(crate) database: Option<Duration>,
}

/// A query that took long. Has no variables.
#[derive(Debug)]
pub(crate) struct SlowQuery<'a> {
    /// The id in the response's `X-Request-Id`.
    pub(crate) request_id: &'a str,
    /// The trace that it belongs to.
    pub(crate) trace_id: Option<TraceId>,
    /// The authenticated user.
    pub(crate) caller: &'a str,
    /// The operation's name.
    pub(crate) operation: Option<&'a str>,
    /// The SHA-256 of its text.
    pub(crate) hash: &'a str,
    /// The number of the slowest page, if it is an export.
    pub(crate) page: Option<u64>,
    /// Credits that were debited.
    pub(crate) cost: Option<u64>,
    /// From the request's head to the response, or of a page of an export; without what the client was waited for. The times below are
    /// parts of it.
    pub(crate) duration: Duration,
    /// From its text to its plan.
    pub(crate) compile: Option<Duration>,
    /// Waiting for other queries, for credits and for a connection to the database.
    pub(crate) wait: Option<Duration>,
    /// From sending its statement to the last row, or until now, in all attempts; none if it was not sent.
    pub(crate) statement: Option<Duration>,
    /// Preparing it, in all attempts; none if it was not begun.
    pub(crate) prepare: Option<Duration>,
    /// Waiting for locks meanwhile; none if that was not observed.
    pub(crate) lock: Option<Duration>,
    /// How often it was begun once more.
    pub(crate) retries: Option<u32>,
    /// How many requests its execution served.
    pub(crate) requests: Option<usize>,
    /// The branches of its statement.
    pub(crate) branches: &'a [SlowBranch<'a>],
}

/// A branch of the statement of a query that took long.
#[derive(Debug)]
pub(crate) struct SlowBranch<'a> {
    /// The path of response keys, as `orderql explain` prints it.
    pub(crate) field: &'a str,
    /// How many rows it returned; none if the statement did not finish.
    pub(crate) rows: Option<u64>,
}

/// An entry of the audit log.
#[derive(Debug)]
pub(crate) struct Audit<'a> {
    /// The action, such as `login.failed`.
    pub(crate) action: &'a str,
    /// Who did it.
    pub(crate) actor: &'a str,
    /// The client's address, if it came over the network.
    pub(crate) address: Option<IpAddr>,
    /// The user or group that it was done to.
    pub(crate) subject: Option<&'a str>,
    /// Particulars. Never a password or a token.
    pub(crate) details: &'a Map<String, Value>,
}

/// A kind of rows that the running service writes to the access tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessWrite {
    AuditEvents,
    /// A password's hash with today's parameters.
    PasswordHash,
}
