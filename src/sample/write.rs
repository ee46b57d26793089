//! Batches into the database.

use bytes::Bytes;
use futures_util::{SinkExt as _, pin_mut};
use tokio_postgres::{Error, Transaction};

use crate::sample::batch::{Batch, Table};

/// Bytes that are handed over at once. PostgreSQL takes each whole before it looks at it.
const CHUNK: usize = 256 * 1024;

/// Copies a batch into its tables, and returns how many rows that were.
pub(in crate::sample) async fn write(transaction: &Transaction<'_>, mut batch: Batch) -> Result<u64, Error> {
    let mut rows = 0;
    for (table, copy) in batch.copies() {
        rows += write_table(transaction, table, copy.into()).await?;
    }
    Ok(rows)
}

async fn write_table(transaction: &Transaction<'_>, table: &Table, mut copy: Bytes) -> Result<u64, Error> {
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let statement = format!("COPY public.{} ({}) FROM STDIN (FORMAT binary)", table.name, columns.join(", "));
    let sink = transaction.copy_in(&statement).await?;
    pin_mut!(sink);
    while !copy.is_empty() {
        let chunk = copy.split_to(CHUNK.min(copy.len()));
        sink.feed(chunk).await?;
    }
    sink.finish().await
}
