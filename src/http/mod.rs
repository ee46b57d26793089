//! The HTTP server, on top of hyper.
//!
//! **Connections**: `listener` accepts them from a `socket` and shuts down gracefully; `current_service` has the
//! service that a reload may have replaced; `open_connections` decides how many there are, and
//! which one makes room for a new one; `connection_task` serves one; `connection_io` is the I/O under hyper, with the checks
//! and time-outs that hyper lacks (`framing`, `malformed`); `connection` is the state that a connection's task, I/O and
//! requests share, and `memory_budget` limits what they hold in memory.
//!
//! **Requests**: `request_handler` checks a request's head (`request_head`), finds the endpoint by `route` and completes the
//! response, whose `outgoing_body` logs the request at its end. The files and folders of `endpoint` serve one endpoint
//! each, with what `service` has, such as the `sdl_document`, the `console` and the `query_texts`. They read `credentials` and the `body`, have `cpu_tasks` do what takes a core for longer than a moment, and find the client's address by `origin`.
//!
//! **Responses**: `response` is a response before hyper takes it; `negotiate` chooses its media type, `coding` its content
//! coding (both parse lists with `quality` values), `prefer` reads how long a request wants to wait, `entity_tag` whether the client has the content, `read_position` how far the server must be that it is read from, `compress` encodes it, `cors` says which web pages may read it, and
//! `cost_extension`, `executed_plan` and `value_warning` report a query's cost, how it was executed, and the values that may be misspelt.
//!
//! **Errors**: `request_error`, `access_error`, `query_error` and `service_error` are the causes, besides a few that belong
//! to one file. All of them convert into an `api_error`, which only `error_response` turns into a response, for the order update with `update_errors`.
//!
//! **Commands**: `client` asks a running server.
//!
//! **Settings and logs**: `options`, `console_mode` and `head_limits` are the settings and the fixed limits; `access_log` writes a line
//! for each request, `unavailability_log` one for each cause of 503. A query's `timeline` has its stages, also for the log of slow
//! queries.
//!
//! **For operators**: `request_trace` makes the spans of a request, `metrics` counts requests by `request_labels`, `state_metrics` reads the other figures from the service,
//! and `readiness` says whether it can answer queries.

pub(crate) mod access_error;
pub(crate) mod access_log;
pub(crate) mod api_error;
pub(crate) mod body;
pub(crate) mod client;
pub mod coding;
pub(crate) mod compress;
pub(crate) mod connection;
pub(crate) mod connection_io;
pub(crate) mod connection_task;
pub(crate) mod console;
pub mod console_mode;
pub mod cors;
pub(crate) mod current_service;
pub(crate) mod cost_extension;
pub(crate) mod cpu_tasks;
pub(crate) mod credentials;
pub(crate) mod endpoint;
pub(crate) mod entity_tag;
pub(crate) mod error_response;
pub(crate) mod executed_plan;
pub(crate) mod framing;
pub(crate) mod head_limits;
pub(crate) mod listener;
pub(crate) mod malformed;
pub(crate) mod memory_budget;
pub(crate) mod metrics;
pub(crate) mod negotiate;
pub(crate) mod open_connections;
pub mod options;
pub(crate) mod origin;
pub(crate) mod outgoing_body;
pub(crate) mod prefer;
mod quality;
pub(crate) mod query_error;
pub(crate) mod query_texts;
pub(crate) mod request_error;
pub(crate) mod read_position;
pub(crate) mod readiness;
pub(crate) mod request_handler;
pub(crate) mod request_head;
pub(crate) mod request_ids;
pub(crate) mod request_labels;
#[cfg(feature = "traces")]
pub(crate) mod request_trace;
pub(crate) mod response;
pub(crate) mod route;
pub(crate) mod sdl_document;
pub(crate) mod service;
pub(crate) mod service_error;
pub mod socket;
pub mod state_metrics;
pub(crate) mod timeline;
mod unavailability_log;
pub(crate) mod update_errors;
pub(crate) mod value_warning;
