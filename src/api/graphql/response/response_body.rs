//! Writes a query's rows as a response body: whole if it is small, in chunks as the client reads if it is large.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;

use crate::api::access_log::AccessLogEntry;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::response::response_end::ResponseEnd;
use crate::api::graphql::response::response_envelope::START;
use crate::execute::response_writer::{Progress, ResponseWriter};
use crate::http::response::{BoxError, ResponseBody};
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// Bytes from which a body is sent in chunks.
pub(crate) const MAX_WHOLE: usize = 64 * 1024;

/// Bytes that a body has room for at first, at least.
const MIN_CAPACITY: usize = 1024;

/// Bytes of a chunk, about.
pub(crate) const CHUNK: usize = 32 * 1024;

/// Bytes of a body in chunks that wait for the client, at most: the bytes of `start`, and the chunks that hyper takes.
const MAX_UNSENT: usize = MAX_WHOLE + 3 * CHUNK;

/// Bytes of memory that the body takes, about, if its rows take this many.
pub(crate) fn memory(body: &ResponseBody, rows: usize) -> usize {
    match body {
        ResponseBody::Whole(bytes) => bytes.len(),
        ResponseBody::Chunks(_) | ResponseBody::Stream(_) => rows + MAX_UNSENT,
    }
}

/// Writes the body: the rows, and its end.
pub(crate) fn write(
    mut rows: Box<ResponseWriter>,
    end: ResponseEnd,
    entry: &AccessLogEntry,
) -> Result<ResponseBody, ServiceError> {
    // As JSON, rows take about half of their memory.
    let mut start = Vec::with_capacity(MIN_CAPACITY.max(rows.memory() / 2).min(MAX_WHOLE));
    start.extend_from_slice(START);
    match rows.write(&mut start, MAX_WHOLE) {
        Err(error) => Err(ServiceError::internal(&entry.id, error)),
        Ok(Progress::Done) => {
            end.write(&rows, &entry.id, &mut start);
            // A body that waits for its client is counted by its length. If little was written of wide rows, much of its capacity is
            // unused.
            if start.capacity() > 2 * start.len() {
                start.shrink_to_fit();
            }
            Ok(ResponseBody::Whole(start.into()))
        }
        Ok(Progress::More) => {
            let request_id = Arc::clone(&entry.id);
            Ok(ResponseBody::Chunks(Box::new(Chunks { start, rows: Some(rows), end, request_id })))
        }
    }
}

/// A large body, written as the client reads it.
struct Chunks {
    /// Written already.
    start: Vec<u8>,
    /// The rest of the response; `None` after the last chunk.
    rows: Option<Box<ResponseWriter>>,
    end: ResponseEnd,
    request_id: Arc<str>,
}

impl Iterator for Chunks {
    type Item = Result<Bytes, BoxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.start.is_empty() {
            return Some(Ok(mem::take(&mut self.start).into()));
        }
        let rows = self.rows.as_mut()?;
        let mut chunk = Vec::with_capacity(CHUNK + CHUNK / 4);
        match rows.write(&mut chunk, CHUNK) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => {
                self.end.write(rows, &self.request_id, &mut chunk);
                self.rows = None;
            }
            Err(error) => {
                self.rows = None;
                emit(&Event::InternalError { request_id: &self.request_id, error: &error });
                return Some(Err(error.into()));
            }
        }
        Some(Ok(chunk.into()))
    }
}
