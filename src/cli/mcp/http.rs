//! The protocol over HTTP, without sessions: every request is answered by itself, as its own caller. Encryption is left to a proxy.
//!
//! Connections have the same bounds as the server's, with other numbers. One thread serves them; what tools do has others, and
//! ends when its client goes.

use std::convert::Infallible;
use std::fmt;
use std::future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::access::grants::Artifact;
use crate::api::error_response;
use crate::api::errors::access_error::AccessError;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::endpoint_error::EndpointError;
use crate::api::errors::service_error::ServiceError;
use crate::cli::mcp::batch::{self, BatchMessage, MAX_RESPONSE_BYTES, Sent, UNNAMED_REVISION};
use crate::cli::mcp::protocol_server::ProtocolServer;
use crate::cli::outcome::Outcome;
use crate::http::address_range::AddressRange;
use crate::http::coding::Codings;
use crate::http::connection::outgoing_body::{DeliveryRecord, OutgoingBody};
use crate::http::connection::{InFlightRequest, Phase};
use crate::http::handler::{ArrivedRequest, Current, Handler, HttpState};
use crate::http::listener::Listener;
use crate::http::listener_kind::ListenerKind;
use crate::http::memory_budget::MemoryBudget;
use crate::http::options::HttpOptions;
use crate::http::request::{body, head};
use crate::http::request_error::RequestError;
use crate::http::response::cors::{self, Origins};
use crate::http::response::{HttpResponse, ResponseBody, empty_response};
use crate::http::socket::address::ListenAddress;
use crate::http::socket::inherited::InheritedSockets;
use crate::http::socket::listening::BoundSocket;

const PATH: &str = "/mcp";

/// The header with the revision of the protocol that was agreed on.
const REVISION: &str = "mcp-protocol-version";

/// Connections at a time, of all clients and of one address.
const CONNECTIONS: usize = 256;
const CONNECTIONS_PER_ADDRESS: usize = 64;

/// The bytes of a request's body, and the bytes of all requests and unread responses together.
const BODY_LIMIT: usize = 1 << 20;
const MEMORY: usize = 64 << 20;

/// How long a client may take for a head, a body, reading a response, and until its next request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// Names of the machine itself, under which it may always be called.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

type McpService = StreamableHttpService<Arc<ProtocolServer>, NeverSessionManager>;

/// Who may call.
pub(super) struct Access {
    /// Origins of web pages.
    pub(super) origins: Vec<String>,
    /// Names of this server.
    pub(super) hosts: Vec<String>,
    /// Proxies, which have as many connections as there are.
    pub(super) proxies: Vec<AddressRange>,
}

/// Serves until the program is ended. Tools run on the threads of `tools`.
pub(super) async fn serve(
    address: SocketAddr,
    protocol_server: ProtocolServer,
    access: Access,
    tools: Handle,
) -> Outcome {
    let options = options(ListenAddress::Tcp(address), access.proxies);
    let kind = ListenerKind::Public;
    let socket = BoundSocket::bind(&options.listen, kind, options.listen_mode, &mut InheritedSockets::take()).await?;
    eprintln!("orderql mcp: listening on http://{}{PATH}", socket.address());
    let protocol_server = Arc::new(protocol_server);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_LIMIT)
        .with_allowed_hosts(access.hosts.into_iter().chain(LOCAL_HOSTS.map(str::to_owned)))
        .with_allowed_origins(access.origins)
        .enforce_origin_validation();
    let answering = Arc::clone(&protocol_server);
    let service = McpService::new(move || Ok(Arc::clone(&answering)), Arc::default(), config);
    let http = HttpState {
        memory: MemoryBudget::new(options.memory_budget, options.body_limit),
        options,
        tls: None,
        is_draining: Arc::default(),
    };
    let handler = ProtocolHandler { http, service, protocol_server, tools };
    Listener::new(socket, kind).serve(Current::new(handler), future::pending())?.await;
    Ok(())
}

fn options(listen: ListenAddress, trusted_proxies: Vec<AddressRange>) -> HttpOptions {
    HttpOptions {
        listen,
        admin_listen: None,
        listen_mode: 0o600,
        tls: None,
        body_limit: BODY_LIMIT,
        memory_budget: MEMORY,
        header_timeout: HEADER_TIMEOUT,
        body_timeout: BODY_TIMEOUT,
        write_timeout: WRITE_TIMEOUT,
        idle_timeout: IDLE_TIMEOUT,
        connection_limit: CONNECTIONS,
        connections_per_address: CONNECTIONS_PER_ADDRESS,
        grace: Duration::ZERO,
        drain: None,
        trusted_proxies,
        codings: Codings::default(),
        cors: cors::CorsOptions { origins: Origins::None, max_age: Duration::ZERO },
    }
}

/// Responds to requests of the protocol.
struct ProtocolHandler {
    http: HttpState,
    service: McpService,
    protocol_server: Arc<ProtocolServer>,
    /// Runs the tools, off the thread that serves.
    tools: Handle,
}

impl fmt::Debug for ProtocolHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProtocolHandler").field("http", &self.http).finish_non_exhaustive()
    }
}

/// The requests are logged by the server that is asked.
#[derive(Debug)]
struct Unrecorded;

