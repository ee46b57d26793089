//! One connection for the statements of one request, which all read the same snapshot.
//!
//! tokio-postgres sends a statement when its future is first polled, and pipelines statements that are sent before an
//! earlier response arrives. The order of first polls is the order of sending, so BEGIN and COMMIT travel with the
//! statements between them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::Object;
use futures_util::future::try_join_all;
use tokio_postgres::{RowStream, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::cancel;
use crate::database::database_address::DatabaseAddress;
use crate::database::error::DatabaseError;
use crate::database::metrics::{Operation, record, timed};
use crate::database::parameter::SqlParam;
use crate::database::portals::Portals;
use crate::database::round_trip::RoundTrip;

/// The maximum number of prepared statements of a connection. Beyond it, all are dropped: queries repeat, and a flood of
/// new ones must not fill the server's memory.
const MAX_STATEMENTS: usize = 512;

/// A connection that one request reads from. [`Snapshot::release`] returns it to the pool. If it is dropped before, its
/// transaction is rolled back, and statements that take long are cancelled on the server.
pub struct Snapshot {
    connection: Option<Object>,
    tls: MakeRustlsConnect,
    begin: Begin,
    round_trip: Arc<RoundTrip>,
}

/// How a transaction becomes a snapshot that only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// By the defaults of its connection.
    Default,
    /// It says so: behind a pooler the connection of a transaction may be any.
    Explicit,
}

impl Snapshot {
    pub(super) fn new(connection: Object, database: &DatabaseAddress, round_trip: Arc<RoundTrip>) -> Self {
        let begin = if database.startup_options { Begin::Default } else { Begin::Explicit };
        Self { connection: Some(connection), tls: database.tls.clone(), begin, round_trip }
    }

    /// The time that a request can save by one round trip to the database less.
    pub fn round_trip(&self) -> Duration {
        self.round_trip.time()
    }

    /// Whether a statement without a transaction only reads.
    pub(crate) fn reads_only_by_default(&self) -> bool {
        self.begin == Begin::Default
    }

    /// Prepares statements. Those that the connection has not prepared yet are sent together.
    pub async fn prepare(&self, texts: impl Iterator<Item = &str>) -> Result<Vec<Statement>, DatabaseError> {
        let connection = self.connection()?;
        if connection.statement_cache.size() > MAX_STATEMENTS {
            connection.statement_cache.clear();
        }
        let prepared = connection.statement_cache.size();
        let started = Instant::now();
        let statements = try_join_all(texts.map(|text| connection.prepare_cached(text))).await?;
        if connection.statement_cache.size() > prepared {
            record(Operation::Prepare, started.elapsed(), None);
        }
        Ok(statements)
    }

    /// Begins a transaction. Every statement in it reads the same snapshot. Its response comes before any statement's, after one round trip.
    pub async fn begin(&self) -> Result<(), DatabaseError> {
        let sent = Instant::now();
        let begin = match self.begin {
            Begin::Default => "BEGIN",
            Begin::Explicit => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        timed(Operation::Begin, async { Ok(self.connection()?.batch_execute(begin).await?) }).await?;
        self.round_trip.record(sent.elapsed());
        Ok(())
    }

    /// Ends the transaction.
    pub async fn commit(&self) -> Result<(), DatabaseError> {
        timed(Operation::Commit, async { Ok(self.connection()?.batch_execute("COMMIT").await?) }).await
    }

    /// Begins a transaction whose statements return their rows as far as they are asked for.
    pub async fn portals(&mut self) -> Result<Portals<'_>, DatabaseError> {
        Portals::begin(self.connection.as_mut().ok_or(DatabaseError::Busy)?, self.begin == Begin::Explicit).await
    }

    /// Runs a statement. Its rows are streamed as they arrive.
    pub async fn query(
        &self,
        statement: &Statement,
        parameters: Vec<SqlParam<'_>>,
    ) -> Result<RowStream, DatabaseError> {
        Ok(self.connection()?.query_raw(statement, parameters).await?)
    }

    /// Returns the connection to the pool. Call it only when every statement has completed.
    pub fn release(mut self) {
        self.connection = None;
    }

    /// Closes the connection and cancels its statements. Call it when the connection cannot be trusted any more.
    pub fn discard(mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::abandon(connection, self.tls.clone());
        }
    }

    fn connection(&self) -> Result<&Object, DatabaseError> {
        self.connection.as_ref().ok_or(DatabaseError::Busy)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::end(connection, self.tls.clone());
        }
    }
}
