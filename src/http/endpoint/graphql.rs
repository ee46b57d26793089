//! `POST` and `GET /rest/s1/graphql`: the gates in their order (token, grant, body, compile, bucket, database), and the answer.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use hyper::Method;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts as Head;
use serde_json::json;
use tokio::time;

use crate::access::grants::{Artifact, Principal};
use crate::compile::compiled::Compiled;
use crate::database::error::DatabaseError;
use crate::execute::error::ExecuteError;
use crate::execute::response_writer::{Progress, ResponseWriter};
use crate::execute::{constant, execute};
use crate::http::access_error::AccessError;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::coding::{self, Choice};
use crate::http::compress::compress;
use crate::http::envelope::{self, CostExtension, GraphqlRequest};
use crate::http::negotiate::{self, Media};
use crate::http::query_error::QueryError;
use crate::http::request_error::RequestError;
use crate::http::response::{Answer, BoxError, Content, vary};
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::http::{body, error_response, price};
use crate::query::Request;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::throttle::running::Permit;

/// Bytes up to which an answer goes out in one frame with its length.
const LARGEST_WHOLE: usize = 64 * 1024;

/// Bytes of a part of a larger answer, about.
const PART: usize = 32 * 1024;

/// Answers a request, or denies it in the form that the client accepts.
pub async fn answer(service: &Service, head: &Head, body: Incoming, record: &mut AccessLogEntry) -> Answer {
    // A client that accepts neither form is told so in JSON, but not before it has shown who it is.
    let media = negotiate::accepted(&head.headers);
    let form = *media.as_ref().unwrap_or(&Media::Json);
    let coding = coding::accepted(&head.headers, &service.options.codings);
    let choice = *coding.as_ref().unwrap_or(&Choice::Identity);
    let media = media.and_then(|media| coding.map(|_| media));
    let answer = serve(service, head, body, media, record).await.unwrap_or_else(|error| {
        record.code = Some(error.code);
        error_response::graphql(&error, form)
    });
    let mut answer = compress(answer, choice, record);
    let headers = answer.headers_mut();
    vary(headers, if service.options.codings.is_empty() { "Accept" } else { "Accept, Accept-Encoding" });
    if head.method != Method::POST {
        // ResponseWriter and credits are of the moment, and for the caller alone.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    answer
}

async fn serve(
    service: &Service,
    head: &Head,
    body: Incoming,
    media: Result<Media, RequestError>,
    record: &mut AccessLogEntry,
) -> Result<Answer, ApiError> {
    let principal = service.caller(&head.headers)?;
    record.caller = Some(Arc::clone(&principal.user_id));
    if !principal.may(Artifact::Graphql) {
        return Err(AccessError::NotGranted { path: Artifact::Graphql.path() }.into());
    }
    let media = media?;
    let GraphqlRequest { query, operation_name, variables, extensions } = envelope(service, head, body).await?;
    let resolved = service.persisted.resolve(query, &extensions)?;
    let request = Request { query: resolved.query, operation_name, variables };

    let keep = || {
        if let Some(hash) = resolved.newcomer {
            service.persisted.keep(hash, &request.query);
        }
    };
    let explain = || service.compiler.explain(&request, &principal.limits.query).map_err(QueryError::Compile);
    if price::is_all(&head.headers)? {
        let explanation = explain()?;
        keep();
        if let Some(name) = &explanation.operation_name {
            record.set_operation(name);
        }
        let forecast =
            service.buckets.forecast(&principal.user_id, &principal.limits.rate(), explanation.estimate.cost());
        return Ok(price::answer(explanation, &forecast, media));
    }
    let compiled = service.compiler.compile(&request, &principal.limits.query).map_err(QueryError::Compile)?;
    keep();
    let fields = if price::includes_fields(&head.headers) { Some(json!(explain()?.fields())) } else { None };
    if let Some(name) = &compiled.operation_name {
        record.set_operation(name);
    }
    let cost = compiled.estimate.cost();
    let place = place(service, &principal, cost)?;
    let status =
        service.buckets.try_debit(&principal.user_id, &principal.limits.rate(), cost).map_err(QueryError::Throttled)?;
    let fetching = time::timeout(principal.limits.deadline, fetch(service, &compiled));
    // Dropping the future, here at the deadline or above where the client hangs up, cancels its statements.
    let rows = match fetching.await {
        Ok(Ok(rows)) => rows,
        Ok(Err(NoRows::Unavailable(error))) => {
            // What was not executed is not paid.
            service.buckets.refund(&principal.user_id, cost);
            return Err(ServiceError::Unavailable(error).into());
        }
        Ok(Err(NoRows::Failed(error))) => return Err(ServiceError::internal(record, error).into()),
        Err(_) => {
            record.cost = Some(cost);
            return Err(QueryError::DeadlineExceeded { deadline: principal.limits.deadline, cost, status }.into());
        }
    };
    record.cost = Some(cost);
    let closing = envelope::closing(CostExtension {
        requested_query_cost: cost,
        actual_query_cost: compiled.estimate.actual(rows.row_counts()),
        throttle_status: status,
        fields: fields.as_ref(),
    });
    let content = write(rows, closing, place, record)?;
    let mut answer = Answer::new(content);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    Ok(answer)
}

/// What is asked, in a body or in the target. There are no mutations that a target would have to be kept from.
async fn envelope(service: &Service, head: &Head, body: Incoming) -> Result<GraphqlRequest, RequestError> {
    if head.method == Method::POST {
        negotiate::require_json(&head.headers)?;
        envelope::read(&body::read(body, &service.options).await?)
    } else {
        envelope::of_target(head.uri.query())
    }
}

/// A place among the caller's running queries, until its answer is handed over; nothing is debited without one.
fn place(service: &Service, principal: &Principal, cost: u64) -> Result<Permit, QueryError> {
    let limit = principal.limits.concurrent_queries;
    service.running.enter(&principal.user_id, limit).ok_or_else(|| {
        let status = service.buckets.status(&principal.user_id, &principal.limits.rate());
        QueryError::TooManyRunning { limit, cost, status }
    })
}

/// Why there are no rows.
enum NoRows {
    /// The database is away or has no room: nothing was executed to its end, and it is worth trying again.
    Unavailable(BoxError),
    /// A fault.
    Failed(BoxError),
}

async fn fetch(service: &Service, compiled: &Compiled) -> Result<ResponseWriter, NoRows> {
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
fn write(
    mut rows: ResponseWriter,
    closing: Vec<u8>,
    place: Permit,
    record: &AccessLogEntry,
) -> Result<Content, ServiceError> {
    let mut first = Vec::with_capacity(4096);
    first.extend_from_slice(envelope::OPENING);
    match rows.write(&mut first, LARGEST_WHOLE) {
        Err(error) => Err(ServiceError::internal(record, error)),
        Ok(Progress::Done) => {
            let errors = close(&rows, &record.id);
            first.extend_from_slice(errors.as_bytes());
            first.extend_from_slice(&closing);
            Ok(Content::Whole(first.into()))
        }
        Ok(Progress::More) => {
            let request_id = Arc::clone(&record.id);
            Ok(Content::Parts(Box::new(Parts { first, rows: Some(rows), closing, request_id, _place: place })))
        }
    }
}

/// The errors of an answer that is written. Values that are not as the schema promises are the data's fault; its
/// operator should hear of them.
fn close(rows: &ResponseWriter, request_id: &str) -> String {
    if rows.field_error_count() > 0 {
        emit(&Event::NullabilityViolations { request_id, count: rows.field_error_count() });
    }
    envelope::errors(rows.field_errors())
}

/// A large answer, written as the client reads it.
struct Parts {
    /// What is written already.
    first: Vec<u8>,
    /// What is to be written; `None` after the last part.
    rows: Option<ResponseWriter>,
    closing: Vec<u8>,
    request_id: Arc<str>,
    _place: Permit,
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
                let errors = close(rows, &self.request_id);
                part.extend_from_slice(errors.as_bytes());
                part.extend_from_slice(&self.closing);
                self.rows = None;
            }
            Err(error) => {
                self.rows = None;
                emit(&Event::InternalError { request_id: &self.request_id, error: &error });
                return Some(Err(error.into()));
            }
        }
        Some(Ok(part.into()))
    }
}
