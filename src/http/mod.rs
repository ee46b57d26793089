//! The HTTP server, on top of hyper.
//!
//! **Connections**: `listener` accepts them, enforces the limits and shuts down gracefully; `connection_io` is the I/O under
//! hyper, with the checks and time-outs that hyper lacks (`framing`, `malformed`); `connection` is the state that a
//! connection's task, I/O and requests share.
//!
//! **Requests**: `request_handler` checks a request's head (`request_head`), finds the endpoint by `route` and completes the
//! response, whose `outgoing_body` logs the request at its end. The files and folders of `endpoint` serve one endpoint
//! each, with what `service` has. They read `credentials` and the `body`, and find the client's address by `origin`.
//!
//! **Responses**: `response` is a response before hyper takes it; `negotiate` chooses its media type, `coding` its content
//! coding (both parse lists with `quality` values), `compress` encodes it, `cors` says which web pages may read it, and
//! `cost_extension` reports a query's cost.
//!
//! **Errors**: `request_error`, `access_error`, `query_error` and `service_error` are the causes, besides a few that belong
//! to one file. All of them convert into an `api_error`, which only `error_response` turns into a response.
//!
//! **Settings and logs**: `options` and `head_limits` are the settings and the fixed limits; `access_log` writes a line
//! for each request.

pub mod access_error;
pub mod access_log;
pub mod api_error;
pub mod body;
pub mod coding;
pub mod compress;
pub mod connection;
pub mod connection_io;
pub mod cors;
pub mod cost_extension;
pub mod credentials;
pub mod endpoint;
pub mod error_response;
pub mod framing;
pub mod head_limits;
pub mod listener;
pub mod malformed;
pub mod negotiate;
pub mod options;
pub mod origin;
pub mod outgoing_body;
mod quality;
pub mod query_error;
pub mod request_error;
pub mod request_handler;
pub mod request_head;
pub mod request_ids;
pub mod response;
pub mod route;
pub mod service;
pub mod service_error;
