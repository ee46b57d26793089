//! Writes batches into the database with binary COPY.

use futures_util::pin_mut;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Statement, Transaction};

use crate::sample::batch::Batch;
use crate::sample::copy_value::CopyValue;
use crate::sample::table_definition::Table;
use crate::sample::tables::TABLES;

/// Writes batches with prepared COPY statements.
pub(in crate::sample) struct BatchWriter<'a> {
    transaction: &'a Transaction<'a>,
    /// The statement and the column types of each of [`TABLES`].
    statements: Vec<(Statement, Vec<Type>)>,
}

impl<'a> BatchWriter<'a> {
    /// Prepares the statements.
    pub(in crate::sample) async fn new(transaction: &'a Transaction<'a>) -> Result<Self, Error> {
        let mut statements = Vec::with_capacity(TABLES.len());
        for table in TABLES {
            let types = table.columns.iter().map(|column| column.data_type.postgres_type()).collect();
            statements.push((transaction.prepare(&copy_statement(table)).await?, types));
        }
        Ok(Self { transaction, statements })
    }

    /// Writes a batch and returns the number of rows.
    pub(in crate::sample) async fn write(&self, batch: &Batch) -> Result<u64, Error> {
        let mut rows = 0;
        for (index, table, values) in batch.tables() {
            rows += self.write_table(index, values.chunks_exact(table.columns.len())).await?;
        }
        Ok(rows)
    }

    async fn write_table(&self, index: usize, rows: impl Iterator<Item = &[CopyValue]>) -> Result<u64, Error> {
        let (statement, types) = &self.statements[index];
        let writer = BinaryCopyInWriter::new(self.transaction.copy_in(statement).await?, types);
        pin_mut!(writer);
        for row in rows {
            writer.as_mut().write_raw(row).await?;
        }
        writer.finish().await
    }
}

fn copy_statement(table: &Table) -> String {
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    format!("COPY public.{} ({}) FROM STDIN (FORMAT binary)", table.name, columns.join(", "))
}
