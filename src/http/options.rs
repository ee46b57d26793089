//! The settings of the HTTP server.

use std::time::Duration;

use crate::http::address_range::AddressRange;
use crate::http::coding::Codings;
use crate::http::response::cors;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::tls::TlsFiles;

/// The settings of the HTTP server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address to listen on.
    pub listen: ListenAddress,
    /// The address on which operators reach the probes, whatever happens on the other one.
    pub admin_listen: Option<ListenAddress>,
    /// The permissions of the file of a Unix socket.
    pub listen_mode: u32,
    /// The certificate that clients see. Without one they are not served over TLS.
    pub tls: Option<TlsFiles>,
    /// Bytes that a request's body may have.
    pub body_limit: usize,
    /// Bytes that requests and unread responses may take together.
    pub memory_budget: usize,
    /// How long a client may take to send a request's head.
    pub header_timeout: Duration,
    /// How long a client may take to send a request's body.
    pub body_timeout: Duration,
    /// How long a client may leave a response unread.
    pub write_timeout: Duration,
    /// How long a connection may be open without a request.
    pub idle_timeout: Duration,
    /// Connections that are served at the same time.
    pub connection_limit: usize,
    /// The most connections of one address, or of one IPv6 network of 64 bits. Trusted proxies have no limit of their own.
    pub connections_per_address: usize,
    /// How long requests in flight may take to finish when the server is stopped.
    pub grace: Duration,
    /// How long the server goes on, not ready any more, before it stops.
    pub drain: Option<Duration>,
    /// Reverse proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<AddressRange>,
    /// Codings in which larger responses are compressed.
    pub codings: Codings,
    /// Which web pages' scripts may read responses.
    pub cors: cors::CorsOptions,
}
