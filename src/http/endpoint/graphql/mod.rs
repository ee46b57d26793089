//! `POST` and `GET /rest/s1/graphql`: the gates that a query passes in their order, and its response.

pub(crate) mod admission;
pub(crate) mod compilation;
pub(crate) mod cost_report;
pub(crate) mod execution;
pub(crate) mod export;
pub(crate) mod export_lines;
mod export_log;
mod free_requests;
mod optional_headers;
pub(crate) mod persisted_queries;
pub(crate) mod request_envelope;
mod request_members;
pub(crate) mod response_body;
pub(crate) mod response_end;
pub(crate) mod response_envelope;
mod slow_query_log;
mod streamed_body;

use std::sync::Arc;
use std::time::Instant;

use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts as Head;
use hyper::{HeaderMap, Method};

use crate::access::grants::{Artifact, Principal};
use crate::error::code::ErrorCode;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::coding::{self, Choice};
use crate::http::compress::{ENCODER_MEMORY, compress};
use crate::http::connection::InFlightRequest;
use crate::http::endpoint::graphql::admission::Schedule;
use crate::http::endpoint::graphql::execution::AdmittedQuery;
use crate::http::endpoint::graphql::free_requests::pace;
use crate::http::endpoint::graphql::persisted_queries::{ResolvedQuery, resolve, store};
use crate::http::endpoint::graphql::response_end::ResponseEnd;
use crate::http::negotiate::{self, Media};
use crate::http::query_error::QueryError;
use crate::http::request_error::RequestError;
use crate::http::response::{HttpResponse, ResponseBody, add_vary};
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::http::timeline::Stage;
use crate::http::{error_response, prefer, read_position};

