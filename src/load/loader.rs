//! Loads one file in one transaction.

use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::load::error::LoadError;
use crate::load::file_state::FileState;
use crate::load::input::InputFile;
use crate::load::report::FileReport;
use crate::load::row::FileItem;
use crate::load::table_writer::TableWriter;
use crate::load::tables::TargetTables;
use crate::load::xml_reader::XmlReader;

/// The number of items that the reading thread sends at once.
const CHUNK: usize = 256;
/// The number of chunks that the channel holds.
const CHANNEL_CHUNKS: usize = 4;

/// The progress within a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProgress {
    /// Bytes whose rows have been processed.
    pub bytes: u64,
    /// Bytes in the file.
    pub total: u64,
}

/// Loads one file in one transaction. Bad rows are left out and reported. A file that is not well-formed and a database
/// error roll the whole file back. Existing rows without a difference are not touched.
///
/// After the last file, call [`finish`](crate::load::finish::finish) on the same connection. Dropping the future rolls the
/// file back.
pub async fn load_file(
    client: &mut Client,
    input: InputFile,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<FileReport, LoadError> {
    let tables = TargetTables::discover(client).await?;
    let file = input.name();
    let mut report = FileReport { file: file.clone(), ..FileReport::default() };
    let mut writer = TableWriter::new(client.transaction().await?, &tables).await?;
    let (sender, mut chunks) = mpsc::channel(CHANNEL_CHUNKS);
    let reading = tokio::task::spawn_blocking(move || read_chunks(input, &sender));
    let mut state = FileState::default();
    while let Some((items, read)) = chunks.recv().await {
        for item in items {
            state.process(&tables, item, &mut report);
            if state.queue.is_full() {
                writer.write(state.queue.take(), &state.entities, &mut report).await?;
            }
        }
        progress(read);
    }
    match reading.await.unwrap_or_else(|_| Err(LoadError::BrokenOff { file })) {
        Ok(()) => {
            writer.write(state.queue.take(), &state.entities, &mut report).await?;
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

/// Reads a file to its end, or until the receiver is dropped.
fn read_chunks(input: InputFile, sender: &mpsc::Sender<(Vec<FileItem>, LoadProgress)>) -> Result<(), LoadError> {
    let file = input.name();
    let (content, total) = input.open().map_err(|source| LoadError::Read { file: file.clone(), source })?;
    let mut reader = XmlReader::new(content);
    let mut at_end = false;
    while !at_end {
        let mut chunk = Vec::with_capacity(CHUNK);
        while chunk.len() < CHUNK && !at_end {
            match reader.next().transpose().map_err(|error| LoadError::Xml { file: file.clone(), error })? {
                Some(item) => chunk.push(item),
                None => at_end = true,
            }
        }
        if sender.blocking_send((chunk, LoadProgress { bytes: reader.bytes(), total })).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
