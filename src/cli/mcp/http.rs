//! The protocol over HTTP, without sessions: every request is answered by itself, as its own caller. Encryption is left to a proxy.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time;

use crate::cli::mcp::protocol_server::ProtocolServer;
use crate::cli::outcome::Outcome;

const PATH: &str = "/mcp";

/// As many connections are served at a time; others wait.
const MAX_CONNECTIONS: usize = 256;

/// The bytes of a request's body.
const MAX_BODY: usize = 1 << 20;

/// How long a client may take for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// The time after which a connection is accepted again when one could not be.
const RETRY: Duration = Duration::from_millis(100);

/// Names of the machine itself, under which it may always be called.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

type Service = StreamableHttpService<Arc<ProtocolServer>, NeverSessionManager>;

/// Serves until the program is ended.
pub(super) async fn serve(
    address: SocketAddr,
    protocol_server: ProtocolServer,
    origins: Vec<String>,
    hosts: Vec<String>,
) -> Outcome {
    let protocol_server = Arc::new(protocol_server);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .with_allowed_hosts(hosts.into_iter().chain(LOCAL_HOSTS.map(str::to_owned)))
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let service = Service::new(move || Ok(Arc::clone(&protocol_server)), Arc::default(), config);
    let listener = TcpListener::bind(address).await?;
    eprintln!("orderql mcp: listening on http://{}{PATH}", listener.local_addr()?);
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = Arc::clone(&connections).acquire_owned().await?;
        let Ok((stream, _)) = listener.accept().await else {
            // A connection that broke concerns its client alone, but without files for another one it fails again at once.
            time::sleep(RETRY).await;
            continue;
        };
        let service = service.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request| respond(&service, request));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
            drop(place);
        });
    }
}

async fn respond(
    service: &Service,
    request: Request<Incoming>,
) -> Result<Response<BoxBody<Bytes, Infallible>>, Infallible> {
    if request.uri().path() != PATH {
        return Ok(empty(StatusCode::NOT_FOUND));
    }
    if !request.headers().contains_key(AUTHORIZATION) {
        let mut response = empty(StatusCode::UNAUTHORIZED);
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Ok(response);
    }
    Ok(service.handle(request).await)
}

fn empty(status: StatusCode) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::new()).boxed());
    *response.status_mut() = status;
    response
}
