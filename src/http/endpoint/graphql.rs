//! `POST /rest/s1/graphql`: the gates in their order (token, grant, body, compile, bucket, database), and the answer.

use std::{mem, sync::Arc};

use bytes::Bytes;
use hyper::{
    HeaderMap,
    body::Incoming,
    header::{self, HeaderValue},
};
use tokio::time;

use crate::{
    access::grants::Artifact,
    compile::Compiled,
    database::pool::DatabaseError,
    execute::{
        ExecuteError, constant, execute,
        write::{Answer as Rows, Progress},
    },
    http::{
        body, envelope,
        negotiate::{self, Media},
        record::Record,
        respond::{self, Answer, BoxError, Content, Denial},
        service::Service,
    },
    telemetry::event::{Event, emit},
};

/// Bytes up to which an answer goes out in one frame with its length.
const LARGEST_WHOLE: usize = 64 * 1024;

/// Bytes of a part of a larger answer, about.
const PART: usize = 32 * 1024;

/// Answers a request, or denies it in the form that the client accepts.
pub async fn answer(service: &Service, headers: &HeaderMap, body: Incoming, record: &mut Record) -> Answer {
    // A client that accepts neither form is told so in JSON, but not before it has shown who it is.
    let media = negotiate::accepted(headers);
    let form = *media.as_ref().unwrap_or(&Media::Json);
    serve(service, headers, body, media, record).await.unwrap_or_else(|denial| {
        record.code = Some(denial.code());
        respond::deny_graphql(&denial, form)
    })
}

async fn serve(
    service: &Service,
    headers: &HeaderMap,
    body: Incoming,
    media: Result<Media, Denial>,
    record: &mut Record,
) -> Result<Answer, Denial> {
    let principal = service.caller(headers)?;
    record.caller = Some(Arc::clone(&principal.user_id));
    if !principal.may(Artifact::Graphql) {
        return Err(Denial::NotGranted { path: Artifact::Graphql.path() });
    }
    let media = media?;
    negotiate::require_json(headers)?;
    let request = envelope::read(&body::read(body, &service.options).await?)?;

    let compiled = service.compiler.compile(&request, &principal.limits).map_err(Denial::Refused)?;
    if let Some(name) = &compiled.operation_name {
        record.set_operation(name);
    }
    let cost = compiled.estimate.cost();
    let status = service.buckets.try_debit(&principal.user_id, &principal.rate, cost).map_err(Denial::Throttled)?;
    let fetching = time::timeout(principal.deadline, fetch(service, &compiled));
    // Dropping the future, here at the deadline or above where the client hangs up, cancels its statements.
    let rows = match fetching.await {
        Ok(Ok(rows)) => rows,
        Ok(Err(NoRows::Unavailable(error))) => {
            // What was not executed is not paid.
            service.buckets.give_back(&principal.user_id, cost);
            return Err(Denial::Unavailable(error));
        }
        Ok(Err(NoRows::Failed(error))) => return Err(Denial::fault(record, error)),
        Err(_) => {
            record.cost = Some(cost);
            return Err(Denial::DeadlineExceeded { deadline: principal.deadline, cost, status });
        }
    };
    record.cost = Some(cost);
    let actual = compiled.estimate.actual(rows.row_counts());
    let content = write(rows, envelope::closing(cost, actual, &status), record)?;
    let mut answer = Answer::new(content);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    Ok(answer)
}

/// Why there are no rows.
enum NoRows {
    /// The database is away or has no room: nothing was executed to its end, and it is worth trying again.
    Unavailable(BoxError),
    /// A fault.
    Failed(BoxError),
}

async fn fetch(service: &Service, compiled: &Compiled) -> Result<Rows, NoRows> {
    if !compiled.plan.needs_database() {
        return Ok(constant(&compiled.plan));
    }
    let snapshot = service.pool.snapshot().await.map_err(ExecuteError::Database)?;
    Ok(execute(snapshot, &compiled.plan).await?)
}

impl From<ExecuteError> for NoRows {
    fn from(error: ExecuteError) -> Self {
        match error {
            ExecuteError::Database(DatabaseError::Busy | DatabaseError::Unreachable(_)) => {
                Self::Unavailable(error.into())
            }
            other => Self::Failed(other.into()),
        }
    }
}

/// The whole answer where it is small, or its parts where it is not.
fn write(mut rows: Rows, closing: String, record: &Record) -> Result<Content, Denial> {
    let mut first = Vec::with_capacity(4096);
    first.extend_from_slice(envelope::OPENING);
    match rows.write(&mut first, LARGEST_WHOLE) {
        Err(error) => Err(Denial::fault(record, error)),
        Ok(Progress::Done) => {
            tell_broken_promises(&rows, &record.id);
            first.extend_from_slice(closing.as_bytes());
            Ok(Content::Whole(first.into()))
        }
        Ok(Progress::More) => {
            let request_id = Arc::clone(&record.id);
            Ok(Content::Parts(Box::new(Parts { first, rows: Some(rows), closing, request_id })))
        }
    }
}

/// Nulls where the schema promises a value are the data's fault; its operator should hear of them.
fn tell_broken_promises(rows: &Rows, request_id: &str) {
    if rows.broken_promises() > 0 {
        emit(&Event::BrokenPromises { request_id, count: rows.broken_promises() });
    }
}

/// A large answer, written as the client reads it.
struct Parts {
    /// What is written already.
    first: Vec<u8>,
    /// What is to be written; `None` after the last part.
    rows: Option<Rows>,
    closing: String,
    request_id: Arc<str>,
}

impl Iterator for Parts {
    type Item = Result<Bytes, BoxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.first.is_empty() {
            return Some(Ok(mem::take(&mut self.first).into()));
        }
        let rows = self.rows.as_mut()?;
        let mut part = Vec::with_capacity(PART + PART / 4);
        match rows.write(&mut part, PART) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => {
                tell_broken_promises(rows, &self.request_id);
                part.extend_from_slice(self.closing.as_bytes());
                self.rows = None;
            }
            Err(error) => {
                self.rows = None;
                emit(&Event::Fault { request_id: &self.request_id, error: &error });
                return Some(Err(error.into()));
            }
        }
        Some(Ok(part.into()))
    }
}
