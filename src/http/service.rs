//! What every request goes through: its head is checked, its endpoint found, its answer completed and its line logged.

use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::hash::BuildHasher;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Version};

use crate::access::grant_cache::GrantCache;
use crate::access::grants::Principal;
use crate::access::jwt::Tokens;
use crate::access::login::Logins;
use crate::compile::compiler::Compiler;
use crate::database::pool::Pool;
use crate::database::writer_pool::WriterPool;
use crate::http::access_error::AccessError;
use crate::http::access_log::AccessLogEntry;
use crate::http::api_error::ApiError;
use crate::http::connection::InFlightRequest;
use crate::http::credentials::token as bearer;
use crate::http::endpoint::{graphql, health, jwks, sdl, token, update_order};
use crate::http::head_limits::MAX_TARGET_BYTES;
use crate::http::options::Options;
use crate::http::request_error::RequestError;
use crate::http::response::{Answer, BoxError, Content, empty};
use crate::http::route::Route;
use crate::http::service_error::ServiceError;
use crate::http::{body, cors, error_response, persisted};
use crate::throttle::buckets::Buckets;
use crate::throttle::running::RunningQueries;

/// What the endpoints work with.
#[derive(Debug)]
pub struct Service {
    /// Accounts, grants and profiles.
    pub grants: GrantCache,
    /// Names and passwords.
    pub logins: Logins,
    /// Tokens.
    pub tokens: Tokens,
    /// The pure half.
    pub compiler: Compiler,
    /// Credits.
    pub buckets: Buckets,
    /// Queries that run.
    pub running: RunningQueries,
    /// The database, for queries.
    pub pool: Pool,
    /// The database, for updates.
    pub writer: WriterPool,
    /// Query texts by their hashes.
    pub persisted: persisted::Store,
    /// The published schema.
    pub sdl: sdl::Document,
    /// The server's settings.
    pub options: Options,
    /// Numbers the requests.
    pub ids: RequestIds,
}

/// Makes ids that do not repeat within a process and hardly among processes.
#[derive(Debug, Default)]
pub struct RequestIds {
    /// Random keys, made when the process starts.
    keys: RandomState,
    next: AtomicU64,
}

/// An answer on its way to the client. When it is dropped, the request is over and logged.
#[derive(Debug)]
pub struct Outgoing {
    content: Content,
    in_flight: InFlightRequest,
    /// Written to the log when it is dropped.
    _record: AccessLogEntry,
}

impl Service {
    /// Who is calling: the account of a good token, as it is now.
    pub fn caller(&self, headers: &HeaderMap) -> Result<Arc<Principal>, AccessError> {
        let user_id = self.tokens.verify(bearer(headers)?)?;
        self.grants.current().principal(&user_id).ok_or(AccessError::AccountClosed)
    }
}

/// Answers a request. Never fails: what goes wrong is an answer too.
pub async fn handle(
    service: Arc<Service>,
    mut in_flight: InFlightRequest,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Infallible> {
    let (head, body) = request.into_parts();
    let mut record = AccessLogEntry::new(service.ids.next(), &head.method);
    let answering = answer(&service, &head, body, in_flight.ambiguous, &mut record);
    // A panic is a fault like others: the client is told, and the connection's other requests go on.
    let answer = match AssertUnwindSafe(answering).catch_unwind().await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => respond_with_error(&head, &error, &mut record),
        Err(panic) => {
            let error = ServiceError::internal(&record, panic_message(&*panic)).into();
            respond_with_error(&head, &error, &mut record)
        }
    };
    in_flight.respond();
    Ok(complete(&service.options, &head, answer, in_flight, record))
}

