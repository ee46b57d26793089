//! # orderql
//!
//! An order-management API over a PostgreSQL database with Apache OFBiz's tables: a token operation, a read-only GraphQL
//! API with a cost budget, and the order update.
//!
//! ## The way of a request
//!
//! A request gets *more certain* at every step until nothing is left to decide; then, and only then, I/O begins.
//!
//! ```text
//! http ─▶ access                                     who is calling, and may they
//!   └▶ query::parse ─▶ query::validate ─▶ query::bind  what is asked
//!        └▶ cost::estimate, cost::admit                what it would cost, and is that allowed
//!             └▶ plan::plan                            how to fetch it
//!                  └▶ throttle ─▶ execute ─▶ http      pay, fetch, write
//! ```

// Pure: no I/O, no async, no clock. A room uses only rooms above it.
pub mod catalog;
pub mod compile;
pub mod cost;
pub mod cursor;
pub mod limits;
pub mod plan;
pub mod query;
pub mod refusal;
pub mod search;
pub mod value;

// Impure.
pub mod access;
pub mod cli;
pub mod config;
pub mod database;
pub mod execute;
pub mod http;
pub mod load;
pub mod preflight;
pub mod telemetry;
pub mod throttle;
