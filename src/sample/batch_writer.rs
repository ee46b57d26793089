//! Writes batches into the database with COPY.

use std::collections::HashMap;
use std::pin::pin;

use bytes::Bytes;
use futures_util::SinkExt as _;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Statement, Transaction};

use crate::sample::batch::{Batch, CopyTarget};
use crate::sample::error::SampleError;

/// The bytes of a message. PostgreSQL receives a message completely before it reads the rows in it.
const MESSAGE_BYTES: usize = 65_536;

/// Writes batches with prepared COPY statements.
pub(in crate::sample) struct BatchWriter<'a> {
    transaction: &'a Transaction<'a>,
    statements: HashMap<CopyTarget, Statement>,
}

impl<'a> BatchWriter<'a> {
    pub(in crate::sample) fn new(transaction: &'a Transaction<'a>) -> Self {
        Self { transaction, statements: HashMap::new() }
    }

    /// Writes a batch and returns the number of rows.
    pub(in crate::sample) async fn write(&mut self, batch: Batch) -> Result<u64, SampleError> {
        let mut written = 0;
        for (target, rows) in batch.into_rows() {
            let table = target.table;
            written += self.copy(target, rows.into()).await.map_err(|error| rejected(table, error))?;
        }
        Ok(written)
    }

    async fn copy(&mut self, target: CopyTarget, mut rows: Bytes) -> Result<u64, Error> {
        let statement = self.prepare(target).await?;
        let mut sink = pin!(self.transaction.copy_in(&statement).await?);
        while !rows.is_empty() {
            sink.feed(rows.split_to(rows.len().min(MESSAGE_BYTES))).await?;
        }
        sink.finish().await
    }

    async fn prepare(&mut self, target: CopyTarget) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(&target) {
            return Ok(statement.clone());
        }
        let CopyTarget { table, columns } = &target;
        // A COPY of a column that does not exist fails when it begins, and tokio-postgres loses the connection then.
        self.transaction.prepare(&format!("SELECT {columns} FROM public.{table}")).await?;
        let statement = self.transaction.prepare(&format!("COPY public.{table} ({columns}) FROM STDIN")).await?;
        self.statements.insert(target, statement.clone());
        Ok(statement)
    }
}

/// Reports ids that exist already as a clash, and where any other error occurred.
fn rejected(table: &str, error: Error) -> SampleError {
    let Some(rejection) = error.as_db_error() else { return error.into() };
    if *rejection.code() == SqlState::UNIQUE_VIOLATION {
        return SampleError::Clash;
    }
    SampleError::Rejected { place: rejection.where_().unwrap_or(table).to_owned(), source: error }
}
