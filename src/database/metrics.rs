//! Metrics of statements and of waiting for connections, with OpenTelemetry's names.

use std::time::{Duration, Instant};

use crate::database::error::DatabaseError;
use crate::telemetry::metrics::instrument::{Counter, Histogram, Seconds};
use crate::telemetry::metrics::label::{Label, label};
use crate::telemetry::metrics::table::metrics;

metrics! {
    /// Time from sending a statement to its last row. The statements of a query are sent together, so it includes those before it.
    OPERATIONS: Histogram<Seconds>, by (System, Operation, Failure) = "db_client_operation_duration_seconds";
    /// Time that a request waited for a connection.
    WAITS: Histogram<Seconds>, by (PoolName,) = "db_client_connection_wait_time_seconds";
    /// Requests that got no connection in time.
    TIMEOUTS: Counter, by (PoolName,) = "db_client_connection_timeouts_total";
    /// Executions of a statement that served several requests.
    BATCHES: Counter, by () = "orderql_batches_total";
    /// Requests that such executions served.
    BATCHED: Counter, by () = "orderql_batched_requests_total";
    /// Connections to the database that could not be opened. While that fails, each pool tries it once a second.
    FAILED_CONNECTS: Counter, by (PoolName, ConnectFailure) = "orderql_failed_connects_total";
}

label! {
    /// The database's kind.
    System = "db_system_name" { Postgresql = "postgresql", }
}

label! {
    /// What a statement does.
    Operation = "db_operation_name" {
        Select = "SELECT",
        Insert = "INSERT",
        Update = "UPDATE",
        Delete = "DELETE",
        Begin = "BEGIN",
        Commit = "COMMIT",
        Rollback = "ROLLBACK",
        Prepare = "PREPARE",
        Other = "_OTHER",
    }
}

label! {
    /// A pool of connections.
    PoolName = "db_client_connection_pool_name" {
        /// Of those that read.
        Queries = "queries",
        /// Of those that write.
        Updates = "updates",
        /// Of those that exports read from.
        Exports = "exports",
    }
}

label! {
    /// Why a connection could not be opened.
    ConnectFailure = "error_type" {
        /// PostgreSQL has none left, or the role or the database has a limit.
        TooManyConnections = "too_many_connections",
        /// Password, user or `pg_hba.conf`.
        Authentication = "authentication",
        /// PostgreSQL starts or stops, or refuses for another reason of its own.
        Unavailable = "unavailable",
        /// It did not answer in time.
        Timeout = "timeout",
        /// The network, or no server.
        Unreachable = "unreachable",
        /// It lost settings that results depend on.
        Unsuitable = "unsuitable",
    }
}

/// Why a statement failed, if it did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure(Option<FailureKind>);

#[derive(Debug, Clone, Copy)]
enum FailureKind {
    Unreachable = 1,
    Incomplete,
    Unavailable,
    Cancelled,
    Batch,
    Conflict,
    SchemaChanged,
    Statement,
}

impl Label for Failure {
    const NAME: &'static str = "error_type";
    const COUNT: usize = 9;

    fn index(self) -> usize {
        self.0.map_or(0, |kind| kind as usize)
    }

    fn text(index: usize) -> &'static str {
        [
            "",
            "unreachable",
            "incomplete",
            "unavailable",
            "cancelled",
            "batch",
            "conflict",
            "schema_changed",
            "statement",
        ][index]
    }
}

impl Failure {
    fn of(error: Option<&DatabaseError>) -> Self {
        Self(error.map(|error| match error {
            DatabaseError::Busy | DatabaseError::Unreachable(_) | DatabaseError::Unsuitable(_) => {
                FailureKind::Unreachable
            }
            DatabaseError::Incomplete { .. } => FailureKind::Incomplete,
            DatabaseError::Unavailable(_) => FailureKind::Unavailable,
            DatabaseError::Cancelled(_) => FailureKind::Cancelled,
            DatabaseError::Batch => FailureKind::Batch,
            DatabaseError::Conflict(_) | DatabaseError::Rewritten => FailureKind::Conflict,
            DatabaseError::SchemaChanged(_) => FailureKind::SchemaChanged,
            DatabaseError::Statement(_) => FailureKind::Statement,
        }))
    }
}

impl Operation {
    /// What a statement does, by its first word.
    pub(super) fn of(sql: &str) -> Self {
        match sql.split_ascii_whitespace().next() {
            Some("SELECT" | "WITH") => Self::Select,
            Some("INSERT") => Self::Insert,
            Some("UPDATE") => Self::Update,
            Some("DELETE") => Self::Delete,
            _ => Self::Other,
        }
    }
}

/// Runs an operation, and records how long it took.
pub(super) async fn timed<T>(
    operation: Operation,
    running: impl Future<Output = Result<T, DatabaseError>>,
) -> Result<T, DatabaseError> {
    let started = Instant::now();
    let result = running.await;
    record(operation, started.elapsed(), result.as_ref().err());
    result
}

/// Records an operation that took so long, and failed if there is an error.
pub(crate) fn record(operation: Operation, time: Duration, error: Option<&DatabaseError>) {
    OPERATIONS.of((System::Postgresql, operation, Failure::of(error))).record_time(time);
}

/// Waits for a connection of a pool, and records how long it took. Makes the future that waits itself: one that it is given has a place in its
/// own future twice.
pub(crate) async fn waited<T, W: Future<Output = Result<T, DatabaseError>>>(
    pool: PoolName,
    wait: impl FnOnce() -> W,
) -> Result<T, DatabaseError> {
    let started = Instant::now();
    let result = wait().await;
    WAITS.of((pool,)).record_time(started.elapsed());
    if matches!(result, Err(DatabaseError::Busy)) {
        TIMEOUTS.of((pool,)).increment();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_the_first_word_of_a_statement() {
        for (sql, operation) in [
            ("SELECT 1", Operation::Select),
            ("\n    WITH a AS (SELECT 1) SELECT FROM a", Operation::Select),
            ("UPDATE a SET b = 1", Operation::Update),
            ("SET LOCAL lock_timeout = 1", Operation::Other),
            ("", Operation::Other),
        ] {
            assert_eq!(Operation::of(sql), operation, "{sql}");
        }
    }
}
