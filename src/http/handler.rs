//! The boundary between HTTP and the service above it.

use std::convert::Infallible;
use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;
use hyper::body::Incoming;
use hyper::{Request, Response};

use crate::http::connection::InFlightRequest;
use crate::http::connection::outgoing_body::{DeliveryRecord, OutgoingBody};
use crate::http::listener_kind::ListenerKind;
use crate::http::memory_budget::MemoryBudget;
use crate::http::options::HttpOptions;
use crate::http::request_error::RequestError;
use crate::http::response::HttpResponse;
use crate::http::socket::tls::ServerTls;

/// The state of the HTTP server. A copy shares the budget.
#[derive(Debug, Clone)]
pub(crate) struct HttpState {
    pub(crate) options: HttpOptions,
    /// The memory that clients make the server hold.
    pub(crate) memory: MemoryBudget,
    /// How clients of the public listener are served over TLS, if they are.
    pub(crate) tls: Option<ServerTls>,
    /// Whether the server is about to stop, and load balancers should send no more requests.
    pub(crate) is_draining: Arc<AtomicBool>,
}

/// A request whose head has arrived.
pub(crate) struct ArrivedRequest {
    pub(crate) listener: ListenerKind,
    pub(crate) peer: IpAddr,
    pub(crate) in_flight: InFlightRequest,
    pub(crate) request: Request<Incoming>,
}

/// Responds to requests.
pub(crate) trait Handler: Debug + Send + Sync + Sized + 'static {
    /// The record that lasts until a response is delivered or given up.
    type Record: DeliveryRecord;

    /// The state of the HTTP server.
    fn http(&self) -> &HttpState;

    /// Responds to a request. Never fails, as the type says that hyper takes: errors are responses too.
    fn respond(
        self: Arc<Self>,
        arrived: ArrivedRequest,
    ) -> impl Future<Output = Result<Response<OutgoingBody<Self::Record>>, Infallible>> + Send;

    /// Responds to a request whose head cannot be read. The response has a body in one part.
    fn reject(&self, error: RequestError) -> HttpResponse;
}

/// The handler in force. A reload of the settings replaces it; requests that have begun keep theirs.
#[derive(Debug)]
pub(crate) struct Current<H>(ArcSwap<H>);

impl<H> Current<H> {
    /// Puts a handler in force.
    pub(crate) fn new(handler: H) -> Arc<Self> {
        Arc::new(Self(ArcSwap::from_pointee(handler)))
    }

    /// The handler for a new request.
    pub(crate) fn get(&self) -> Arc<H> {
        self.0.load_full()
    }

    /// Puts another handler in force from now on.
    pub(crate) fn replace(&self, handler: H) {
        self.0.store(Arc::new(handler));
    }
}
