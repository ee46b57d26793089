//! The gates that a request passes before it is executed: the compiler, the pace of free work, and the caller's places and credits.
//!
//! - `admission`: places and credits, and what a result costs
//! - `compilation`: compiles small queries at once, and large ones apart
//! - `current_account`: the account of a caller as it is now
//! - `free_requests`: the pace of requests that cost nothing
//! - `prepared_query`: a query that is compiled, and its admission

pub(crate) mod admission;
pub(crate) mod compilation;
pub(crate) mod current_account;
pub(crate) mod free_requests;
pub(crate) mod prepared_query;
