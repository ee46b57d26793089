//! Responses whose rows are gathered before they are written.

use std::time::Instant;

use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::api::graphql::gates::admission::PaidTime;
use crate::api::graphql::gates::prepared_query::AdmittedQuery;
use crate::api::graphql::request::query_request::{QueryRequest, Requester};
use crate::api::graphql::response::changes;
use crate::api::graphql::response::execution::Attempt;
use crate::api::graphql::response::response_body;
use crate::api::graphql::response::response_end::ResponseEnd;
use crate::api::graphql::response::row_memory;
use crate::api::request_context::RequestContext;
use crate::cost::limit_check::check_response_size;
use crate::execute::response_writer::ResponseWriter;
use crate::execute::row_limits::RowLimits;
use crate::http::response::ResponseBody;

/// The body of a response.
pub(crate) async fn respond(request: &mut QueryRequest<'_>, query: AdmittedQuery) -> Result<ResponseBody, ApiError> {
    let rows = rows(request, &query).await?;
    write(request, query, rows)
}

/// The body of a response that has changes; `None` if there are none.
pub(crate) async fn respond_with_changes(
    request: &mut QueryRequest<'_>,
    query: AdmittedQuery,
) -> Result<Option<ResponseBody>, ApiError> {
    let rows = rows(request, &query).await?;
    if rows.is_without_changes() { Ok(None) } else { write(request, query, rows).map(Some) }
}

async fn rows(
    QueryRequest { context, caller, .. }: &mut QueryRequest<'_>,
    AdmittedQuery { prepared, paid, route }: &AdmittedQuery,
) -> Result<Box<ResponseWriter>, ApiError> {
    let RequestContext { service, in_flight, entry, .. } = &mut **context;
    let mut memory = in_flight.further();
    let mut limits = RowLimits {
        bytes: check_response_size(0, paid.debit.cost, &caller.limits.query).limit,
        memory: &mut |bytes| row_memory::hold(&mut memory, bytes),
    };
    let requester = Requester { service, caller, request_id: &entry.id };
    let attempt = Attempt { requester, compiled: &prepared.compiled, route };
    fetch(attempt, *paid, &mut limits, &mut entry.timeline).await
}

/// The rows of a query, all of them, if they are there before its deadline and may leave.
pub(crate) async fn fetch(
    attempt: Attempt<'_>,
    paid: PaidTime,
    limits: &mut RowLimits<'_>,
    timeline: &mut Timeline,
) -> Result<Box<ResponseWriter>, ApiError> {
    let rows = attempt.fetch(paid, limits, timeline).await?;
    if attempt.compiled.plan.reads_changes() {
        // Boxed, so that the futures of other requests stay small.
        Box::pin(changes::check(attempt, paid.until, &rows, timeline)).await?;
    }
    Ok(rows)
}

fn write(
    QueryRequest { context, .. }: &mut QueryRequest<'_>,
    query: AdmittedQuery,
    rows: Box<ResponseWriter>,
) -> Result<ResponseBody, ApiError> {
    let RequestContext { in_flight, entry, .. } = &mut **context;
    let end = ResponseEnd::new(query, &entry.timeline.statement);
    let actual = end.actual_cost(&rows);
    let rows_memory = rows.memory();
    let started = Instant::now();
    let body = response_body::write(rows, end, entry)?;
    entry.timeline.write = Some(Stage::since(started));
    in_flight.shrink(0);
    in_flight.reserve(response_body::memory(&body, rows_memory)).map_err(ServiceError::from)?;
    entry.actual_cost = Some(actual);
    Ok(body)
}
