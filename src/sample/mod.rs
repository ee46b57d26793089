//! Made-up orders in any number, with all that belongs to them, for trying things out and for measuring.
//!
//! ```text
//! size ─▶ generate        what there is, in its order         on a thread of its own
//!   │       └▶ people, places, products, orders, inventory    thing by thing, each with a stream of chance (draw)
//!   │            └▶ batch  rows as the bytes of a binary COPY  (tables, field)
//!   └▶ aside ─▶ write ─▶ aside                                 one transaction
//! ```
//!
//! The same size and seed make the same rows, byte for byte, on every machine: chance comes from `draw`, time from
//! `calendar`, and nothing from clocks, hash maps or floating-point numbers. The database's own stamps are left out, but
//! for those of order headers, which the API shows.

mod aside;
mod batch;
mod calendar;
mod check;
mod draw;
mod field;
mod generate;
mod ids;
mod inventory;
mod orders;
mod people;
mod places;
mod products;
pub mod size;
mod stock;
mod tables;
mod words;
mod write;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Transaction};

use crate::sample::aside::Aside;
use crate::sample::batch::Batch;
use crate::sample::generate::generate;
use crate::sample::size::Size;
use crate::sample::tables::TABLES;

/// Batches that wait to be written.
const WAITING: usize = 2;

/// What to make up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// How much.
    pub size: Size,
    /// Chance's beginning: another seed makes another sample of the same size.
    pub seed: u64,
}

/// How far a sample has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// With what.
    pub step: Step,
    /// Things of the step that are done.
    pub done: u64,
    /// All its things.
    pub total: u64,
}

/// What is done one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Rows are written; the things are what they are made of: customers, products, orders …
    Rows,
    /// Indexes and foreign keys are built.
    Indexes,
    /// The tables are analyzed.
    Statistics,
}

/// What became of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// Rows that were written, without the few that other rows refer to and most databases have.
    pub rows: u64,
}

/// Nothing was written.
#[derive(Debug, Error)]
pub enum SampleError {
    /// A database without orderql's own tables.
    #[error("the database is not prepared: run `orderql migrate` on it first")]
    NotMigrated,
    /// A sample's ids are taken.
    #[error(
        "the database has a sample already, and nothing was added: two of them would have the same ids; for another, make \
         another database (`createdb`, `orderql migrate`, `orderql sample`)"
    )]
    Clash,
    /// A column that is not there, or of a type that the sample does not write.
    #[error("{table}.{column} is {found} in this database, and a sample writes {expected}: nothing was added")]
    Column {
        /// The table.
        table: &'static str,
        /// Its column.
        column: &'static str,
        /// The column's type, or `missing`.
        found: String,
        /// What fits.
        expected: &'static str,
    },
    /// The thread that makes the rows up ended before they were all there.
    #[error("making up the rows was broken off, and nothing was added")]
    BrokenOff,
    /// The database failed.
    #[error("the database failed, and nothing was added")]
    Database(#[from] tokio_postgres::Error),
}

/// Writes a sample, in one transaction: it is there whole, or nothing of it is. What lies in the tables already stays as
/// it is. While it runs, nobody else can write the tables, nor read most of them.
///
/// `progress` is called often. Future dropped: nothing is written.
pub async fn fill(
    client: &mut Client,
    sample: Sample,
    progress: &mut dyn FnMut(Progress),
) -> Result<Filled, SampleError> {
    check::migrated(client).await?;
    check::columns(client).await?;
    check::free(client).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    transaction.batch_execute(REFERENCE).await?;
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    let aside = Aside::take(&transaction, &names).await?;
    let rows = write_rows(&transaction, sample, progress).await?;
    transaction.execute("SELECT orderql.backfill_parties()", &[]).await?;
    let mut done = Progress { step: Step::Indexes, done: 0, total: aside.count() };
    progress(done);
    let restored = aside.restore(&transaction, || {
        done.done += 1;
        progress(done);
    });
    restored.await?;
    progress(Progress { step: Step::Statistics, done: 0, total: 1 });
    transaction.batch_execute(&format!("ANALYZE orderql.party, {}", names.join(", "))).await?;
    transaction.commit().await?;
    Ok(Filled { rows })
}

/// A role may have a time limit that is meant for other things. Indexes are sorted in memory as far as that goes.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'";
/// The rows that a sample refers to and that a database may lack.
const REFERENCE: &str = include_str!("reference.sql");

/// Makes the rows up on a thread of its own, some batches ahead of the database at most.
async fn write_rows(
    transaction: &Transaction<'_>,
    sample: Sample,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64, SampleError> {
    let Sample { size, seed } = sample;
    let (sender, mut batches) = mpsc::channel::<Batch>(WAITING);
    let making = tokio::task::spawn_blocking(move || generate(size, seed, |batch| sender.blocking_send(batch).is_ok()));
    let mut done = Progress { step: Step::Rows, done: 0, total: size.things() };
    let mut rows = 0;
    while let Some(batch) = batches.recv().await {
        done.done += batch.things;
        rows += write::write(transaction, batch).await.map_err(clash)?;
        progress(done);
    }
    making.await.map_err(|_| SampleError::BrokenOff)?;
    Ok(rows)
}

/// Ids that are taken are a clash, whoever took them.
fn clash(error: tokio_postgres::Error) -> SampleError {
    if error.code() == Some(&SqlState::UNIQUE_VIOLATION) { SampleError::Clash } else { error.into() }
}
