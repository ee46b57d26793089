//! `POST` and `GET /rest/s1/graphql`: the gates that a query passes in their order, and its response.
//!
//! - `request`: reads the request
//! - `gates`: what it passes before it is executed
//! - `response`: executes the query, and writes the response
//! - `long_lived`: exports, and requests that wait for changes
//! - `reports`: what clients and operators learn beside the data

pub(crate) mod gates;
pub(crate) mod long_lived;
pub(crate) mod reports;
pub(crate) mod request;
pub(crate) mod response;

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Method};

use crate::access::grants::Artifact;
use crate::api::error_response;
use crate::api::errors::api_error::ApiError;
use crate::api::graphql::gates::admission::{self, Charge, Schedule};
use crate::api::graphql::gates::compilation;
use crate::api::graphql::gates::free_requests;
use crate::api::graphql::gates::prepared_query::PreparedQuery;
use crate::api::graphql::long_lived::export;
use crate::api::graphql::long_lived::parked_query;
use crate::api::graphql::reports::cost_report;
use crate::api::graphql::reports::optional_headers;
use crate::api::graphql::reports::slow_query_log;
use crate::api::graphql::request::query_request::QueryRequest;
use crate::api::graphql::request::query_source::resolve;
use crate::api::graphql::request::request_envelope;
use crate::api::graphql::response::analysis;
use crate::api::graphql::response::gathered_body;
use crate::api::graphql::response::streamed_body;
use crate::api::negotiate::{self, Media};
use crate::api::prefer;
use crate::api::read_position;
use crate::api::request_context::RequestContext;
use crate::error::code::ErrorCode;
use crate::http::coding::compress::{ENCODER_MEMORY, compress, keeps_encoder};
use crate::http::coding::{self, Choice};
use crate::http::response::{HttpResponse, ResponseBody, add_vary};

/// The request headers that a response depends on, without codings and with them.
const ACCEPT: HeaderValue = HeaderValue::from_static("Accept");
const ACCEPT_WITH_ENCODING: HeaderValue = HeaderValue::from_static("Accept, Accept-Encoding");

/// Responds with the query's data, or with errors, in the media type and coding that the client prefers.
pub(crate) async fn respond(context: &mut RequestContext, body: &mut Incoming) -> HttpResponse {
    let mut response = if negotiate::prefers_lines(&context.head.headers) {
        Box::pin(export::respond(context, body)).await
    } else {
        respond_with_data(context, body).await
    };
    let RequestContext { service, head, .. } = context;
    let headers = response.headers_mut();
    add_vary(headers, if service.http.options.codings.is_empty() { ACCEPT } else { ACCEPT_WITH_ENCODING });
    if head.method != Method::POST {
        // Data and credits change from one moment to the next, and belong to the caller alone.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

async fn respond_with_data(context: &mut RequestContext, body: &mut Incoming) -> HttpResponse {
    // A client that accepts neither media type gets its error in JSON, but only once it is authenticated.
    let headers = &context.head.headers;
    let media = negotiate::accepted(headers);
    let error_media = *media.as_ref().unwrap_or(&Media::Json);
    let coding = coding::accepted(headers, &context.service.http.options.codings);
    let choice = *coding.as_ref().unwrap_or(&Choice::Identity);
    let media = media.map_err(ApiError::from).and_then(|media| coding.map(|_| media).map_err(ApiError::from));
    let response = serve(context, body, media).await.unwrap_or_else(|error| {
        context.entry.fail(&error);
        error_response::graphql(&error, error_media)
    });
    let keeps_encoder = choice != Choice::Identity && keeps_encoder(response.body());
    let has_memory = !keeps_encoder || context.in_flight.reserve(ENCODER_MEMORY).is_ok();
    compress(response, if has_memory { choice } else { Choice::Identity }, &context.entry.id)
}

/// The gates: token, grant, view of the schema, body, compiler, concurrency and credits, database. A query that fails at one of them does
/// not reach the next. Only the last one takes a connection to the database.
async fn serve(
    context: &mut RequestContext,
    body: &mut Incoming,
    media: Result<Media, ApiError>,
) -> Result<HttpResponse, ApiError> {
    let caller = context.authorize(Artifact::Graphql)?;
    let view = context.service.views.of(&context.service.cpu_tasks, &caller).await?;
    let media = media?;
    let envelope = request_envelope::read(context, &caller, body).await?;
    let query = resolve(&context.service, &caller, &view, envelope)?;

    let headers = optional_headers::of(&context.head.headers);
    let wait = prefer::wait(&headers);
    let report = cost_report::requested(&headers)?;
    let mut request = QueryRequest { context, caller: Arc::clone(&caller), view, query };
    if let Some(report) = report {
        // Boxed, so that the futures of other requests stay small.
        return Box::pin(cost_report::respond(&mut request, report, media)).await;
    }
    let schedule = Schedule::new(&request.context.service, &caller, wait);
    let result = run(&mut request, &headers, &schedule).await;
    let QueryRequest { context, query, .. } = request;
    if result.as_ref().is_err_and(|error| error.code == ErrorCode::Throttled) {
        drop(query);
        admission::hold_back(context, &caller).await;
    } else if !matches!(result, Ok(ResponseBody::Stream(_))) {
        slow_query_log::report(context, &caller, &query.request);
    }
    let response = result.map(|body| {
        let mut response = HttpResponse::new(body);
        response.headers_mut().insert(header::CONTENT_TYPE, media.content_type());
        response
    });
    if wait.is_some() { prefer::report_wait(response) } else { response }
}

/// The stages from the compiler on. Each records its time in the timeline of the request.
async fn run(
    request: &mut QueryRequest<'_>,
    headers: &HeaderMap,
    schedule: &Schedule,
) -> Result<ResponseBody, ApiError> {
    let after = read_position::after(headers, &request.context.service.servers).await?;
    admission::check_known_price(request, schedule)?;
    let compiled = compilation::compile(request).await?;
    free_requests::pace_unpaid(request, &compiled).await?;
    let field_costs = cost_report::field_costs(request, headers).await?;
    // The values of variables are not needed any more, in particular not while the request waits.
    request.query.drop_variables(&mut request.context.in_flight);
    let includes_plan = cost_report::includes_plan(&request.caller, headers, &compiled)?;
    let prepared = PreparedQuery { compiled, grants: request.view.grants, field_costs, includes_plan, after };
    let wants_analysis = cost_report::wants_analysis(headers);
    if let Some(wait) = schedule.wait
        && !(wait.is_zero() || wants_analysis)
        && prepared.compiled.plan.marks_of_changes().is_some()
    {
        return Box::pin(parked_query::respond(request, prepared, wait)).await;
    }
    let admitted = prepared.admit(request, schedule).await?;
    let debit = admitted.paid.debit;
    let place = if wants_analysis { None } else { streamed_body::place(&request.context.service, &admitted) };
    // Boxed, so that the futures of other requests, and the values that are moved where a request begins, stay small.
    let body = match place {
        None if wants_analysis => Box::pin(analysis::respond(request, &admitted)).await,
        Some(place) => Box::pin(streamed_body::begin(request, admitted, place)).await,
        None => Box::pin(gathered_body::respond(request, admitted)).await,
    };
    request.settle(debit, Charge::of(&body)).await;
    body
}
