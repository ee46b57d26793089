//! Sends traces to a collector in the background: a bounded queue, and a task that empties it. No request waits for it; if the
//! collector is away or slow, traces are dropped and counted.

use std::env;
use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time;

use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::trace_context::TraceContext;
use crate::telemetry::traces::otlp_json;
use crate::telemetry::traces::sampler::Sampler;
use crate::telemetry::traces::settings::Settings;
use crate::telemetry::traces::span::Trace;

/// The most traces that wait.
const MAX_QUEUED: usize = 2048;

/// The most traces of one request to the collector.
const MAX_BATCH: usize = 256;

/// How often a request is sent that fails for a reason which may pass.
const ATTEMPTS: u32 = 3;

/// The pause before the second attempt. Every further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// Takes the traces of requests.
struct Recorder {
    sampler: Sampler,
    queue: mpsc::Sender<Item>,
}

enum Item {
    Trace(Trace),
    Finish(oneshot::Sender<()>),
}

/// Why the collector did not take traces.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("the collector cannot be reached")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    #[error("the collector answered with {0}")]
    Rejected(StatusCode),
    #[error("the collector did not answer in time")]
    TooSlow(#[from] time::error::Elapsed),
}

/// Starts to record and send traces, if the environment names a collector. Once for a process. Variables that cannot be used are
/// logged: a server serves without its traces.
pub(crate) fn start() {
    let settings = match Settings::read(|name| env::var(name).ok()) {
        Ok(Some(settings)) => settings,
        Ok(None) => return,
        Err(error) => return emit(&Event::TracesOff { error: &error }),
    };
    let (queue, items) = mpsc::channel(MAX_QUEUED);
    let sampler = settings.sampler;
    if RECORDER.set(Recorder { sampler, queue }).is_ok() {
        tokio::spawn(export(settings, items));
    }
}

/// The trace of a request: its client's, or a new one if traces are recorded.
pub(crate) fn begin(client: Option<TraceContext>) -> Option<TraceContext> {
    RECORDER.get().map_or(client, |recorder| Some(recorder.sampler.begin(client)))
}

/// Whether the request is recorded.
pub(crate) fn is_recorded(trace: TraceContext) -> bool {
    trace.is_sampled && RECORDER.get().is_some()
}

/// Queues the spans of a request. Does not wait.
pub(crate) fn record(trace: Trace) {
    if let Some(recorder) = RECORDER.get()
        && recorder.queue.try_send(Item::Trace(trace)).is_err()
    {
        emit(&Event::TracesDropped { count: 1, error: None });
    }
}

/// Waits until the traces that were recorded before are sent, for `timeout` at most.
pub(crate) async fn finish(timeout: Duration) {
    let Some(recorder) = RECORDER.get() else { return };
    let (done, finished) = oneshot::channel();
    let finishing = async {
        if recorder.queue.send(Item::Finish(done)).await.is_ok() {
            let _ = finished.await;
        }
    };
    let _ = time::timeout(timeout, finishing).await;
}

async fn export(settings: Settings, mut items: mpsc::Receiver<Item>) {
    let mut batch = Vec::new();
    while items.recv_many(&mut batch, MAX_BATCH).await > 0 {
        let is_finishing = |batch: &[Item]| batch.iter().any(|item| matches!(item, Item::Finish(_)));
        if batch.len() < MAX_BATCH && !is_finishing(&batch) {
            let fill = async {
                while batch.len() < MAX_BATCH && !is_finishing(&batch) {
                    if items.recv_many(&mut batch, MAX_BATCH).await == 0 {
                        return;
                    }
                }
            };
            let _ = time::timeout(settings.delay, fill).await;
        }
        let (mut traces, mut finished) = (Vec::new(), Vec::new());
        for item in batch.drain(..) {
            match item {
                Item::Trace(trace) => traces.push(trace),
                Item::Finish(done) => finished.push(done),
            }
        }
        if !traces.is_empty()
            && let Err(error) = send(&settings, &traces).await
        {
            emit(&Event::TracesDropped { count: traces.len() as u64, error: Some(&error) });
        }
        for done in finished {
            // The caller may no longer wait.
            let _ = done.send(());
        }
    }
}

/// Sends traces, several times if the collector may take them later.
async fn send(settings: &Settings, traces: &[Trace]) -> Result<(), ExportError> {
    let body = Bytes::from(otlp_json::request(&settings.resource, traces).to_string());
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match attempt(settings, body.clone()).await {
            Err(ExportError::Rejected(status)) if !is_temporary(status) => return Err(ExportError::Rejected(status)),
            Err(_) => time::sleep(pause).await,
            Ok(()) => return Ok(()),
        }
        pause *= 2;
    }
    attempt(settings, body).await
}

/// The statuses after which OTLP has clients try again.
fn is_temporary(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

async fn attempt(settings: &Settings, body: Bytes) -> Result<(), ExportError> {
    let status = time::timeout(settings.timeout, post(settings, body)).await?.map_err(ExportError::Unreachable)?;
    if status.is_success() { Ok(()) } else { Err(ExportError::Rejected(status)) }
}

async fn post(settings: &Settings, body: Bytes) -> Result<StatusCode, Box<dyn Error + Send + Sync>> {
    let endpoint = &settings.endpoint;
    let (host, port) = (endpoint.host().unwrap_or_default(), endpoint.port_u16().unwrap_or(80));
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Ends when the response is read and the sender dropped.
    tokio::spawn(connection);
    let path = endpoint.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = path.parse()?;
    *request.headers_mut() = settings.headers.clone();
    let host = endpoint.authority().map_or(host, |authority| authority.as_str());
    request.headers_mut().insert(header::HOST, HeaderValue::try_from(host)?);
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let response = sender.send_request(request).await?;
    let status = response.status();
    response.into_body().collect().await?;
    Ok(status)
}
