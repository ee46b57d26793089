//! The HTTP server, over raw sockets.

mod compression;
mod connection_limits;
#[cfg(feature = "console")]
mod console;
mod cors;
mod error_codes;
mod error_details;
mod exports;
mod feed_exports;
mod graphql_get;
mod graphql_post;
mod health;
mod http2;
mod limits;
mod malicious_input;
mod memory_budget;
mod named_documents;
mod operators;
mod parked_requests;
mod persisted_queries;
mod pipelining;
mod request_smuggling;
mod routing;
mod same_responses;
mod sdl;
mod short_searches;
mod shutdown;
mod slow_clients;
mod sockets;
mod streamed_responses;
mod tls;
mod value_warnings;
