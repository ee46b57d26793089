//! Executes a plan while its response is written, so that neither its rows nor its text are in memory as a whole.
//!
//! PostgreSQL sends rows as fast as they are taken. The writer takes rows when it has written the last ones, and the client takes the
//! parts that it writes. So the client's reading paces the statement.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use thiserror::Error;
use tokio::sync::mpsc;

use crate::database::connection::own_connection::{OwnConnection, TransactionKind};
use crate::execute::error::ExecuteError;
use crate::execute::fetch::{RunningStatement, parameters};
use crate::execute::response_writer::{Pause, ResponseWriter, WriteError};
use crate::execute::row_limits::{MemoryLimit, hold};
use crate::execute::statement_log::StatementLog;
use crate::plan::request_plan::Plan;

/// How many rows are read at once, if as many have arrived.
const ROWS: usize = 256;

/// A response that is written while its rows are fetched. If it is dropped before its end, its statement is cancelled.
pub struct ResponseStream {
    producer: Pin<Box<dyn Future<Output = Result<LastPart, StreamError>> + Send>>,
    parts: mpsc::Receiver<Vec<u8>>,
    log: Arc<StatementLog>,
}

/// A response to stream, with its connection and limits.
pub struct StreamedResponse {
    /// The connection that the statement is sent on.
    pub connection: OwnConnection,
    /// The plan, with the statement's values.
    pub plan: Arc<Plan>,
    /// The record of the statement's times.
    pub log: Arc<StatementLog>,
    /// The beginning of the first part.
    pub start: Vec<u8>,
    /// Bytes of the first part, at least.
    pub first_part: usize,
    /// Bytes of the following parts, at least.
    pub part: usize,
    /// How many rows are read at once; `None` for as many as are fast.
    pub rows: Option<u16>,
    /// Asks for the memory of rows.
    pub memory: Box<MemoryLimit<'static>>,
}

/// A part of `data`.
pub enum Part {
    /// More parts follow.
    More(Vec<u8>),
    /// The last one.
    Last(LastPart),
}

/// The last part of `data`.
pub struct LastPart {
    /// The rest of its JSON.
    pub text: Vec<u8>,
    /// The writer, for the number of rows and the errors of fields.
    pub written: Box<ResponseWriter>,
}

/// Why a response cannot be continued.
#[derive(Debug, Error)]
pub enum StreamError {
    /// Rows are missing.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A null cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ResponseStream {
    /// A response before anything is fetched or written.
    pub fn new(response: StreamedResponse) -> Self {
        let (sender, parts) = mpsc::channel(1);
        let log = Arc::clone(&response.log);
        Self { producer: Box::pin(response.produce(sender)), parts, log }
    }

    /// The next part. Nothing is fetched or written between two calls. Do not call it again after the last part, or an error.
    pub async fn next(&mut self) -> Result<Part, StreamError> {
        self.log.resume(Instant::now());
        let part = tokio::select! {
            biased;
            Some(part) = self.parts.recv() => Ok(Part::More(part)),
            last = &mut self.producer => last.map(Part::Last),
        };
        self.log.pause(Instant::now());
        part
    }
}

impl StreamedResponse {
    async fn produce(mut self, parts: mpsc::Sender<Vec<u8>>) -> Result<LastPart, StreamError> {
        match self.write(&parts).await {
            Ok(last) => {
                self.connection.release();
                Ok(last)
            }
            Err(error) => {
                if matches!(&error, StreamError::Execute(error) if !error.spares_connection()) {
                    self.connection.discard();
                }
                Err(error)
            }
        }
    }

    async fn write(&mut self, parts: &mpsc::Sender<Vec<u8>>) -> Result<LastPart, StreamError> {
        let Self { connection, plan, log, start, first_part, part, rows, memory } = self;
        log.prepare(connection.backend(), Instant::now());
        let statement = connection.prepare(plan.sql()).await.map_err(ExecuteError::from)?;
        let query = || connection.query(&statement, parameters(plan), TransactionKind::Own);
        let mut statement = RunningStatement::send(query, log).await?;
        let mut writer = ResponseWriter::new(Arc::clone(plan));
        let most = rows.map_or(ROWS, usize::from);
        let (mut text, mut at_least) = (mem::take(start), *first_part);
        let mut is_running = true;
        loop {
            match writer.write_available(&mut text, at_least)? {
                Pause::Rows => {
                    writer.drop_written();
                    is_running = statement.read(&mut writer, log, most).await?;
                    hold(&mut **memory, &writer)?;
                }
                Pause::Part => {
                    at_least = *part;
                    let next = Vec::with_capacity(*part + *part / 4);
                    // The receiver is there as long as this is polled.
                    let _ = parts.send(mem::replace(&mut text, next)).await;
                    // The part is taken before the next one is begun.
                    let _ = parts.reserve().await;
                }
                Pause::End => break,
            }
        }
        // Rows below an object that has become null are not written, but counted.
        while is_running {
            writer.drop_written();
            is_running = statement.read(&mut writer, log, most).await?;
        }
        Ok(LastPart { text, written: writer })
    }
}
