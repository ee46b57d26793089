//! The settings of the HTTP server.

use std::time::Duration;

use crate::http::address_range::AddressRange;
use crate::http::coding::Codings;
use crate::http::response::cors;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::tls::TlsFiles;

/// The settings of the HTTP server, by their names.
#[derive(Debug, Clone)]
pub(crate) struct HttpOptions {
    pub(crate) listen: ListenAddress,
    /// The address on which operators reach the probes, whatever happens on the other one.
    pub(crate) admin_listen: Option<ListenAddress>,
    pub(crate) listen_mode: u32,
    /// The certificate that clients see. Without one they are not served over TLS.
    pub(crate) tls: Option<TlsFiles>,
    /// Bytes that a request's body may have.
    pub(crate) body_limit: usize,
    /// Bytes that requests and unread responses may take together.
    pub(crate) memory_budget: usize,
    /// How long a client may take to send a request's head.
    pub(crate) header_timeout: Duration,
    /// How long a client may take to send a request's body.
    pub(crate) body_timeout: Duration,
    /// How long a client may leave a response unread.
    pub(crate) write_timeout: Duration,
    /// How long a connection may be open without a request.
    pub(crate) idle_timeout: Duration,
    /// Connections that are served at the same time.
    pub(crate) connection_limit: usize,
    /// The most connections of one address, or of one IPv6 network of 64 bits. Trusted proxies have no limit of their own.
    pub(crate) connections_per_address: usize,
    /// How long requests in flight may take to finish when the server is stopped.
    pub(crate) grace: Duration,
    /// How long the server goes on, not ready any more, before it stops.
    pub(crate) drain: Option<Duration>,
    /// Reverse proxies whose `X-Forwarded-For` is trusted.
    pub(crate) trusted_proxies: Vec<AddressRange>,
    /// Codings in which larger responses are compressed.
    pub(crate) codings: Codings,
    /// Which web pages' scripts may read responses.
    pub(crate) cors: cors::CorsOptions,
}
