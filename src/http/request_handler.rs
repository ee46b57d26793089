//! Handles a request: checks its head, finds its endpoint, completes the response and logs the request.

use std::any::Any;
use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts as Head;
use hyper::{Method, Request, Response, StatusCode, Version};

use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::connection::{InFlightRequest, Phase};
use crate::http::endpoint::{console, graphql, health, jwks, metrics, sdl, settings, token, update_order};
use crate::http::options::Options;
use crate::http::outgoing_body::OutgoingBody;
use crate::http::request_error::RequestError;
#[cfg(feature = "traces")]
use crate::http::request_trace::RequestTrace;
use crate::http::response::{HttpResponse, ResponseBody, empty_response};
use crate::http::route::{Endpoints, Route};
use crate::http::service::Service;
use crate::http::service_error::ServiceError;
use crate::http::{body, cors, error_response, origin, request_head};
use crate::telemetry::trace_context::TraceContext;

/// The header that says which trace a request belongs to.
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header that names a request in the log.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Responds to a request. Never fails: errors are responses too.
pub(crate) async fn handle(
    service: Arc<Service>,
    endpoints: Endpoints,
    peer: IpAddr,
    mut in_flight: InFlightRequest,
    request: Request<Incoming>,
) -> Result<Response<OutgoingBody>, Infallible> {
    let (head, body) = request.into_parts();
    let mut entry = AccessLogEntry::new(service.request_ids.next(), &head.method);
    entry.listener = Some(endpoints);
    entry.peer = Some(origin::client_address(peer, &head.headers, &service.options.trusted_proxies));
    trace(&head, &mut entry);
    let route = endpoints.route(head.uri.path(), service.options.console);
    let responding = respond(&service, endpoints, route, &head, body, &mut in_flight, &mut entry);
    // Pinned first, because adapters move what they are given.
    let result = AssertUnwindSafe(pin!(responding)).catch_unwind().await;
    // A panic becomes an internal error, so that the other requests of the connection go on.
    let response = match result {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => respond_with_error(route, &error, &mut entry),
        Err(panic) => {
            let error = ServiceError::internal(&entry.id, panic_message(&*panic)).into();
            respond_with_error(route, &error, &mut entry)
        }
    };
    in_flight.progress(Phase::Responding);
    Ok(complete(&service.options, &head, response, in_flight, entry))
}

async fn respond(
    service: &Arc<Service>,
    endpoints: Endpoints,
    route: Option<Route>,
    head: &Head,
    body: Incoming,
    in_flight: &mut InFlightRequest,
    entry: &mut AccessLogEntry,
) -> Result<HttpResponse, ApiError> {
    in_flight.reserve(request_head::memory(head)).map_err(ServiceError::from)?;
    request_head::check(head, in_flight.ambiguous)?;
    body::check_length(&body, &service.options)?;
    let route = route.ok_or(RequestError::NotFound)?;
    entry.route = Some(route);
    if head.method == Method::OPTIONS {
        return Ok(options(&service.options, route, head));
    }
    if !route.allows(&head.method) {
        return Err(RequestError::MethodNotAllowed { allow: route.allow() }.into());
    }
    match route {
        Route::Graphql if let Some(page) = console::page(service, endpoints, head) => Ok(page),
        Route::Graphql => Ok(graphql::respond(service, head, body, in_flight, entry).await),
        // Boxed, so that the futures of other requests stay small.
        Route::UpdateOrder => Ok(Box::pin(update_order::respond(service, head, body, in_flight, entry)).await),
        Route::Token => token::respond(service, head, entry).await,
        Route::Sdl => Ok(sdl::respond(&service.sdl, &head.headers, &service.options.codings)?),
        Route::Console => console::respond(service, head.uri.path(), &head.headers).await,
        Route::Jwks => Ok(jwks::respond(&service.tokens)),
        Route::Live => Ok(health::live()),
        Route::Ready => Ok(health::ready(service, endpoints)),
        Route::Metrics => Ok(metrics::respond(service, entry)?),
        Route::Settings => Ok(settings::respond(&service.settings)),
    }
}

/// The response to `OPTIONS`, which every endpoint has.
fn options(options: &Options, route: Route, head: &Head) -> HttpResponse {
    let mut response = empty_response(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, HeaderValue::from_static(route.allow()));
    cors::add_preflight_headers(&options.cors, route.allow(), &head.headers, headers);
    response
}

/// The response to an error outside the GraphQL endpoint.
fn respond_with_error(route: Option<Route>, error: &ApiError, entry: &mut AccessLogEntry) -> HttpResponse {
    entry.fail(error);
    match route {
        Some(Route::UpdateOrder) => error_response::order_update(error),
        _ => error_response::plain(error),
    }
}

/// Adds the headers that every response has.
fn complete(
    options: &Options,
    head: &Head,
    mut response: HttpResponse,
    mut in_flight: InFlightRequest,
    mut entry: AccessLogEntry,
) -> Response<OutgoingBody> {
    let headers = response.headers_mut();
    cors::add_headers(&options.cors, &head.headers, headers);
    if head.version == Version::HTTP_2 {
        // HTTP/2 forbids the header; hyper ends the stream instead.
        headers.remove(header::CONNECTION);
    }
    if let Ok(id) = HeaderValue::from_str(&entry.id) {
        headers.insert(REQUEST_ID, id);
    }
    entry.status = Some(response.status().as_u16());
    if let ResponseBody::Whole(bytes) = response.body() {
        in_flight.shrink(bytes.len());
    }
    response.map(|body| OutgoingBody::new(body, in_flight, entry))
}

/// Finds the trace that a request belongs to: its client's, or a new one if traces are recorded.
fn trace(head: &Head, entry: &mut AccessLogEntry) {
    let client = head.headers.get(TRACE_PARENT).and_then(|header| TraceContext::parse(header.to_str().ok()?));
    entry.trace_id = client.map(|client| client.trace_id);
    #[cfg(feature = "traces")]
    if let Some(trace) = RequestTrace::begin(client) {
        entry.trace_id = Some(trace.id());
        entry.trace = Some(trace);
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a message"))
}
