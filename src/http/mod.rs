//! The HTTP server, on top of hyper: connections, framing, heads, bodies, codings, memory and TLS. It has no endpoints: a `handler` answers
//! the requests.
//!
//! **Connections**: `listener` accepts them from a `socket` and shuts down gracefully; there are two, of different `listener_kind`s. A
//! `connection_task` serves one connection; `connection` is its state, with its requests, and decides how many there are; `hyper_io` is the
//! I/O under hyper, with the checks and time-outs that hyper lacks.
//!
//! **Messages**: `request` checks heads, within the `head_limits`, and reads bodies; `response` is a response before hyper takes it;
//! `coding` chooses its content coding and encodes it; `quality` parses headers that list alternatives. What is wrong
//! with a request's form is a `request_error`.
//!
//! **Bounds**: `options` are the settings, with an `address_range` for each proxy; `memory_budget` bounds what clients make the server hold,
//! and `metrics` counts.

pub(crate) mod address_range;
pub(crate) mod coding;
pub(crate) mod connection;
pub(crate) mod connection_task;
pub(crate) mod handler;
pub(crate) mod head_limits;
pub(crate) mod hyper_io;
pub(crate) mod listener;
pub(crate) mod listener_kind;
pub(crate) mod memory_budget;
pub(crate) mod metrics;
pub(crate) mod options;
pub(crate) mod quality;
pub(crate) mod request;
pub(crate) mod request_error;
pub(crate) mod response;
pub(crate) mod socket;
