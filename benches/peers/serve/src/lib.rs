//! The HTTP server of the peers written in Rust: hyper alone.
//!
//! A peer listens on `127.0.0.1:$PORT` (any port for 0 or none), prints `listening on 127.0.0.1:PORT`, responds to every POST,
//! and ends on SIGTERM or SIGINT.

use std::convert::Infallible;
use std::env;
use std::io;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mimalloc::MiMalloc;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};

/// orderql's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Makes responses.
pub trait Respond: Clone + Send + 'static {
    /// The JSON that responds to a request's body.
    fn respond(&self, body: Bytes) -> impl Future<Output = Bytes> + Send;
}

/// Serves until a signal ends it, on as many threads as the machine has cores.
pub fn serve<R, E>(start: impl Future<Output = Result<R, E>>) -> Result<(), E>
where
    R: Respond,
    E: From<io::Error>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let responder = start.await?;
        let port = env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(0);
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        println!("listening on {}", listener.local_addr()?);
        tokio::select! {
            accepted = accept(listener, responder) => Ok(accepted?),
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    });
    runtime.shutdown_background();
    served
}

async fn accept(listener: TcpListener, responder: impl Respond) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve_connection(stream, responder.clone()));
    }
}

async fn serve_connection(stream: TcpStream, responder: impl Respond) {
    let service = service_fn(move |request| respond(request, responder.clone()));
    // A broken connection concerns the client alone.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: Request<Incoming>, responder: impl Respond) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() != Method::POST {
        return Ok(status(StatusCode::METHOD_NOT_ALLOWED));
    }
    let Ok(body) = request.into_body().collect().await else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let mut response = Response::new(Full::new(responder.respond(body.to_bytes()).await));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
