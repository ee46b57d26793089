//! Writes batches of records, in one transaction per file.
//!
//! A batch is one statement under a savepoint. If PostgreSQL rejects it, its halves are tried instead, and so on, so that a
//! bad record does not affect the others.

use std::collections::HashMap;
use std::ops::Range;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Statement, Transaction};

use crate::load::error::RowError;
use crate::load::record::{RecordBatch, StatementKey};
use crate::load::report::{FileReport, RowCounts};
use crate::load::row::RowAction;
use crate::load::statement::{CREATE_ORIGINALS, batch_statement};
use crate::load::tables::TargetTables;

/// A statement finds at most some thousand rows by their keys. By default PostgreSQL would read a table of tens of
/// thousands of rows in full for each statement, so a load would slow down as its tables grow. The time zone is fixed
/// because original rows are compared as text.
const SETTINGS: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
    SET LOCAL enable_mergejoin = off; SET LOCAL timezone = 'UTC'";
/// The maximum number of prepared statements. A file with more prepares some of them again.
const MAX_STATEMENTS: usize = 500;

/// Writes the records of one file.
pub(super) struct TableWriter<'a> {
    transaction: Transaction<'a>,
    tables: &'a TargetTables,
    statements: HashMap<StatementKey, Statement>,
}

impl<'a> TableWriter<'a> {
    /// Prepares a transaction for the statements of [`batch_statement`].
    pub(super) async fn new(transaction: Transaction<'a>, tables: &'a TargetTables) -> Result<Self, Error> {
        transaction.batch_execute(SETTINGS).await?;
        transaction.batch_execute(CREATE_ORIGINALS).await?;
        Ok(Self { transaction, tables, statements: HashMap::new() })
    }

    /// Writes batches in order. `entities` has each table's entity, for the report.
    pub(super) async fn write(
        &mut self,
        batches: Vec<RecordBatch>,
        entities: &HashMap<usize, String>,
        report: &mut FileReport,
    ) -> Result<(), Error> {
        for batch in batches {
            let entity = entities.get(&batch.statement.table).map_or("", String::as_str);
            for (index, error) in self.write_batch(&batch, entity, report).await? {
                report.add_bad(batch.records[index].0, entity, error);
            }
        }
        Ok(())
    }

    /// Writes a batch and returns the rejected records by index. A rejected batch is halved, down to single records. A
    /// rejected record may reference a later one of the batch, so rejected records are retried while any retry succeeds:
    /// whether a record is written must not depend on the other records of its statement.
    async fn write_batch(
        &mut self,
        batch: &RecordBatch,
        entity: &str,
        report: &mut FileReport,
    ) -> Result<Vec<(usize, RowError)>, Error> {
        let mut rejected = Vec::new();
        let all = 0..batch.records.len();
        let mut pending = vec![all];
        while let Some(range) = pending.pop() {
            match self.write_range(batch, range.clone()).await? {
                Ok(written) => report.add(entity, written),
                Err(error) if range.len() == 1 => rejected.push((range.start, error)),
                Err(_) => {
                    let middle = range.start + range.len() / 2;
                    pending.extend([middle..range.end, range.start..middle]);
                }
            }
        }
        let mut retry = !rejected.is_empty() && rejected.len() < batch.records.len();
        while retry {
            retry = false;
            let mut still_rejected = Vec::with_capacity(rejected.len());
            for (index, _) in rejected {
                match self.write_range(batch, index..index + 1).await? {
                    Ok(written) => {
                        report.add(entity, written);
                        retry = true;
                    }
                    Err(error) => still_rejected.push((index, error)),
                }
            }
            rejected = still_rejected;
        }
        Ok(rejected)
    }

    /// Commits the file's rows.
    pub(super) async fn commit(self) -> Result<(), Error> {
        self.transaction.commit().await
    }

    /// Rolls the file's rows back.
    pub(super) async fn rollback(self) -> Result<(), Error> {
        self.transaction.rollback().await
    }

    /// Writes a range of a batch's records, or none if PostgreSQL rejects one of them. The outer error is one that no
    /// record's content caused; it ends the load.
    async fn write_range(
        &mut self,
        batch: &RecordBatch,
        range: Range<usize>,
    ) -> Result<Result<RowCounts, RowError>, Error> {
        let statement = self.prepare(&batch.statement).await?;
        let columns: Vec<Vec<Option<&str>>> = (0..batch.statement.columns.len())
            .map(|column| batch.records[range.clone()].iter().map(|(_, values)| values[column].as_deref()).collect())
            .collect();
        let parameters: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect();
        self.transaction.batch_execute("SAVEPOINT records").await?;
        let (inserted, changed) = match self.transaction.query_one(&statement, &parameters).await {
            Ok(row) => (count(&row, 0)?, count(&row, 1)?),
            Err(error) => {
                let Some(row_error) = row_error(&error) else { return Err(error) };
                self.transaction.batch_execute("ROLLBACK TO SAVEPOINT records; RELEASE SAVEPOINT records").await?;
                return Ok(Err(row_error));
            }
        };
        self.transaction.batch_execute("RELEASE SAVEPOINT records").await?;
        let is_delete = batch.statement.action == RowAction::Delete;
        let (updated, deleted) = if is_delete { (0, changed) } else { (changed, 0) };
        let unchanged = (range.len() as u64).saturating_sub(inserted + changed);
        Ok(Ok(RowCounts { inserted, updated, unchanged, deleted }))
    }

    async fn prepare(&mut self, key: &StatementKey) -> Result<Statement, Error> {
        if let Some(prepared) = self.statements.get(key) {
            return Ok(prepared.clone());
        }
        if self.statements.len() >= MAX_STATEMENTS {
            self.statements.clear();
        }
        let prepared = self.transaction.prepare(&batch_statement(self.tables.get(key.table), key)).await?;
        self.statements.insert(key.clone(), prepared.clone());
        Ok(prepared)
    }
}

fn count(row: &tokio_postgres::Row, index: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.try_get::<_, i64>(index)?).unwrap_or_default())
}

/// The error of a record, if its content caused `error`: invalid data (SQLSTATE class 22), a violated constraint (23), or
/// an exception of the database's own code (P0).
fn row_error(error: &Error) -> Option<RowError> {
    let error = error.as_db_error()?;
    let code = error.code().code();
    ["22", "23", "P0"].contains(&code.get(..2)?).then(|| {
        let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        RowError::Rejected { message: format!("{}{detail}", error.message()), code: code.to_owned() }
    })
}
