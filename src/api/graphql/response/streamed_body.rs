//! Large responses, which are written while their rows are fetched.
//!
//! A client that reads slowly holds a connection of the pool. So its response ends when the time in which the client was waited
//! for reaches `write-timeout`, and half of the connections are for other queries, whose rows are gathered if need be.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::access::grants::Principal;
use crate::api::access_log::StreamRecord;
use crate::api::access_log::timeline::Timeline;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::{Charge, PaidTime};
use crate::api::graphql::gates::current_account::current_account;
use crate::api::graphql::gates::prepared_query::AdmittedQuery;
use crate::api::graphql::reports::slow_query_log::StreamedQuery;
use crate::api::graphql::request::query_request::{QueryRequest, Requester};
use crate::api::graphql::response::execution::{Attempt, connect_own, finish, second_route};
use crate::api::graphql::response::response_body::{CHUNK, MAX_WHOLE};
use crate::api::graphql::response::response_end::ResponseEnd;
use crate::api::graphql::response::response_envelope::START;
use crate::api::graphql::response::row_memory;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::catalog::grant_set::GrantSet;
use crate::catalog::scope::RowScope;
use crate::execute::error::ExecuteError;
use crate::execute::response_stream::{LastPart, Part, ResponseStream, StreamError, StreamedResponse};
use crate::execute::response_writer::WriteError;
use crate::http::connection::FurtherMemory;
use crate::http::response::{BoxError, ResponseBody};
use crate::replicas::read_servers::{HeldServer, LeasedConnection};

/// The most rows of a response that are gathered before it is written.
const MAX_GATHERED: u64 = 1024;

/// Bytes of memory that a response takes, about: its rows, its parts, and the rows on their way from the database. A page that is read
/// whole before it is written may take more.
const MEMORY: usize = 1 << 20;

/// The right to stream the response of a query, if it may be large, and not too many others of its server are streamed.
pub(crate) fn place(service: &Service, query: &AdmittedQuery) -> Option<OwnedSemaphorePermit> {
    let streams = || Arc::clone(&service.servers.preferred(&query.route).streams);
    // Whether the tokens of changes may leave is known when all rows are there.
    let plan = &query.prepared.compiled.plan;
    let may_stream = plan.max_rows() > MAX_GATHERED && !plan.reads_changes();
    may_stream.then(|| streams().try_acquire_owned().ok()).flatten()
}

/// The body of a response, once its first part is written. If that is all, the body is whole.
pub(crate) async fn begin(
    request: &mut QueryRequest<'_>,
    query: AdmittedQuery,
    place: OwnedSemaphorePermit,
) -> Result<ResponseBody, ApiError> {
    let (RequestContext { service, in_flight, entry, .. }, caller) = (&mut *request.context, &request.caller);
    let (compiled, timeline, until) = (&query.prepared.compiled, &mut entry.timeline, query.paid.until);
    let log = Arc::clone(&timeline.statement);
    let requester = Requester { service, caller, request_id: &entry.id };
    let first = async {
        let attempt = Attempt { requester, compiled, route: &query.route };
        let result = first_part(attempt, in_flight.further(), timeline).await;
        match second_route(service, &query.route, &compiled.plan, &result) {
            Some(route) => first_part(Attempt { route: &route, ..attempt }, in_flight.further(), timeline).await,
            None => result,
        }
    };
    let first = finish(requester, query.paid, Some(&log), pin!(first)).await?;
    let (part, stream, held) = first.map_err(|error| ServiceError::internal(&entry.id, error))?;
    let (grants, rows) = (query.prepared.grants, compiled.plan.scope().clone());
    let end = ResponseEnd::new(query, &entry.timeline.statement);
    match part {
        Part::Last(LastPart { mut text, written }) => {
            end.write(&written, &entry.id, &mut text);
            entry.actual_cost = Some(end.actual_cost(&written));
            Ok(ResponseBody::Whole(text.into()))
        }
        Part::More(text) => {
            in_flight.shrink(0);
            in_flight.reserve(MEMORY).map_err(ServiceError::from)?;
            let cost = end.debit.cost;
            let record = Arc::<StreamRecord>::default();
            entry.stream = Some(Arc::clone(&record));
            let running = RunningResponse {
                stream,
                end,
                service: Arc::clone(service),
                caller: Arc::clone(caller),
                grants,
                rows,
                request_id: Arc::clone(&entry.id),
                record,
                time_left: until.saturating_duration_since(Instant::now()),
                client_time_left: service.http.options.write_timeout,
                waiting_since: Instant::now(),
                slow: StreamedQuery::new(service, caller, &request.query.request, cost, entry),
                _held: held,
                _place: place,
            };
            let state = State::Ready(text.into(), Box::new(running));
            Ok(ResponseBody::Stream(Box::pin(stream::unfold(state, next))))
        }
    }
}

