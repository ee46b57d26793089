//! `Prefer: wait` on a page of changes: the response comes as soon as something changed that the token has not seen.
//!
//! The page is read at once, and again whenever its feed has new marks. One without changes is refunded. When the time is over, or the
//! server stops, the response is empty, has the request's own token, and costs nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time;

use crate::api::access_log::timeline::Stage;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::{Charge, PaidTime, Schedule, WAITING_BYTES};
use crate::api::graphql::gates::current_account::current_account;
use crate::api::graphql::gates::prepared_query::{AdmittedQuery, PreparedQuery};
use crate::api::graphql::long_lived::parking::{Parking, Wake};
use crate::api::graphql::request::query_request::QueryRequest;
use crate::api::graphql::response::gathered_body;
use crate::api::graphql::response::response_body;
use crate::api::graphql::response::response_end::ResponseEnd;
use crate::api::request_context::RequestContext;
use crate::execute::constant;
use crate::http::response::ResponseBody;
use crate::replicas::read_servers::ReadServers;
use crate::throttle::rate_limiter::Debit;

/// The body of the response of a query that waits for changes, for as long as its client wants it to.
pub(crate) async fn respond(
    request: &mut QueryRequest<'_>,
    prepared: PreparedQuery,
    wait: Duration,
) -> Result<ResponseBody, ApiError> {
    let mut parking = Parking::new(&request.context.service, &request.caller)?;
    let until = time::Instant::now() + wait;
    while park(request, &mut parking, until).await? == Wake::Changes {
        let QueryRequest { context, caller, view, .. } = &mut *request;
        *caller = current_account(&context.service, caller, prepared.grants, &view.rows)?;
        parking.begin_page(&context.service, &prepared.compiled.plan);
        // Boxed, so that a request that waits does not have what reading a page takes.
        let reading = Box::pin(read(request, &prepared, until));
        if let Some(body) = reading.await? {
            return Ok(body);
        }
    }
    Box::pin(end(request, prepared)).await
}

/// The body of a response with changes. If there are none, the page is refunded.
async fn read(
    request: &mut QueryRequest<'_>,
    prepared: &PreparedQuery,
    until: time::Instant,
) -> Result<Option<ResponseBody>, ApiError> {
    request.context.entry.timeline.statement = Arc::default();
    let left = until.saturating_duration_since(time::Instant::now());
    let schedule = Schedule::new(&request.context.service, &request.caller, Some(left));
    let admitted = prepared.clone().admit(request, &schedule).await?;
    let (debit, started) = (admitted.paid.debit, Instant::now());
    let body = gathered_body::respond_with_changes(request, admitted).await;
    request.settle(debit, Charge::of_page(&body)).await;
    if let Ok(None) = body {
        let QueryRequest { context, caller, .. } = request;
        // The wait for a connection is longer the more other requests wait, too.
        let waited = context.entry.timeline.connection.map(Stage::time).unwrap_or_default();
        Parking::found_nothing(&context.service, caller, started.elapsed().saturating_sub(waited));
        context.permit = None;
    }
    body
}

/// Waits for changes, if a page was read, and for the turn of the next one.
async fn park(
    QueryRequest { context, caller, .. }: &mut QueryRequest<'_>,
    parking: &mut Parking,
    until: time::Instant,
) -> Result<Wake, ServiceError> {
    let RequestContext { service, in_flight, entry, .. } = &mut **context;
    let (held, started) = (in_flight.reserved(), Instant::now());
    in_flight.reserve(WAITING_BYTES)?;
    let wake = parking.wait(service, caller, until).await;
    in_flight.shrink(held);
    entry.timeline.parked += started.elapsed();
    Ok(wake)
}

/// The body of a response without changes.
async fn end(
    QueryRequest { context, caller, .. }: &mut QueryRequest<'_>,
    prepared: PreparedQuery,
) -> Result<ResponseBody, ApiError> {
    let RequestContext { service, entry, .. } = &mut **context;
    let bucket = service.admission.forecast(&caller.user_id, &caller.limits.rate(), 0).await?;
    let rows = constant(&prepared.compiled.plan);
    let paid = PaidTime { debit: Debit::nothing(bucket), until: time::Instant::now() };
    let query = AdmittedQuery { prepared, paid, route: ReadServers::primary_route() };
    Ok(response_body::write(rows, ResponseEnd::new(query, &entry.timeline.statement), entry)?)
}
