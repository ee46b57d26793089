//! OFBiz entity-engine XML, streamed into tables.
//!
//! ```text
//! source ─▶ read      bytes → rows, with their lines            pure
//!   └▶ record         a row → a table's columns and values      pure
//!        └▶ queue     records → groups, none before its needs   pure
//!             └▶ write   a group → a statement                  one transaction a file
//! finish              sums and links, after the last file
//! ```
//!
//! The file is read on a thread of its own, some hundreds of rows ahead of the database at most, so a file of any size
//! needs the same memory. Which entities and fields there are is read from the database: an entity is a table of schema
//! `public`, a field a column, under OFBiz's naming rule.
//!
//! ## What OFBiz does, and this does not
//!
//! - **`changeOrderPaymentStatus`**, the rule that adds an `OrderStatus` row for each new `OrderPaymentPreference`: the
//!   row's key would come from a sequence and its time from the clock, so the same file would make another row at each
//!   load. A file that wants the row has it. The rules that sum up inventory details are kept: their result follows
//!   from the rows alone ([`finish()`]).
//! - A key made by a sequence where a row has none: the row is reported as bad, for the same reason.
//! - `create-dummy-fk`: no parents are made up.
//! - Placeholders such as `${…}` stay as they are written, as they do in OFBiz when it is given none.

pub mod finish;
pub mod lines;
pub mod queue;
pub mod read;
pub mod mapping;
pub mod report;
pub mod input;
pub mod statement;
pub mod tables;
pub mod value;
pub mod table_writer;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::load::finish::Finished;
use crate::load::input::Source;
use crate::load::mapping::BadRow;
use crate::load::queue::Queue;
use crate::load::read::{Event, Malformed, Row, Rows};
use crate::load::report::FileReport;
use crate::load::table_writer::Writer;
use crate::load::tables::Tables;

/// Rows that are handed from the reading thread at once, and how many such hands-over may wait.
const CHUNK: usize = 256;
const CHUNKS: usize = 4;

/// How far a file has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes whose rows have been taken up.
    pub bytes: u64,
    /// Bytes in the file.
    pub total: u64,
}

/// A file that was not loaded, or not wholly; nothing of it is in the database.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{file} cannot be read")]
    Read {
        /// Its name.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// A folder that does not say in which order its files go.
    #[error("{order} cannot be read: it names a folder's files in the order to load them; without it, name the files")]
    NoOrder {
        /// The file that should say it.
        order: PathBuf,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// The file is not well formed; its rows before that place are taken back.
    #[error("{file}:{}: {}", malformed.line, malformed.reason)]
    Malformed {
        /// Its name.
        file: String,
        /// Where and what.
        malformed: Malformed,
    },
    /// The reading thread ended before the file did.
    #[error("reading {file} was broken off")]
    BrokenOff {
        /// The file's name.
        file: String,
    },
    /// A database without the functions that finish a load.
    #[error("the database is not prepared: run `orderql migrate` on it first")]
    NotMigrated,
    /// The database failed, for another reason than a row's content.
    #[error("the database failed")]
    Database(#[from] tokio_postgres::Error),
}

/// Loads one file in one transaction. Rows that do not fit are left out and reported; a file that is not well formed, or
/// a database that fails, leaves nothing of the file. Rows that are there already and do not differ are not touched.
///
/// After the last file, call [`finish()`] on the same connection. Future dropped: nothing of the file stays.
pub async fn load(
    client: &mut Client,
    source: Source,
    progress: &mut dyn FnMut(Progress),
) -> Result<FileReport, LoadError> {
    let tables = Tables::discover(client).await?;
    let file = source.name();
    let mut report = FileReport { file: file.clone(), ..FileReport::default() };
    let mut writer = Writer::new(client.transaction().await?, &tables).await?;
    let (sender, mut chunks) = mpsc::channel(CHUNKS);
    let reading = tokio::task::spawn_blocking(move || read_chunks(source, &sender));
    let mut loading = Loading::default();
    while let Some((events, read)) = chunks.recv().await {
        for event in events {
            loading.take(&tables, event, &mut report);
            if loading.queue.is_full() {
                writer.write(loading.queue.take(), &loading.entities, &mut report).await?;
            }
        }
        progress(read);
    }
    match reading.await.unwrap_or_else(|_| Err(LoadError::BrokenOff { file })) {
        Ok(()) => {
            writer.write(loading.queue.take(), &loading.entities, &mut report).await?;
            writer.commit().await?;
            report.bad.sort_by_key(|bad| bad.line);
            Ok(report)
        }
        Err(error) => {
            writer.rollback().await?;
            Err(error)
        }
    }
}

/// Sees that the database has what a load needs, before the first file.
pub async fn ready(client: &Client) -> Result<(), LoadError> {
    if finish::is_there(client).await? { Ok(()) } else { Err(LoadError::NotMigrated) }
}

/// Does what OFBiz does while it loads and what its tables lack, once after the last file: inventory totals are the sums
/// of their details, order items know their ship group, product-facility pairs their current inventory item.
pub async fn finish(client: &mut Client) -> Result<Finished, LoadError> {
    ready(client).await?;
    Ok(finish::finish(client).await?)
}

/// What is known of a file while it is loaded.
#[derive(Default)]
struct Loading {
    queue: Queue,
    /// The entity of each table that rows have come for.
    entities: HashMap<usize, String>,
    keep_stamps: bool,
}

impl Loading {
    fn take(&mut self, tables: &Tables, event: Event, report: &mut FileReport) {
        match event {
            Event::Root(root) => {
                self.keep_stamps = root.maintain_timestamps;
                report.wants_dummies = root.create_dummy_fk;
            }
            Event::Nested { entity, field, line } => match tables.of_entity(&entity) {
                Some(_) => report.refuse(line, &entity, BadRow::Nested { field }),
                None => *report.skipped.entry(entity).or_default() += 1,
            },
            Event::Row(row) => self.row(tables, row, report),
        }
    }

    fn row(&mut self, tables: &Tables, row: Row, report: &mut FileReport) {
        let Some(table) = tables.of_entity(&row.entity) else {
            *report.skipped.entry(row.entity).or_default() += 1;
            return;
        };
        let entity = self.entities.entry(table).or_insert_with(|| row.entity.clone());
        let line = row.line;
        match mapping::record(tables, table, row, self.keep_stamps) {
            Ok(mapped) => {
                for field in mapped.unknown {
                    *report.unknown_fields.entry((entity.clone(), field)).or_default() += 1;
                }
                self.queue.push(tables, mapped.record);
            }
            Err(reason) => report.refuse(line, entity, reason),
        }
    }
}

/// Reads a file to its end, or until nobody listens any more.
fn read_chunks(source: Source, sender: &mpsc::Sender<(Vec<Event>, Progress)>) -> Result<(), LoadError> {
    let file = source.name();
    let (input, total) = source.open().map_err(|source| LoadError::Read { file: file.clone(), source })?;
    let mut rows = Rows::new(input);
    let mut over = false;
    while !over {
        let mut chunk = Vec::with_capacity(CHUNK);
        while chunk.len() < CHUNK && !over {
            match rows.next().transpose().map_err(|malformed| LoadError::Malformed { file: file.clone(), malformed })? {
                Some(event) => chunk.push(event),
                None => over = true,
            }
        }
        if sender.blocking_send((chunk, Progress { bytes: rows.bytes(), total })).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
