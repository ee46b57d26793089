//! The integration tests, as one program: a folder for each area, and the helpers in `support`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "a test program exports nothing")]
#![allow(clippy::too_many_lines, reason = "a test is a story")]

mod access;
#[cfg(feature = "mcp")]
mod agents;
mod catalog;
mod cli;
mod clients;
#[cfg(feature = "console")]
mod console;
mod cost;
mod database;
mod execute;
mod http;
mod load;
mod orders;
mod own_schemas;
mod query;
mod documentation;
mod sample;
mod shared_store;
mod support;
mod telemetry;