async fn answer(
    service: &Service,
    head: &Parts,
    body: Incoming,
    ambiguous: bool,
    record: &mut AccessLogEntry,
) -> Result<Answer, ApiError> {
    check_head(head, ambiguous)?;
    body::check_length(&body, &service.options)?;
    let route = Route::of(head.uri.path()).ok_or(RequestError::NotFound)?;
    record.route = route.name();
    if head.method == Method::OPTIONS {
        let mut answer = empty(StatusCode::NO_CONTENT);
        answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(route.allow()));
        cors::answer_preflight(&service.options.cors, route.allow(), &head.headers, answer.headers_mut());
        return Ok(answer);
    }
    if !route.takes(&head.method) {
        return Err(RequestError::MethodNotAllowed { allow: route.allow() }.into());
    }
    match route {
        Route::Graphql => Ok(graphql::answer(service, head, body, record).await),
        Route::UpdateOrder => Ok(update_order::answer(service, head, body, record).await),
        Route::Token => token::answer(service, head, record).await,
        Route::Sdl => Ok(sdl::answer(&service.sdl, &head.headers, &service.options.codings)?),
        Route::Jwks => Ok(jwks::answer(&service.tokens)),
        Route::Live => Ok(health::live()),
        Route::Ready => Ok(health::ready(&service.grants)),
    }
}

/// What hyper leaves to its user (RFC 9112, sections 3.2 and 6).
fn check_head(head: &Parts, ambiguous: bool) -> Result<(), RequestError> {
    if head.uri.path().len() + head.uri.query().map_or(0, str::len) > MAX_TARGET_BYTES {
        return Err(RequestError::TargetTooLong { limit: MAX_TARGET_BYTES });
    }
    if ambiguous {
        return Err(RequestError::AmbiguousLength);
    }
    check_host(&head.headers, head.version)?;
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).into_iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(RequestError::TransferEncoding),
    }
}

fn check_host(headers: &HeaderMap, version: Version) -> Result<(), RequestError> {
    let mut hosts = headers.get_all(header::HOST).into_iter();
    let (host, second) = (hosts.next(), hosts.next());
    // HTTP/2 has its authority in the target, and HTTP/1.0 knew none.
    if second.is_some() || (host.is_none() && version == Version::HTTP_11) {
        return Err(RequestError::Host);
    }
    match host {
        Some(host) if !host.is_empty() && Authority::try_from(host.as_bytes()).is_err() => Err(RequestError::Host),
        _ => Ok(()),
    }
}

fn respond_with_error(head: &Parts, error: &ApiError, record: &mut AccessLogEntry) -> Answer {
    record.code = Some(error.code);
    match Route::of(head.uri.path()) {
        Some(Route::UpdateOrder) => error_response::order_update(error),
        Some(Route::Token | Route::Graphql | Route::Sdl | Route::Jwks | Route::Live | Route::Ready) | None => {
            error_response::plain(error)
        }
    }
}

/// What every answer has.
fn complete(
    options: &Options,
    head: &Parts,
    mut answer: Answer,
    in_flight: InFlightRequest,
    mut record: AccessLogEntry,
) -> Response<Outgoing> {
    cors::mark(&options.cors, &head.headers, answer.headers_mut());
    if head.version == Version::HTTP_2 {
        // A header of HTTP/1.1; there, hyper ends the stream instead.
        answer.headers_mut().remove(header::CONNECTION);
    }
    if let Ok(id) = HeaderValue::from_str(&record.id) {
        answer.headers_mut().insert("x-request-id", id);
    }
    record.status = Some(answer.status().as_u16());
    answer.map(|content| Outgoing { content, in_flight, _record: record })
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a message"))
}

impl RequestIds {
    /// The next id: 16 hexadecimal digits.
    pub fn next(&self) -> Arc<str> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}", self.keys.hash_one(number)).into()
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.in_flight.part_taken();
        let part = match &mut self.content {
            Content::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                (!bytes.is_empty()).then_some(Ok(bytes))
            }
            Content::Parts(parts) => parts.next(),
        };
        Poll::Ready(part.map(|part| part.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Parts(_) => SizeHint::default(),
        }
    }
}
