//! `POST /api/updateOrder`: checks the request in order (token, grant, body, parameters), applies the update and responds.

mod update_response;

use std::time::Duration;

use hyper::HeaderMap;
use hyper::body::{Bytes, Incoming};
use hyper::header;
use thiserror::Error;
use tokio::time::{self, Instant};

use crate::access::grants::{Artifact, Principal};
use crate::api::access_log::AccessLogEntry;
use crate::api::error_response;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::metrics::{UPDATES, UpdateResult};
use crate::api::negotiate;
use crate::api::read_position;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::api::update_order::update_response::applied;
use crate::error::code::ErrorCode;
use crate::http::request::body;
use crate::http::response::HttpResponse;
use crate::orders::actor::{Actor, UpdateScope};
use crate::orders::error::UpdateError;
use crate::orders::idempotency::IdempotencyKey;
use crate::orders::outcome::{UpdateOutcome, Updated};
use crate::orders::rejection::Rejection;
use crate::orders::update::OrderUpdate;
use crate::orders::update_form::parse_body;
use crate::orders::update_request::UpdateRequest;
use crate::throttle::bucket::InsufficientCredits;
use crate::throttle::caller_queue::Demand;
use crate::throttle::queues::{CannotWait, Permit, QueryPlaces, Turn};

/// The maximum number of bytes of an `Idempotency-Key`.
const MAX_KEY_LENGTH: usize = 255;

/// The most bytes of a form that is parsed on a thread that serves: some hundred parameters, which take a fraction of a
/// millisecond.
const MAX_QUICK_FORM: usize = 8 * 1024;

/// The number of a caller's updates that may wait, for each that may run.
const QUEUE_PER_RUNNING: u32 = 8;

/// When a client may send an update again that could not wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The caller's other updates leave no place for this one.
#[derive(Debug, Error)]
#[error("{limit} of your updates are running and others wait; send fewer at the same time")]
struct TooManyUpdates {
    /// Updates that may run at the same time.
    limit: u32,
}

/// The caller sent more updates in the last second than it may.
#[derive(Debug, Error)]
#[error("you may send {limit} order updates a second at most; retry in {} ms", retry_after.as_millis() + 1)]
struct TooFast {
    /// Updates that may come in a second.
    limit: u32,
    retry_after: Duration,
}

/// The database has the tables of the service alone.
#[derive(Debug, Error)]
#[error("this server has no orders to update: its database has no order tables")]
struct NoOrders;

/// An invalid `Idempotency-Key` header.
#[derive(Debug, Error)]
enum IdempotencyKeyError {
    #[error("an Idempotency-Key is 1 to 255 visible ASCII characters")]
    Invalid,
    #[error("a request has one Idempotency-Key at most")]
    Several,
}

/// Applies an update and responds with its outcome or an error.
pub(crate) async fn respond(context: &mut RequestContext, body: &mut Incoming) -> HttpResponse {
    serve(context, body).await.unwrap_or_else(|error| fail(&error, &mut context.entry))
}

/// The response to an error, which the access log names too.
fn fail(error: &ApiError, entry: &mut AccessLogEntry) -> HttpResponse {
    entry.fail(error);
    error_response::order_update(error)
}

async fn serve(context: &mut RequestContext, body: &mut Incoming) -> Result<HttpResponse, ApiError> {
    let principal = context.authorize(Artifact::UpdateOrder)?;
    let RequestContext { service, head, in_flight, entry, .. } = context;
    let headers = &head.headers;
    if !service.updates_orders {
        return Err(NoOrders.into());
    }
    negotiate::reject_compressed(headers)?;
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let body = body::read(head.version, body, in_flight, &service.http.options).await?;
    take_turn(service, &principal)?;
    let request = parse(service, &principal, content_type.unwrap_or_default(), body).await?;
    let key = idempotency_key(headers)?;
    let address = entry.peer.map(|address| address.to_string());
    let limit = |scope| service.views.values_in(&principal, scope);
    let scope = UpdateScope { stores: limit("store"), facilities: limit("facility") };
    let actor = Actor { user_id: principal.user_id.to_string(), address, scope };
    let max_keys = principal.limits.idempotency_keys;
    let key = key.map(|key| IdempotencyKey { key, max_keys });
    let deadline = Instant::now() + principal.limits.deadline;
    let _permit = acquire_permit(service, &principal, in_flight.reserved(), deadline).await?;
    // Dropping the future, at the deadline here or when the client disconnects, rolls the transaction back, unless the
    // commit has been sent.
    let on_commit = || service.servers.begin_write(&principal.user_id);
    let options = service.update_options;
    let update = OrderUpdate { options, actor: &actor, request: &request, key, on_commit };
    let result = time::timeout_at(deadline, update.apply(&service.writer)).await;
    UPDATES.of((classify(result.as_ref().ok()),)).increment();
    let Updated { outcome, position } = match result {
        Ok(Ok(updated)) => updated,
        Ok(Err(UpdateError::Unavailable(error))) => return Err(ServiceError::Unavailable(error.into()).into()),
        Ok(Err(UpdateError::SchemaChanged(error))) => {
            service.schema_fit.request_check();
            return Err(ServiceError::SchemaChanged(error.into()).into());
        }
        Ok(Err(UpdateError::Internal(error))) => return Err(ServiceError::internal(&entry.id, error).into()),
        Err(elapsed) => return Err(ServiceError::Unavailable(elapsed.into()).into()),
    };
    let mut response = match outcome {
        UpdateOutcome::Applied(notes) => applied(&request, &notes),
        UpdateOutcome::Rejected(rejection) => fail(&rejection.into(), entry),
    };
    if let Some(position) = position {
        service.servers.record_write(&principal.user_id, position);
        if let Some(time) = service.servers.writes_count() {
            // Before the response, so that the client's next request sees the update wherever it is sent.
            service.admission.remember_write(&principal.user_id, position.into(), time).await;
        }
        read_position::add(position, response.headers_mut());
    }
    Ok(response)
}

