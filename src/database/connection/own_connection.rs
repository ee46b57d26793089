//! A connection that one request has for itself: for one statement, or for the pages of an export.

use std::time::Instant;

use deadpool_postgres::Object;
use futures_util::future::maybe_done;
use futures_util::poll;
use tokio_postgres::{SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::address::database_address::DatabaseAddress;
use crate::database::connection::backend::Backend;
use crate::database::connection::cancel;
use crate::database::connection::lock_waits::LockWatch;
use crate::database::connection::rows::{Commit, Rows};
use crate::database::connection::statement_texts::StatementTexts;
use crate::database::error::DatabaseError;
use crate::database::metrics::{Operation, record, timed};
use crate::database::parameter::BinaryParameter;

/// A connection that one request has for itself. [`OwnConnection::release`] returns it to the pool. If it is dropped before, its
/// transaction is rolled back, and a statement that takes long is cancelled on the server.
pub struct OwnConnection {
    connection: Option<Object>,
    tls: MakeRustlsConnect,
    read_only: ReadOnly,
    texts: StatementTexts,
    locks: LockWatch,
}

/// Begins a transaction of one statement.
const BEGIN_STATEMENT: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY";

/// Begins a transaction whose statements all have the snapshot of the first.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A table that the transaction has locked whose file is another one now than in its snapshot. Catalogs have the file 0 there.
const REWRITTEN: &str = "SELECT c.oid::text FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation \
                         WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND c.relkind IN ('r', 'm') AND c.relfilenode <> 0 \
                         AND c.relfilenode <> pg_relation_filenode(c.oid) LIMIT 1";

/// What makes a statement read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadOnly {
    /// The defaults of its connection.
    ByDefault,
    /// Its transaction: behind a pooler the connection of a transaction may be any.
    ByTransaction,
}

/// The transaction that a statement is run in. A statement alone sees one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionKind {
    /// One of its own, if it takes one to say that it only reads.
    Own,
    /// One that was begun before.
    Open,
}

impl OwnConnection {
    pub(in crate::database) fn new(
        connection: Object,
        database: &DatabaseAddress,
        texts: &StatementTexts,
        locks: &LockWatch,
    ) -> Self {
        let read_only = if database.startup_options { ReadOnly::ByDefault } else { ReadOnly::ByTransaction };
        Self {
            connection: Some(connection),
            tls: database.tls.clone(),
            read_only,
            texts: texts.clone(),
            locks: locks.clone(),
        }
    }

    /// The server's side of the connection.
    pub(crate) fn backend(&self) -> Option<Backend> {
        Some(Backend::of(self.connection.as_ref()?, &self.locks))
    }

    /// Begins a transaction. Every statement in it sees the snapshot of the first.
    pub(crate) async fn begin(&self) -> Result<(), DatabaseError> {
        timed(Operation::Begin, async { Ok(self.connection()?.batch_execute(BEGIN_SNAPSHOT).await?) }).await
    }

    /// Whether a table that the transaction has read was written anew, as by an `ALTER TABLE`, between its snapshot and its first lock. To the
    /// snapshot such a table may have no rows.
    pub(crate) async fn has_missed_rows(&self) -> Result<bool, DatabaseError> {
        Ok(self.first_row(REWRITTEN).await?.is_some())
    }

    pub(crate) async fn commit(&self) -> Result<(), DatabaseError> {
        timed(Operation::Commit, async { Ok(self.connection()?.batch_execute("COMMIT").await?) }).await
    }

    /// Prepares a statement, unless the connection has prepared it before.
    pub(crate) async fn prepare(&self, sql: &str) -> Result<Statement, DatabaseError> {
        let connection = self.connection()?;
        let (prepared, started) = (connection.statement_cache.size(), Instant::now());
        let statement = connection.prepare_cached(sql).await?;
        if connection.statement_cache.size() > prepared {
            record(Operation::Prepare, started.elapsed(), None);
            self.texts.insert(sql, connection);
        }
        Ok(statement)
    }

    /// Runs a statement. Its rows arrive as they are read.
    pub(crate) async fn query<'p>(
        &self,
        statement: &Statement,
        parameters: impl ExactSizeIterator<Item = BinaryParameter<'p>>,
        transaction: TransactionKind,
    ) -> Result<Rows<'_>, DatabaseError> {
        let connection = self.connection()?;
        if transaction == TransactionKind::Open || self.read_only == ReadOnly::ByDefault {
            return Ok(Rows::arriving(connection.query_raw(statement, parameters).await?, None));
        }
        // A message is sent when its future is first polled, so these three travel together.
        let mut begin = Box::pin(maybe_done(connection.batch_execute(BEGIN_STATEMENT)));
        let _ = poll!(&mut begin);
        let mut query = Box::pin(maybe_done(connection.query_raw(statement, parameters)));
        let _ = poll!(&mut query);
        let mut commit: Commit<'_> = Box::pin(connection.batch_execute("COMMIT"));
        let _ = poll!(&mut commit);
        begin.as_mut().await;
        begin.as_mut().take_output().transpose()?;
        query.as_mut().await;
        let rows = query.as_mut().take_output().transpose()?.ok_or(DatabaseError::Busy)?;
        Ok(Rows::arriving(rows, Some(commit)))
    }

    /// Runs a statement by `EXPLAIN (ANALYZE)` with a generic plan, as it is run when it is prepared, and returns the report. After an
    /// error, the connection must not be used again.
    pub(crate) async fn explain_analyze(&self, sql: &str, arguments: &str) -> Result<String, DatabaseError> {
        let (begin, commit) = match self.read_only {
            ReadOnly::ByDefault => (String::new(), ""),
            ReadOnly::ByTransaction => (format!("{BEGIN_STATEMENT}; "), "; COMMIT"),
        };
        let batch = format!(
            "{begin}PREPARE orderql_analyzed AS {sql};\nEXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) \
             EXECUTE orderql_analyzed{arguments};\nDEALLOCATE orderql_analyzed{commit}"
        );
        timed(Operation::Other, async {
            let messages = self.connection()?.simple_query(&batch).await?;
            let report = messages.iter().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0),
                _ => None,
            });
            report.map(str::to_owned).ok_or(DatabaseError::Incomplete { announced: None, received: 0 })
        })
        .await
    }

    /// The texts of the first row that a statement without parameters returns, in one round trip.
    pub(crate) async fn first_row(&self, sql: &str) -> Result<Option<Vec<String>>, DatabaseError> {
        timed(Operation::Other, async {
            let messages = self.connection()?.simple_query(sql).await?;
            Ok(messages.iter().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|column| row.get(column).unwrap_or_default().to_owned()).collect())
                }
                _ => None,
            }))
        })
        .await
    }

    /// Returns the connection to the pool. Call it only when every statement has completed.
    pub(crate) fn release(mut self) {
        self.connection = None;
    }

    /// Closes the connection and cancels its statements. Call it when the connection cannot be trusted any more.
    pub(crate) fn discard(mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::abandon(connection, self.tls.clone());
        }
    }

    fn connection(&self) -> Result<&Object, DatabaseError> {
        self.connection.as_ref().ok_or(DatabaseError::Busy)
    }
}

impl Drop for OwnConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            cancel::end(connection, self.tls.clone());
        }
    }
}
