//! HTTP as the peers written in Rust speak it: hyper with nothing around it.
//!
//! A peer listens on `127.0.0.1:$PORT` (any port for 0 or none), prints `listening on 127.0.0.1:PORT` when it does, answers
//! every POST, and ends on SIGTERM or SIGINT.

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

/// As orderql has it.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What makes a body out of a body.
pub trait Answer: Clone + Send + 'static {
    /// The JSON that answers a request's body.
    fn answer(&self, body: Bytes) -> impl Future<Output = Bytes> + Send;
}

/// Serves until a signal ends it, on as many threads as the machine has cores.
pub fn serve<A, E>(start: impl Future<Output = Result<A, E>>) -> Result<(), E>
where
    A: Answer,
    E: From<io::Error>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let answer = start.await?;
        let port = env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(0);
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        println!("listening on {}", listener.local_addr()?);
        tokio::select! {
            accepted = accept(listener, answer) => Ok(accepted?),
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    });
    runtime.shutdown_background();
    served
}

async fn accept<A: Answer>(listener: TcpListener, answer: A) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(converse(stream, answer.clone()));
    }
}

async fn converse<A: Answer>(stream: TcpStream, answer: A) {
    let service = service_fn(move |request| respond(request, answer.clone()));
    // A connection that breaks is the client's affair.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond<A: Answer>(request: Request<Incoming>, answer: A) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() != Method::POST {
        return Ok(status(StatusCode::METHOD_NOT_ALLOWED));
    }
    let Ok(body) = request.into_body().collect().await else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let mut response = Response::new(Full::new(answer.answer(body.to_bytes()).await));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
