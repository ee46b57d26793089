//! Fills a database with a sample.

use tokio::sync::mpsc;
use tokio_postgres::{Client, Transaction};

use crate::database::vacuum::vacuum;
use crate::sample::batch::{Batch, TABLES};
use crate::sample::batch_writer::BatchWriter;
use crate::sample::deferred_objects::DeferredObjects;
use crate::sample::error::SampleError;
use crate::sample::generate::generate;
use crate::sample::preconditions::{self, TableColumn};
use crate::sample::size::SampleSize;

/// The number of batches that the channel holds.
const CHANNEL_BATCHES: usize = 2;

/// A role may have a statement timeout that suits other work. Large indexes are sorted in memory.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'";

/// Fills the tables and columns that triggers keep, because the triggers are disabled meanwhile.
const BACK_FILLS: &str = "SELECT orderql.backfill_parties(), orderql.backfill_returns(), orderql.backfill_shipments(), orderql.backfill_item_places()";

/// Rows that a sample references and that a database may lack.
const REFERENCE_ROWS: &str = include_str!("reference.sql");

/// A sample to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The numbers of entities.
    pub size: SampleSize,
    /// The seed of the random numbers. Another seed generates another sample of the same size.
    pub seed: u64,
}

/// The progress of [`fill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillProgress {
    /// The current step.
    pub step: FillStep,
    /// The number of completed units of the step.
    pub done: u64,
    /// The number of all units of the step.
    pub total: u64,
}

/// The steps of [`fill`], in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillStep {
    /// Writing rows. The units are entities: customers, products, orders …
    Rows,
    /// Building indexes and foreign keys.
    Indexes,
    /// Analyzing the tables.
    Statistics,
}

/// The result of [`fill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleReport {
    /// The number of rows written, without the reference rows.
    pub rows: u64,
}

/// Writes a sample in one transaction. Existing rows are not changed. While it runs, other sessions cannot write the
/// tables and cannot read most of them.
///
/// Calls `progress` often. Dropping the future rolls everything back.
pub async fn fill(
    client: &mut Client,
    sample: Sample,
    progress: &mut dyn FnMut(FillProgress),
) -> Result<SampleReport, SampleError> {
    preconditions::check_migrated(client).await?;
    let absent = preconditions::absent_columns(client).await?;
    preconditions::check_no_sample(client).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    transaction.batch_execute(REFERENCE_ROWS).await?;
    let tables: Vec<&str> = TABLES.split(", ").collect();
    let deferred = DeferredObjects::drop_from(&transaction, &tables).await?;
    let rows = write_rows(&transaction, absent, sample, progress).await?;
    transaction.batch_execute(BACK_FILLS).await?;
    let mut indexes = FillProgress { step: FillStep::Indexes, done: 0, total: deferred.count() };
    progress(indexes);
    let restored = deferred.restore(&transaction, || {
        indexes.done += 1;
        progress(indexes);
    });
    restored.await?;
    // The orders are not marked one by one: whoever reads changes has to copy everything anyway.
    transaction.batch_execute("UPDATE orderql.sync_state SET counter = counter + 1").await?;
    progress(FillProgress { step: FillStep::Statistics, done: 0, total: 1 });
    transaction.batch_execute(&format!("ANALYZE orderql.party, orderql.item_place, {TABLES}")).await?;
    transaction.commit().await?;
    vacuum(client, &[&["orderql.party"], &tables[..]].concat()).await?;
    Ok(SampleReport { rows })
}

/// Generates the rows on a separate thread, at most some batches ahead of the database.
async fn write_rows(
    transaction: &Transaction<'_>,
    absent: Vec<TableColumn>,
    sample: Sample,
    progress: &mut dyn FnMut(FillProgress),
) -> Result<u64, SampleError> {
    let Sample { size, seed } = sample;
    let mut writer = BatchWriter::new(transaction);
    let (sender, mut batches) = mpsc::channel::<Batch>(CHANNEL_BATCHES);
    let generating =
        tokio::task::spawn_blocking(move || generate(size, seed, &absent, |batch| sender.blocking_send(batch).is_ok()));
    let mut done = FillProgress { step: FillStep::Rows, done: 0, total: size.entities() };
    let mut rows = 0;
    while let Some(batch) = batches.recv().await {
        done.done += batch.entities;
        rows += writer.write(batch).await?;
        progress(done);
    }
    generating.await.map_err(|_| SampleError::BrokenOff)?;
    Ok(rows)
}
