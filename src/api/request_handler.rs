//! Handles a request: checks its head, finds its endpoint, and completes the response.

use std::any::Any;
use std::convert::Infallible;
use std::future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts as Head;
use hyper::{Method, Response, StatusCode, Version};
use tokio::task::JoinSet;

use crate::api::access_log::AccessLogEntry;
#[cfg(feature = "traces")]
use crate::api::access_log::request_trace::RequestTrace;
use crate::api::error_response;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::endpoint_error::EndpointError;
use crate::api::errors::service_error::ServiceError;
use crate::api::operators::{health, metrics, settings};
use crate::api::request_context::{RequestContext, SentRequest};
use crate::api::route::{self, Route};
use crate::api::service::Service;
use crate::api::{console, graphql, jwks, schema, token, update_order};
use crate::http::connection::Phase;
use crate::http::connection::outgoing_body::OutgoingBody;
use crate::http::handler::{ArrivedRequest, Handler, HttpState};
use crate::http::listener_kind::ListenerKind;
use crate::http::request::{body, client_address, head};
use crate::http::request_error::RequestError;
use crate::http::response::{HttpResponse, ResponseBody, cors, empty_response};
use crate::telemetry::trace_context::TraceContext;

/// The header that says which trace a request belongs to.
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header that names a request in the log.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl Handler for Service {
    type Record = SentRequest;

    fn http(&self) -> &HttpState {
        &self.http
    }

    async fn respond(
        self: Arc<Self>,
        arrived: ArrivedRequest,
    ) -> Result<Response<OutgoingBody<SentRequest>>, Infallible> {
        let route = route::find(arrived.listener, arrived.request.uri().path(), self.options.console);
        Ok(if arrived.listener == ListenerKind::Admin && route.is_some_and(|route| !route.is_for_operators()) {
            Box::pin(self.handle_elsewhere(arrived, route)).await
        } else {
            self.handle(arrived, route).await
        })
    }

    fn reject(&self, error: RequestError) -> HttpResponse {
        let mut entry = AccessLogEntry::unreadable(self.request_ids.next());
        let mut response = respond_with_error(None, &error.into(), &mut entry);
        add_request_id(&mut response, &mut entry);
        response
    }
}

impl Service {
    /// Handles a request of the console on the operators' listener, whose thread is not for such work, and whose runtime is not to
    /// have connections to the database.
    async fn handle_elsewhere(
        self: Arc<Self>,
        arrived: ArrivedRequest,
        route: Option<Route>,
    ) -> Response<OutgoingBody<SentRequest>> {
        let mut tasks = JoinSet::new();
        tasks.spawn_on(Arc::clone(&self).handle(arrived, route), &self.runtime);
        match tasks.join_next().await {
            Some(Ok(response)) => response,
            // It does not panic, and the runtime lasts longer than the operators' thread.
            Some(Err(_)) | None => future::pending().await,
        }
    }

    async fn handle(
        self: Arc<Self>,
        arrived: ArrivedRequest,
        route: Option<Route>,
    ) -> Response<OutgoingBody<SentRequest>> {
        let ArrivedRequest { listener, peer, in_flight, request } = arrived;
        let (head, mut body) = request.into_parts();
        let mut entry = AccessLogEntry::new(self.request_ids.next(), &head.method, in_flight.begun.into_std());
        entry.listener = Some(listener);
        entry.peer = Some(client_address::of(peer, &head.headers, &self.http.options.trusted_proxies));
        trace(&head, &mut entry);
        let mut context = RequestContext { service: self, listener, head, in_flight, entry, permit: None };
        let responding = respond(&mut context, route, &mut body);
        // Pinned first, because adapters move what they are given.
        let result = AssertUnwindSafe(pin!(responding)).catch_unwind().await;
        // A panic becomes an internal error, so that the other requests of the connection go on.
        let response = match result {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => respond_with_error(route, &error, &mut context.entry),
            Err(panic) => {
                let error = ServiceError::internal(&context.entry.id, panic_message(&*panic)).into();
                respond_with_error(route, &error, &mut context.entry)
            }
        };
        if context.head.version == Version::HTTP_2 && !context.head.headers.contains_key(header::EXPECT) {
            body::discard(&mut body, &context.service.http.options).await;
        }
        context.in_flight.progress(Phase::Responding);
        complete(context, response)
    }
}

async fn respond(
    context: &mut RequestContext,
    route: Option<Route>,
    body: &mut Incoming,
) -> Result<HttpResponse, ApiError> {
    let RequestContext { service, head, in_flight, entry, .. } = &mut *context;
    in_flight.reserve(head::memory(head)).map_err(ServiceError::from)?;
    head::check(head)?;
    body::check_length(body, &service.http.options)?;
    let route = route.ok_or(EndpointError::NotFound)?;
    entry.route = Some(route);
    if head.method == Method::OPTIONS {
        return Ok(options(&service.http, route, head));
    }
    if !route.allows(&head.method) {
        return Err(EndpointError::MethodNotAllowed { allow: route.allow() }.into());
    }
    let RequestContext { service, listener, head, entry, .. } = &*context;
    match route {
        Route::Graphql if let Some(page) = console::files::page(context) => Ok(page),
        Route::Graphql => Ok(graphql::respond(context, body).await),
        // Boxed, so that the futures of other requests stay small.
        Route::UpdateOrder => Ok(Box::pin(update_order::respond(context, body)).await),
        Route::Token => Box::pin(token::respond(context)).await,
        Route::Sdl => schema::respond(context).await,
        Route::Console => console::files::respond(service, head.uri.path(), &head.headers).await,
        Route::Root => Ok(console::files::redirect("rest/s1/graphql")),
        Route::Jwks => Ok(jwks::respond(&service.tokens)),
        Route::Live => Ok(health::live()),
        Route::Ready => Ok(health::ready(service, *listener)),
        Route::Metrics => Ok(metrics::respond(service, &head.headers, &entry.id)?),
        Route::Settings => Ok(settings::respond(&service.settings, head)?),
    }
}

/// The response to `OPTIONS`, which every endpoint has.
fn options(http: &HttpState, route: Route, head: &Head) -> HttpResponse {
    let mut response = empty_response(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, HeaderValue::from_static(route.allow()));
    cors::add_preflight_headers(&http.options.cors, route.allow(), &head.headers, headers);
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
fn complete(context: RequestContext, mut response: HttpResponse) -> Response<OutgoingBody<SentRequest>> {
    let RequestContext { service, head, mut in_flight, mut entry, permit, .. } = context;
    let headers = response.headers_mut();
    cors::add_headers(&service.http.options.cors, &head.headers, headers);
    if head.version == Version::HTTP_2 {
        // HTTP/2 forbids the header; hyper ends the stream instead.
        headers.remove(header::CONNECTION);
    }
    add_request_id(&mut response, &mut entry);
    if let ResponseBody::Whole(bytes) = response.body() {
        in_flight.shrink(bytes.len());
    }
    response.map(|body| OutgoingBody::new(body, in_flight, SentRequest { entry, _permit: permit }))
}

fn add_request_id(response: &mut HttpResponse, entry: &mut AccessLogEntry) {
    if let Ok(id) = HeaderValue::from_str(&entry.id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    entry.status = Some(response.status().as_u16());
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