/// Responds with the query's data, or with errors, in the media type and coding that the client prefers.
pub(crate) async fn respond(
    service: &Arc<Service>,
    head: &Head,
    body: Incoming,
    in_flight: &mut InFlightRequest,
    entry: &mut AccessLogEntry,
) -> HttpResponse {
    let mut response = if negotiate::prefers_lines(&head.headers) {
        Box::pin(export::respond(service, head, body, in_flight, entry)).await
    } else {
        respond_with_data(service, head, body, in_flight, entry).await
    };
    let headers = response.headers_mut();
    add_vary(headers, if service.options.codings.is_empty() { "Accept" } else { "Accept, Accept-Encoding" });
    if head.method != Method::POST {
        // Data and credits change from one moment to the next, and belong to the caller alone.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

async fn respond_with_data(
    service: &Arc<Service>,
    head: &Head,
    body: Incoming,
    in_flight: &mut InFlightRequest,
    entry: &mut AccessLogEntry,
) -> HttpResponse {
    // A client that accepts neither media type gets its error in JSON, but only once it is authenticated.
    let media = negotiate::accepted(&head.headers);
    let error_media = *media.as_ref().unwrap_or(&Media::Json);
    let coding = coding::accepted(&head.headers, &service.options.codings);
    let choice = *coding.as_ref().unwrap_or(&Choice::Identity);
    let media = media.and_then(|media| coding.map(|_| media));
    let response = serve(service, head, body, media, in_flight, entry).await.unwrap_or_else(|error| {
        entry.fail(&error);
        error_response::graphql(&error, error_media)
    });
    let encodes_chunks =
        matches!(response.body(), ResponseBody::Chunks(_) | ResponseBody::Stream(_)) && choice != Choice::Identity;
    let has_memory = !encodes_chunks || in_flight.reserve(ENCODER_MEMORY).is_ok();
    compress(response, if has_memory { choice } else { Choice::Identity }, entry)
}

/// The gates: token, grant, body, compiler, concurrency and credits, database. A query that fails at one of them does not
/// reach the next, and nothing before the last one reads the database.
async fn serve(
    service: &Arc<Service>,
    head: &Head,
    body: Incoming,
    media: Result<Media, RequestError>,
    in_flight: &mut InFlightRequest,
    entry: &mut AccessLogEntry,
) -> Result<HttpResponse, ApiError> {
    let caller = service.authorize(&head.headers, Artifact::Graphql, entry)?;
    let media = media?;
    let envelope = request_envelope::read(service, &caller, head, body, in_flight).await?;
    let mut query = resolve(&service.persisted_queries, envelope)?;

    let optional = optional_headers::of(&head.headers);
    if let Some(report) = cost_report::requested(optional)? {
        return cost_report::respond(service, &caller, report, &mut query, media, entry).await;
    }
    let wait = prefer::wait(optional);
    let schedule = Schedule::new(service, &caller, wait);
    let result = run(service, &caller, &mut query, optional, &schedule, in_flight, entry).await;
    if result.as_ref().is_err_and(|error| error.code == ErrorCode::Throttled) {
        drop(query);
        admission::hold_back(service, &caller, head, in_flight).await;
    } else if !matches!(result, Ok(ResponseBody::Stream(_))) {
        slow_query_log::report(service, &caller, &query.request, entry);
    }
    let response = result.map(|body| {
        let mut response = HttpResponse::new(body);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
        response
    });
    if wait.is_some() { prefer::report_wait(response) } else { response }
}

/// The gates from the compiler on.
async fn run(
    service: &Arc<Service>,
    caller: &Arc<Principal>,
    query: &mut ResolvedQuery,
    headers: &HeaderMap,
    schedule: &Schedule,
    in_flight: &mut InFlightRequest,
    entry: &mut AccessLogEntry,
) -> Result<ResponseBody, ApiError> {
    let after = read_position::after(headers)?;
    // Refusing a query once more must cost little.
    if let Some(known) = service.compiler.known_price(&query.request, &caller.limits.query) {
        entry.set_operation(known.operation_name.as_deref());
        let demand = admission::demand(known.credits, &query.request, in_flight);
        admission::check(service, caller, demand, schedule)?;
    }
    let started = Instant::now();
    let compiled = compilation::compile(service, caller, &mut query.request).await;
    entry.timeline.compile = Some(Stage::since(started));
    let compiled = compiled?;
    entry.timeline.plan = Some(Arc::clone(&compiled.plan));
    store(&service.persisted_queries, &caller.user_id, query);
    entry.set_operation(compiled.operation_name.as_deref());
    let cost = compiled.estimate.cost();
    if cost == 0 {
        pace(&service.free_query_pace, caller, query.request.query.len())
            .await
            .map_err(|retry_after| QueryError::TooManyFreeQueries { retry_after })?;
    }
    let field_costs = cost_report::field_costs(service, caller, &mut query.request, headers).await?;
    let includes_plan = cost_report::includes_plan(caller, headers)?;

    let demand = admission::demand(cost, &query.request, in_flight);
    let started = Instant::now();
    let admitted = admission::admit(service, caller, demand, schedule, in_flight).await;
    entry.timeline.admission = Some(Stage::since(started));
    let debit = admitted.inspect_err(|_| {
        service.compiler.insert_price(&query.request, &caller.limits.query, cost);
    })?;
    if !compiled.unknown_values.is_empty() {
        // They may have been added to the database since.
        service.vocabularies.refresh();
    }
    let route = service.servers.route(&caller.user_id, after).await;
    let admitted = AdmittedQuery { compiled, field_costs, includes_plan, debit, route, until: schedule.until };
    let body = match streamed_body::place(service, &admitted) {
        Some(place) => {
            let begin = streamed_body::begin(service, caller, &query.request, admitted, place, in_flight, entry);
            // Boxed, so that the futures of other requests stay small.
            Box::pin(begin).await
        }
        // Boxed, so that what is moved where a request begins stays small.
        None => Box::pin(gather(service, caller, admitted, in_flight, entry)).await,
    };
    entry.cost = match &body {
        Ok(_) => Some(cost),
        // The only error that is charged.
        Err(error) => (error.code == ErrorCode::DeadlineExceeded).then_some(cost),
    };
    body
}

/// The body of a response whose rows are gathered before it is written.
async fn gather(
    service: &Service,
    caller: &Principal,
    query: AdmittedQuery,
    in_flight: &mut InFlightRequest,
    entry: &mut AccessLogEntry,
) -> Result<ResponseBody, ApiError> {
    let rows = execution::fetch(service, caller, &query, entry).await?;
    let debit = query.debit;
    let end = ResponseEnd::new(query, &entry.timeline.statement);
    let actual = end.actual_cost(&rows);
    let rows_memory = rows.memory();
    let started = Instant::now();
    let body = response_body::write(rows, end, entry)?;
    entry.timeline.write = Some(Stage::since(started));
    in_flight.shrink(0);
    if let Err(error) = in_flight.reserve(response_body::memory(&body, rows_memory)) {
        service.admission.refund(&caller.user_id, debit).await;
        return Err(ServiceError::from(error).into());
    }
    entry.actual_cost = Some(actual);
    Ok(body)
}
