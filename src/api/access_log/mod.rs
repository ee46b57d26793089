//! A request's entry in the access log and in the metrics, filled in while the request is served. A query's `timeline`
//! has its stages, and `request_trace` makes its spans.

#[cfg(feature = "traces")]
pub(crate) mod request_trace;
pub(crate) mod timeline;

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hyper::Method;

use crate::access::tokens::error::TokenFault;
#[cfg(feature = "traces")]
use crate::api::access_log::request_trace::RequestTrace;
use crate::api::access_log::timeline::{Stage, Timeline};
use crate::api::errors::api_error::ApiError;
use crate::api::metrics::request_labels::{RequestMethod, ResponseStatus};
use crate::api::metrics::{
    ACTIVE, ADMIN_REQUESTS, COST_ACTUAL, COST_ESTIMATED, ERRORS, EXPORTS, QUERIES, QUERY_WAITS, REQUESTS,
    THROTTLED_CREDITS,
};
use crate::api::route::Route;
use crate::error::code::ErrorCode;
use crate::http::listener_kind::ListenerKind;
use crate::telemetry::access_log::ServedRequest;
use crate::telemetry::log_request;
use crate::telemetry::metrics::instrument::Counted;
use crate::telemetry::trace_context::TraceId;

/// Characters of an operation's name that are logged. Clients choose the name, and it may be long.
const MAX_NAME: usize = 100;

/// The facts about a request so far. They are logged and measured when the entry is dropped: after the response's last byte, or when
/// the client disconnects.
#[derive(Debug)]
pub(crate) struct AccessLogEntry {
    /// The request's id, which the client gets too.
    pub id: Arc<str>,
    /// The listener that it came to.
    pub listener: Option<ListenerKind>,
    /// The client's address.
    pub peer: Option<IpAddr>,
    /// The trace that it belongs to.
    pub trace_id: Option<TraceId>,
    /// Its span, if traces are recorded.
    #[cfg(feature = "traces")]
    pub trace: Option<Box<RequestTrace>>,
    /// The endpoint; none if there is none at the path.
    pub route: Option<Route>,
    /// The authenticated user.
    pub caller: Option<Arc<str>>,
    /// Why the token is none of this service's, which its sender is not told.
    pub token_fault: Option<TokenFault>,
    /// The cost of the query by the rows that it returned.
    pub actual_cost: Option<u64>,
    /// Credits that are debited while the response is sent.
    pub(crate) cost_so_far: Option<Arc<AtomicU64>>,
    /// Facts that are known only while the response is sent.
    pub stream: Option<Arc<StreamRecord>>,
    /// The response's status.
    pub status: Option<u16>,
    /// Bytes of its body.
    pub bytes_in: u64,
    /// Bytes of the response's body that were handed to the connection.
    pub bytes_out: u64,
    /// Whether the response was not sent to its end.
    pub broken_off: bool,
    /// When the stages of a query ran.
    pub timeline: Timeline,
    /// The first error's code.
    code: Option<ErrorCode>,
    method: RequestMethod,
    operation: Option<String>,
    started: Instant,
    _active: Counted,
}

/// Facts about a response that are known only while it is sent.
#[derive(Debug, Default)]
pub(crate) struct StreamRecord {
    /// The cost of the query by the rows that it returned, once all are sent.
    pub actual_cost: OnceLock<u64>,
    /// Why the response was not finished.
    pub code: OnceLock<ErrorCode>,
}

impl AccessLogEntry {
    /// The entry of a request that arrived then. It is boxed, because it is moved several times until the response is sent.
    pub(crate) fn new(id: Arc<str>, method: &Method, started: Instant) -> Box<Self> {
        Self::with_method(id, method.into(), started)
    }

    /// The entry of a request whose head cannot be parsed.
    pub(crate) fn unreadable(id: Arc<str>) -> Box<Self> {
        Self::with_method(id, RequestMethod::Unreadable, Instant::now())
    }

