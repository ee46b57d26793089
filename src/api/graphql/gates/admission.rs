//! Admits compiled queries: what a request claims by its caller's limits and its client's preference, and how its refusal
//! is reported.

use std::time::Duration;

use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::api::access_log::timeline::Stage;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::errors::service_error::ServiceError;
use crate::api::metrics::HELD_BACK;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::http::connection::InFlightRequest;
use crate::http::request::head;
use crate::query::Request;
use crate::throttle::caller_queue::Demand;
use crate::throttle::query_throttle::{MaxWait, SubmittedQuery, ThrottleError};
use crate::throttle::queues::{Permit, QueryPlaces};
use crate::throttle::rate_limiter::Debit;

/// Bytes that a waiting request takes beside what its client sent, about: its task, its plan, its connection.
pub(crate) const WAITING_BYTES: usize = 8 * 1024;

/// When a request has to be done, and how long it waits until then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    /// When it is cancelled. Waiting counts.
    pub until: Instant,
    /// How long the client wants it to wait, up to the setting `max-wait`.
    pub wait: Option<Duration>,
    max_wait: MaxWait,
}

impl Schedule {
    /// The schedule of a request that has arrived and whose client prefers to `wait`.
    pub(crate) fn new(service: &Service, caller: &Principal, wait: Option<Duration>) -> Self {
        let deadline = caller.limits.deadline;
        let wait = wait.map(|wait| wait.min(service.options.max_wait));
        let max_wait = match wait {
            Some(wait) => MaxWait::for_all(wait),
            None => MaxWait::for_place(service.options.queue_wait),
        };
        Self { until: Instant::now() + deadline, wait, max_wait: max_wait.within(deadline) }
    }
}

/// Admits a query: it may run until its response is handed over, and is debited.
pub(crate) async fn admit(
    context: &mut RequestContext,
    caller: &Principal,
    demand: Demand,
    schedule: &Schedule,
) -> Result<Debit, ApiError> {
    let started = std::time::Instant::now();
    let taken = take_permit(&context.service, caller, demand, schedule.max_wait).await;
    context.entry.timeline.admission = Some(Stage::since(started));
    let (permit, debit) = taken?;
    context.permit = Some(permit);
    Ok(debit)
}

/// Admits a query for as long as its permit is kept.
pub(crate) async fn take_permit(
    service: &Service,
    caller: &Principal,
    demand: Demand,
    max_wait: MaxWait,
) -> Result<(Permit, Debit), ApiError> {
    let submitted = submitted(service, caller, demand, max_wait);
    service.admission.admit(&submitted).await.map_err(|refusal| error(&submitted, refusal))
}

/// Fails if a query of this price would be refused at once.
pub(crate) fn check(
    service: &Service,
    caller: &Principal,
    demand: Demand,
    schedule: &Schedule,
) -> Result<(), ApiError> {
    let submitted = submitted(service, caller, demand, schedule.max_wait);
    service.admission.check(&submitted).map_err(|refusal| error(&submitted, refusal))
}

/// Holds a refusal back while its caller gets many. Of what the client sent, the head is kept for that.
pub(crate) async fn hold_back(context: &mut RequestContext, caller: &Principal) {
    let RequestContext { service, head, in_flight, .. } = context;
    let now = Instant::now();
    let delay = service.refusal_pace.delay(&caller.user_id, now.into_std());
    if !delay.is_zero() {
        in_flight.shrink(head::memory(head));
        HELD_BACK.of(()).increment();
        time::sleep_until(now + delay).await;
    }
}

/// The credits and bytes of a query of this price while it waits.
pub(crate) fn demand(credits: u64, request: &Request, in_flight: &InFlightRequest) -> Demand {
    // The text may have been stored, and so not be a part of what the client sent.
    Demand { credits, bytes: WAITING_BYTES + request.query.len() + in_flight.reserved() }
}

fn submitted<'a>(service: &Service, caller: &'a Principal, demand: Demand, max_wait: MaxWait) -> SubmittedQuery<'a> {
    SubmittedQuery {
        caller: &caller.user_id,
        rate: caller.limits.rate(),
        places: QueryPlaces { running: caller.limits.concurrent_queries, waiting: service.options.queue_length },
        demand,
        max_wait,
    }
}

fn error(submitted: &SubmittedQuery<'_>, refusal: ThrottleError) -> ApiError {
    match refusal {
        ThrottleError::Credits(insufficient) => QueryError::Throttled(insufficient).into(),
        ThrottleError::Place { bucket, waiting } => {
            let (limit, cost) = (submitted.places.running, submitted.demand.credits);
            QueryError::TooManyRunning { limit, waiting, cost, bucket }.into()
        }
        ThrottleError::Stopping => ServiceError::Stopping.into(),
        ThrottleError::Unavailable(source) => ServiceError::Unavailable(source).into(),
    }
}
