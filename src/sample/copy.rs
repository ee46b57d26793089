//! Writes batches into the database with binary COPY.

use futures_util::pin_mut;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Statement, Transaction};

use crate::sample::batch::Batch;
use crate::sample::copy_value::CopyValue;
use crate::sample::preconditions::Absent;
use crate::sample::table_definition::SampleColumn;
use crate::sample::tables::TABLES;

/// Writes batches with prepared COPY statements.
pub(in crate::sample) struct BatchWriter<'a> {
    transaction: &'a Transaction<'a>,
    /// The statements of [`TABLES`].
    statements: Vec<CopyStatement>,
}

/// The statement that copies rows into a table.
struct CopyStatement {
    statement: Statement,
    /// The types of the columns that the database has.
    types: Vec<Type>,
    /// Whether it has them, for each column of the sample.
    is_present: Vec<bool>,
}

impl<'a> BatchWriter<'a> {
    /// Prepares the statements, without the columns that the database lacks.
    pub(in crate::sample) async fn new(transaction: &'a Transaction<'a>, absent: &Absent) -> Result<Self, Error> {
        let mut statements = Vec::with_capacity(TABLES.len());
        for table in TABLES {
            let is_present = |column: &SampleColumn| !absent.contains(&(table.name, column.name));
            let present: Vec<_> = table.columns.iter().filter(|column| is_present(column)).collect();
            statements.push(CopyStatement {
                statement: transaction.prepare(&copy_statement(table.name, &present)).await?,
                types: present.iter().map(|column| column.data_type.postgres_type()).collect(),
                is_present: table.columns.iter().map(is_present).collect(),
            });
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
        let CopyStatement { statement, types, is_present } = &self.statements[index];
        let writer = BinaryCopyInWriter::new(self.transaction.copy_in(statement).await?, types);
        pin_mut!(writer);
        for row in rows {
            let present: Vec<_> =
                row.iter().zip(is_present).filter(|(_, present)| **present).map(|(value, _)| value).collect();
            writer.as_mut().write_raw(present).await?;
        }
        writer.finish().await
    }
}

fn copy_statement(table: &str, columns: &[&SampleColumn]) -> String {
    let columns: Vec<&str> = columns.iter().map(|column| column.name).collect();
    format!("COPY public.{table} ({}) FROM STDIN (FORMAT binary)", columns.join(", "))
}
