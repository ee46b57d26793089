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
    pub(crate) body_limit: usize,
    pub(crate) memory_budget: usize,
    pub(crate) header_timeout: Duration,
    pub(crate) body_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) connection_limit: usize,
    /// Those of one address, or of one IPv6 network of 64 bits. Trusted proxies have no limit of their own.
    pub(crate) connections_per_address: usize,
    pub(crate) grace: Duration,
    pub(crate) drain: Option<Duration>,
    pub(crate) trusted_proxies: Vec<AddressRange>,
    pub(crate) codings: Codings,
    /// Which web pages' scripts may read responses.
    pub(crate) cors: cors::CorsOptions,
}
