//! The API over HTTP: its endpoints, the gates that a request passes before them, and the errors as bytes.
//!
//! **A request**: the `request_handler` finds the endpoint by `route` and completes the response; `request_context` is the request
//! while it is served, with one of the `request_ids`. `credentials`, `negotiate`, `prefer` and `read_position` read its headers.
//!
//! **What requests share**: `service` holds all of it, with the endpoints' `options`. `views` are what callers see of the schema, by their
//! grants and scopes. `schema_fit` is whether the tables still fit the schema. `cpu_tasks` runs what takes a core for longer than a moment.
//! A `shared_flush` of the primary's log serves several requests.
//!
//! **Endpoints**: `graphql` (with `extensions`, the `query_texts` of persisted queries and the `named_documents`), `token`, `update_order`,
//! `schema` (with its `sdl_document`), `console` (on the listener that `console_mode` says), `jwks`, and the endpoints of `operators`.
//!
//! **Errors**: the types in `errors` convert into one type, and `error_response` makes its bytes.
//!
//! **What operators see**: the `access_log` has a line for each request, and `metrics` counts them.

pub(crate) mod access_log;
pub(crate) mod console;
pub(crate) mod console_mode;
pub(crate) mod cpu_tasks;
pub(crate) mod credentials;
pub(crate) mod error_response;
pub(crate) mod errors;
pub(crate) mod extensions;
pub(crate) mod graphql;
mod jwks;
pub(crate) mod metrics;
pub(crate) mod named_documents;
pub(crate) mod negotiate;
pub mod operators;
pub(crate) mod options;
pub(crate) mod prefer;
pub(crate) mod query_texts;
pub(crate) mod read_position;
pub(crate) mod request_context;
pub(crate) mod request_handler;
pub(crate) mod request_ids;
pub(crate) mod route;
mod schema;
pub(crate) mod schema_fit;
pub(crate) mod sdl_document;
pub(crate) mod service;
pub(crate) mod shared_flush;
mod token;
mod update_order;
pub(crate) mod views;