/// The outcome of an update, for the metrics; `None` if it took too long.
fn classify(result: Option<&Result<Updated, UpdateError>>) -> UpdateResult {
    match result.map(|result| result.as_ref().map(|updated| &updated.outcome)) {
        Some(Ok(UpdateOutcome::Applied(_))) => UpdateResult::Applied,
        Some(Ok(UpdateOutcome::Rejected(rejection))) => match rejection.code {
            ErrorCode::IdempotencyKeyReused | ErrorCode::Throttled => UpdateResult::KeyRejected,
            _ => UpdateResult::Rejected,
        },
        Some(Err(UpdateError::Internal(_) | UpdateError::SchemaChanged(_))) => UpdateResult::Failed,
        Some(Err(UpdateError::Unavailable(_))) | None => UpdateResult::Unavailable,
    }
}

/// The request of a form. Large forms are parsed off the threads that serve.
async fn parse(
    service: &Service,
    caller: &Principal,
    content_type: &str,
    body: Bytes,
) -> Result<UpdateRequest, ApiError> {
    let is_large = body.len() > MAX_QUICK_FORM;
    let content_type = content_type.to_owned();
    let parse = move || -> Result<_, Rejection> { Ok(UpdateRequest::parse(&parse_body(&content_type, body)?)?) };
    let parsed =
        if is_large { service.cpu_tasks.run(&caller.user_id, caller.limits.deadline, parse).await? } else { parse() };
    Ok(parsed?)
}

/// Counts an update of the caller, valid or not. Fails if the caller sent too many in the last second.
fn take_turn(service: &Service, caller: &Principal) -> Result<(), TooFast> {
    let debit = service.update_rates.debit(&caller.user_id, &caller.limits.update_rate(), 1);
    let insufficient = |error: InsufficientCredits| TooFast {
        limit: caller.limits.updates_per_second,
        retry_after: error.retry_after.unwrap_or(RETRY_AFTER),
    };
    debit.map(drop).map_err(insufficient)
}

/// Waits until fewer of the caller's updates run than may, so that a caller never holds all connections that write.
async fn acquire_permit(
    service: &Service,
    caller: &Principal,
    bytes: usize,
    deadline: Instant,
) -> Result<Permit, ApiError> {
    let limit = caller.limits.concurrent_updates;
    let waiting = usize::try_from(limit.saturating_mul(QUEUE_PER_RUNNING)).unwrap_or(usize::MAX);
    let (places, demand) = (QueryPlaces { running: limit, waiting }, Demand { credits: 0, bytes });
    if let Ok(permit) = service.updates.start(&caller.user_id, places, demand.credits) {
        return Ok(permit);
    }
    let ticket = match service.updates.wait(&caller.user_id, places, demand) {
        Ok(ticket) => ticket,
        Err(CannotWait::Full) => return Err(TooManyUpdates { limit }.into()),
        Err(CannotWait::Closed) => return Err(ServiceError::Stopping.into()),
    };
    loop {
        match ticket.turn() {
            Turn::Called => return Ok(ticket.admit()),
            Turn::Closed => return Err(ServiceError::Stopping.into()),
            Turn::Waiting => {}
        }
        if time::timeout_at(deadline, ticket.changed()).await.is_err() {
            return Err(TooManyUpdates { limit }.into());
        }
    }
}

impl From<NoOrders> for ApiError {
    fn from(error: NoOrders) -> Self {
        Self::new(ErrorCode::NotFound, &error)
    }
}

impl From<Rejection> for ApiError {
    fn from(Rejection { code, messages }: Rejection) -> Self {
        Self::several(code, messages)
    }
}

impl From<IdempotencyKeyError> for ApiError {
    fn from(error: IdempotencyKeyError) -> Self {
        Self::new(ErrorCode::BadRequest, &error)
    }
}

impl From<TooFast> for ApiError {
    fn from(error: TooFast) -> Self {
        Self::new(ErrorCode::Throttled, &error).with_retry_after(Some(error.retry_after))
    }
}

impl From<TooManyUpdates> for ApiError {
    fn from(error: TooManyUpdates) -> Self {
        Self::new(ErrorCode::Throttled, &error).with_retry_after(Some(RETRY_AFTER))
    }
}

/// The key under which the outcome is stored for repeats.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, IdempotencyKeyError> {
    let mut keys = headers.get_all("idempotency-key").into_iter();
    match (keys.next(), keys.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => key
            .to_str()
            .ok()
            .filter(|key| (1..=MAX_KEY_LENGTH).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()))
            .map(Some)
            .ok_or(IdempotencyKeyError::Invalid),
        (Some(_), Some(_)) => Err(IdempotencyKeyError::Several),
    }
}