    fn with_method(id: Arc<str>, method: RequestMethod, started: Instant) -> Box<Self> {
        Box::new(Self {
            id,
            listener: None,
            peer: None,
            trace_id: None,
            #[cfg(feature = "traces")]
            trace: None,
            route: None,
            caller: None,
            token_fault: None,
            actual_cost: None,
            cost_so_far: None,
            stream: None,
            code: None,
            status: None,
            bytes_in: 0,
            bytes_out: 0,
            broken_off: false,
            timeline: Timeline::default(),
            method,
            operation: None,
            started,
            _active: ACTIVE.of(()).count(),
        })
    }

    /// How long it took until now.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The operation's name.
    pub(crate) fn operation(&self) -> Option<&str> {
        self.operation.as_deref()
    }

    /// The request gets this error.
    pub(crate) fn fail(&mut self, error: &ApiError) {
        self.code = Some(error.code);
        if let (ErrorCode::Throttled, Some(cost)) = (error.code, &error.cost) {
            THROTTLED_CREDITS.of(()).add(cost.credits);
        }
    }

    /// Adds the operation's name, if it has one.
    pub(crate) fn set_operation(&mut self, name: Option<&str>) {
        let shortened = |name: &str| match name.char_indices().nth(MAX_NAME) {
            Some((end, _)) => name.get(..end).unwrap_or_default().to_owned(),
            None => name.to_owned(),
        };
        self.operation = name.map(shortened);
    }
}

impl AccessLogEntry {
    fn cost(&self) -> Option<u64> {
        self.cost_so_far.as_ref().map(|cost| cost.load(Ordering::Relaxed)).or(self.timeline.cost)
    }

    fn actual_cost(&self) -> Option<u64> {
        self.stream.as_ref().and_then(|stream| stream.actual_cost.get().copied()).or(self.actual_cost)
    }

    fn code(&self) -> Option<ErrorCode> {
        self.stream.as_ref().and_then(|stream| stream.code.get().copied()).or(self.code)
    }

    fn measure(&self, duration: Duration) {
        let status = ResponseStatus(self.status);
        match self.listener {
            Some(ListenerKind::Admin) => ADMIN_REQUESTS.of((self.route, status)).record_time(duration),
            Some(ListenerKind::Public) | None => REQUESTS.of((self.method, self.route, status)).record_time(duration),
        }
        if let Some(code) = self.code() {
            ERRORS.of((code,)).increment();
        }
        if let Some(cost) = self.cost() {
            COST_ESTIMATED.of(()).record(cost);
            if self.cost_so_far.is_some() {
                EXPORTS.of(()).record_time(duration);
            } else {
                let waited = self.timeline.admission.map(Stage::time).unwrap_or_default();
                QUERY_WAITS.of(()).record_time(waited);
                QUERIES.of(()).record_time(duration.saturating_sub(waited + self.timeline.parked));
            }
        }
        if let Some(cost) = self.actual_cost() {
            COST_ACTUAL.of(()).record(cost);
        }
    }
}

impl Drop for AccessLogEntry {
    fn drop(&mut self) {
        let duration = self.elapsed();
        self.measure(duration);
        let served = ServedRequest {
            request_id: &self.id,
            trace_id: self.trace_id,
            listener: self.listener.map(ListenerKind::name),
            peer: self.peer,
            method: self.method.name(),
            route: self.route.map_or("none", Route::name),
            caller: self.caller.as_deref(),
            operation: self.operation.as_deref(),
            cost: self.cost(),
            error_code: self.code().map(ErrorCode::as_str),
            token_fault: self.token_fault.map(TokenFault::as_str),
            status: self.status,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            broken_off: self.broken_off,
            duration,
            compile: self.timeline.compile.map(Stage::time),
            wait: self.timeline.waiting(),
            database: self.timeline.database().map(Stage::time),
        };
        #[cfg(feature = "traces")]
        if let Some(trace) = self.trace.take() {
            trace.finish(&served, self.route, &self.timeline);
        }
        log_request(&served);
    }
}
