//! The door: hyper's listener, routing, negotiation, bodies and answers.
//!
//! A request comes in through `listener` and `wire`, which hold connections to their limits and times; `service` checks
//! its head, finds its endpoint by `route` and writes its line in the log; the endpoint reads its body by `body` and gives
//! a `response` or an error. Every error becomes an `api_error`, and `error_response` alone decides how it looks. `negotiate` and
//! `coding` choose the form that the client takes best, and `compress` makes large answers smaller.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

pub mod access_error;
pub mod access_log;
pub mod api_error;
pub mod body;
pub mod coding;
pub mod compress;
pub mod connection;
pub mod connection_io;
pub mod cors;
pub mod credentials;
pub mod endpoint;
pub mod envelope;
pub mod error_response;
pub mod framing;
pub mod listener;
pub mod malformed;
pub mod negotiate;
pub mod origin;
pub mod persisted;
pub mod price;
mod quality;
pub mod query_error;
pub mod request_error;
pub mod response;
pub mod route;
pub mod service;
pub mod service_error;

/// What the door keeps to.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Bytes that a request's body may have.
    pub body_limit: usize,
    /// How long a client may take to send a request's head.
    pub header_timeout: Duration,
    /// How long a client may take to send a request's body.
    pub body_timeout: Duration,
    /// How long a client may leave an answer unread.
    pub write_timeout: Duration,
    /// How long a connection is kept open without a request.
    pub idle_timeout: Duration,
    /// Connections that are served at the same time.
    pub connection_limit: usize,
    /// How long running requests may take to finish when the server is stopped.
    pub grace: Duration,
    /// Reverse proxies that are believed where a request comes from.
    pub trusted_proxies: Vec<IpAddr>,
    /// Codings in which larger answers are compressed.
    pub codings: coding::Codings,
    /// Bytes of the texts of persisted queries; `None` where there are to be none.
    pub persisted_queries: Option<usize>,
    /// Which web pages' scripts may read answers.
    pub cors: cors::Options,
}