/// The first part of a response, and what it goes on with.
async fn first_part(
    Attempt { requester, compiled, route }: Attempt<'_>,
    mut memory: FurtherMemory,
    timeline: &mut Timeline,
) -> Result<Result<(Part, ResponseStream, HeldServer), WriteError>, ExecuteError> {
    let plan = Arc::clone(&compiled.plan);
    let LeasedConnection { connection, held } = connect_own(requester, route, timeline).await?;
    let log = Arc::clone(&timeline.statement);
    let memory = Box::new(move |bytes: usize| row_memory::hold(&mut memory, bytes.saturating_sub(MEMORY)));
    let (start, first_part, part, rows) = (START.to_vec(), MAX_WHOLE, CHUNK, None);
    let mut stream =
        ResponseStream::new(StreamedResponse { connection, plan, log, start, first_part, part, rows, memory });
    let part = tokio::select! {
        biased;
        part = next_part(&mut stream) => part?,
        error = held.server.lost() => return Err(error.into()),
    };
    requester.service.servers.record_read(&requester.caller.user_id, &held.server);
    Ok(part.map(|part| (part, stream, held)))
}

async fn next_part(stream: &mut ResponseStream) -> Result<Result<Part, WriteError>, ExecuteError> {
    match stream.next().await {
        Ok(part) => Ok(Ok(part)),
        Err(StreamError::Write(error)) => Ok(Err(error)),
        Err(StreamError::Execute(error)) => Err(error),
    }
}

/// The state between two parts of the response.
enum State {
    /// The first part, which is written.
    Ready(Bytes, Box<RunningResponse>),
    /// The next part.
    Running(Box<RunningResponse>),
    Over,
}

/// A response that was sent in part.
struct RunningResponse {
    stream: ResponseStream,
    end: ResponseEnd,
    service: Arc<Service>,
    caller: Arc<Principal>,
    grants: GrantSet,
    /// The rows that the caller saw when it was compiled.
    rows: RowScope,
    request_id: Arc<str>,
    record: Arc<StreamRecord>,
    /// Until the query's deadline, in which the time that the client was waited for does not count.
    time_left: Duration,
    /// How long the client may still be waited for.
    client_time_left: Duration,
    /// Since when it has been waited for.
    waiting_since: Instant,
    slow: Option<StreamedQuery>,
    _held: HeldServer,
    _place: OwnedSemaphorePermit,
}

async fn next(state: State) -> Option<(Result<Bytes, BoxError>, State)> {
    let mut running = match state {
        State::Ready(text, mut running) => {
            running.waiting_since = Instant::now();
            return Some((Ok(text), State::Running(running)));
        }
        State::Running(running) => running,
        State::Over => return None,
    };
    Some(match running.part().await {
        Ok((text, true)) => (Ok(text), State::Over),
        Ok((text, false)) => (Ok(text), State::Running(running)),
        // The rest of the body is missing, and the connection is broken, so that the client sees it.
        Err(error) => (Err(error), State::Over),
    })
}

impl RunningResponse {
    /// The next part, and whether it is the last.
    async fn part(&mut self) -> Result<(Bytes, bool), BoxError> {
        let now = Instant::now();
        let waited = now.duration_since(self.waiting_since);
        self.client_time_left = self.client_time_left.checked_sub(waited).ok_or("the client reads too slowly")?;
        if let Err(error) = current_account(&self.service, &self.caller, self.grants, &self.rows) {
            return Err(self.break_off(&error.into()));
        }
        let part = next_part(&mut self.stream);
        let paid = PaidTime { debit: self.end.debit, until: now + self.time_left };
        let requester = Requester { service: &self.service, caller: &self.caller, request_id: &self.request_id };
        let part = finish(requester, paid, None, pin!(part)).await;
        requester.settle(paid.debit, Charge::of(&part)).await;
        self.waiting_since = Instant::now();
        let took = self.waiting_since.duration_since(now);
        self.time_left = self.time_left.saturating_sub(took);
        if let Some(slow) = &mut self.slow {
            slow.add(took);
        }
        let part = part.and_then(|part| Ok(part.map_err(|error| ServiceError::internal(&self.request_id, error))?));
        let part = part.map_err(|error| self.break_off(&error))?;
        match part {
            Part::More(text) => Ok((text.into(), false)),
            Part::Last(LastPart { mut text, written }) => {
                self.end.write(&written, &self.request_id, &mut text);
                let _ = self.record.actual_cost.set(self.end.actual_cost(&written));
                Ok((text.into(), true))
            }
        }
    }

    /// The error of the body's end.
    fn break_off(&self, error: &ApiError) -> BoxError {
        let _ = self.record.code.set(error.code);
        format!("the response was not finished: {}", error.code.as_str()).into()
    }
}
