//! Admits compiled queries, and charges or refunds them by their results: what a request claims by its caller's limits and its client's
//! preference, how its refusal is reported, and which results cost nothing.

use std::time::Duration;

use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::request::query_request::{QueryRequest, Requester};
use crate::api::metrics::HELD_BACK;
use crate::api::request_context::RequestContext;
use crate::api::service::Service;
use crate::error::code::ErrorCode;
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
    pub(crate) max_wait: MaxWait,
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

/// The debit for a statement, and its deadline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PaidTime {
    pub debit: Debit,
    pub until: Instant,
}

/// What a caller pays for a query that was debited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charge {
    Full,
    /// It is refunded.
    Nothing,
    /// It is not refunded, since it may have caused an internal error, and it is not counted as charged.
    Uncounted,
}

impl Charge {
    /// The charge for a query with this result.
    pub(crate) fn of<T>(result: &Result<T, ApiError>) -> Self {
        match result.as_ref().map_err(|error| error.code) {
            // The service is to blame, or the token is of another history than the database's.
            Err(ErrorCode::ServiceUnavailable | ErrorCode::SyncTokenInvalid | ErrorCode::SyncRewound) => Self::Nothing,
            Err(ErrorCode::InternalServerError) => Self::Uncounted,
            // What ran is paid, whatever came of it.
            Ok(_) | Err(_) => Self::Full,
        }
    }

    /// The charge for a page, which is free if it shows nothing.
    pub(crate) fn of_page<T>(result: &Result<Option<T>, ApiError>) -> Self {
        if matches!(result, Ok(None)) { Self::Nothing } else { Self::of(result) }
    }
}

impl Requester<'_> {
    /// Admits a query for as long as its permit is kept, and debits it.
    pub(crate) async fn admit(
        self,
        demand: Demand,
        max_wait: MaxWait,
        timeline: &mut Timeline,
    ) -> Result<(Permit, Debit), ApiError> {
        let submitted = self.submitted(demand, max_wait);
        let started = std::time::Instant::now();
        let admitted = self.service.admission.admit(&submitted).await;
        timeline.admission = Some(Stage::since(started));
        admitted.map_err(|refusal| error(&submitted, refusal))
    }

    /// Refunds a query that costs nothing. Returns the credits that it is charged.
    pub(crate) async fn settle(self, debit: Debit, charge: Charge) -> Option<u64> {
        if charge == Charge::Nothing {
            self.service.admission.refund(&self.caller.user_id, debit).await;
        }
        (charge == Charge::Full).then_some(debit.cost)
    }

    fn submitted(&self, demand: Demand, max_wait: MaxWait) -> SubmittedQuery<'_> {
        let Self { service, caller, .. } = self;
        SubmittedQuery {
            caller: &caller.user_id,
            rate: caller.limits.rate(),
            places: QueryPlaces { running: caller.limits.concurrent_queries, waiting: service.options.queue_length },
            demand,
            max_wait,
        }
    }
}

impl QueryRequest<'_> {
    /// Charges or refunds its query.
    pub(crate) async fn settle(&mut self, debit: Debit, charge: Charge) {
        let RequestContext { service, entry, .. } = &mut *self.context;
        let requester = Requester { service, caller: &self.caller, request_id: &entry.id };
        entry.timeline.cost = requester.settle(debit, charge).await;
    }
}

/// Fails if the price of the query is known and the query would be refused at once: refusing it once more must cost little.
pub(crate) fn check_known_price(
    QueryRequest { context, caller, view, query }: &mut QueryRequest<'_>,
    schedule: &Schedule,
) -> Result<(), ApiError> {
    let RequestContext { service, in_flight, entry, .. } = &mut **context;
    let Some(known) = view.compiler.known_price(&query.request, &caller.limits.query) else { return Ok(()) };
    entry.set_operation(known.operation_name.as_deref());
    let requester = Requester { service, caller, request_id: &entry.id };
    let submitted = requester.submitted(demand(known.credits, &query.request, in_flight), schedule.max_wait);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_ran_is_charged_and_a_page_that_shows_nothing_is_refunded() {
        let failed = |code| Charge::of_page::<()>(&Err(ApiError::new(code, &"")));
        assert_eq!([Some(()), None].map(|page| Charge::of_page(&Ok(page))), [Charge::Full, Charge::Nothing]);
        assert_eq!(Charge::of(&Ok(())), failed(ErrorCode::DeadlineExceeded));
        assert_eq!([ErrorCode::ServiceUnavailable, ErrorCode::SyncRewound].map(failed), [Charge::Nothing; 2]);
        assert_eq!(failed(ErrorCode::InternalServerError), Charge::Uncounted);
    }
}