impl DeliveryRecord for Unrecorded {
    fn end(&mut self, _: u64, _: u64, _: bool) {}
}

impl Handler for ProtocolHandler {
    type Record = Unrecorded;

    fn http(&self) -> &HttpState {
        &self.http
    }

    async fn respond(
        self: Arc<Self>,
        ArrivedRequest { mut in_flight, request, .. }: ArrivedRequest,
    ) -> Result<Response<OutgoingBody<Unrecorded>>, Infallible> {
        let response = self.answer(&mut in_flight, request).await;
        let response = response.unwrap_or_else(|error| error_response::plain(&error));
        in_flight.progress(Phase::Responding);
        Ok(response.map(|body| OutgoingBody::new(body, in_flight, Unrecorded)))
    }

    fn reject(&self, error: RequestError) -> HttpResponse {
        error_response::plain(&error.into())
    }
}

impl ProtocolHandler {
    async fn answer(
        self: &Arc<Self>,
        in_flight: &mut InFlightRequest,
        request: Request<Incoming>,
    ) -> Result<HttpResponse, ApiError> {
        let options = &self.http.options;
        let (head, mut body) = request.into_parts();
        in_flight.reserve(head::memory(&head)).map_err(ServiceError::from)?;
        head::check(&head)?;
        body::check_length(&body, options)?;
        if head.uri.path() != PATH {
            return Err(EndpointError::NotFound.into());
        }
        let Some(token) = head.headers.get(AUTHORIZATION).cloned() else { return Ok(unauthorized()) };
        // The rest of a request is not read if the server rejects its token.
        let handler = Arc::clone(self);
        let rejected = self.elsewhere(async move { handler.protocol_server.rejection(&token).await }).await?;
        match rejected.map_err(ServiceError::Unavailable)? {
            Some(StatusCode::UNAUTHORIZED) => return Ok(unauthorized()),
            Some(_) => return Err(AccessError::NotGranted { path: Artifact::Graphql.path() }.into()),
            None => {}
        }
        let body = body::read(head.version, &mut body, in_flight, options).await?;
        let handler = Arc::clone(self);
        let response = self.elsewhere(async move { handler.respond_to(head, body).await }).await?;
        in_flight.reserve(response.body().len()).map_err(ServiceError::from)?;
        Ok(response.map(ResponseBody::Whole))
    }

    /// The response to a message, or to each of a batch, one after the other.
    async fn respond_to(&self, mut head: Parts, body: Bytes) -> Response<Bytes> {
        let revision = match head.headers.get(REVISION) {
            Some(revision) => revision.to_str().unwrap_or_default(),
            None => UNNAMED_REVISION,
        };
        let batch = match Sent::read(&body, Some(revision)) {
            Sent::Batch(batch) if head.method == Method::POST => batch,
            Sent::Rejected(rejection) if head.method == Method::POST => {
                return json_response(StatusCode::BAD_REQUEST, &rejection);
            }
            _ => return self.respond_to_message(head, body).await,
        };
        head.headers.remove(CONTENT_LENGTH);
        let (mut responses, mut size) = (Vec::new(), 0);
        for message in batch {
            match message {
                BatchMessage::Request(id, _) if size > MAX_RESPONSE_BYTES => responses.push(batch::too_late(&id)),
                BatchMessage::Request(id, text) => {
                    let response = self.respond_to_message(head.clone(), bytes(&text)).await;
                    size += response.body().len();
                    responses.push(serde_json::from_slice(response.body()).unwrap_or_else(|_| batch::failed(&id)));
                }
                BatchMessage::Notification(text) => {
                    self.respond_to_message(head.clone(), bytes(&text)).await;
                }
                BatchMessage::Rejected(response) => responses.push(response),
            }
        }
        if responses.is_empty() {
            let mut accepted = Response::new(Bytes::new());
            *accepted.status_mut() = StatusCode::ACCEPTED;
            return accepted;
        }
        json_response(StatusCode::OK, &Value::Array(responses))
    }

    async fn respond_to_message(&self, head: Parts, message: Bytes) -> Response<Bytes> {
        let response = self.service.handle(Request::from_parts(head, Full::new(message))).await;
        let (head, body) = response.into_parts();
        Response::from_parts(head, whole(body).await)
    }

    /// Runs work on the threads of the tools, until the request is given up.
    async fn elsewhere<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let mut tasks = JoinSet::new();
        tasks.spawn_on(work, &self.tools);
        match tasks.join_next().await {
            Some(Ok(done)) => Ok(done),
            Some(Err(panic)) => Err(ServiceError::Unavailable(panic.into())),
            // There is one.
            None => future::pending().await,
        }
    }
}

/// A body of the protocol. Tools report no progress, so that each is one JSON text.
async fn whole(body: BoxBody<Bytes, Infallible>) -> Bytes {
    if body.is_end_stream() {
        return Bytes::new();
    }
    body.collect().await.map_or_else(|never| match never {}, Collected::to_bytes)
}

fn bytes(message: &RawValue) -> Bytes {
    Bytes::copy_from_slice(message.get().as_bytes())
}

fn json_response(status: StatusCode, body: &Value) -> Response<Bytes> {
    let mut response = Response::new(body.to_string().into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn unauthorized() -> HttpResponse {
    let mut response = empty_response(StatusCode::UNAUTHORIZED);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}
