//! # orderql
//!
//! An order-management API over a PostgreSQL database with Apache OFBiz's tables: a token operation, a read-only GraphQL
//! API with Relay connections, keyset cursors, a search string and a cost budget, and an update of orders in progress,
//! which is a room of its own: [`orders`] says what each table sees.
//!
//! ## The way of a request
//!
//! A request gets *more certain* at every step until nothing is left to decide; then, and only then, I/O begins.
//!
//! ```text
//! http ─▶ access                                       who is calling, and may they
//!   └▶ query::parse ─▶ query::validate ─▶ query::bind    what is asked
//!        └▶ cost::estimate, cost::admit                  what it would cost, and is that allowed
//!             └▶ plan::build                             how to fetch it
//!                  └▶ throttle ─▶ execute ─▶ http        pay, fetch, write
//! ```
//!
//! Follow `{ orders(first: 2) { edges { node { orderId } } } }` through the rooms:
//!
//! 1. [`http`] accepts the connection, finds the endpoint and reads the body. [`access`] turns the token into a
//!    [`Principal`](access::grants::Principal): a user with grants and limits, held in memory.
//! 2. [`compile`] is the pure half in one function. [`query::parse`] makes a document of the text; [`query::validate`]
//!    holds it against the [`catalog`], a rule a file, and merges it into an
//!    [`Operation`](query::operation::Operation), which is remembered by its text. [`query::bind`] fills in the variables:
//!    page sizes become [`PageSize`](query::bind::page::PageSize)s, search strings (read by [`search`]) typed terms,
//!    [`cursor`]s key values. What is wrong with any of them becomes an [`error`].
//! 3. [`cost`] prices the [`BoundOperation`](query::bind::BoundOperation) (here 2 × (1 + 1) = 4 credits) and holds depth
//!    and price against the caller's [`limits`].
//! 4. [`plan`] makes a [`Step`](plan::step::Step) of every connection and point root: one SQL statement that fetches a
//!    page for all its parents at once. The bytes of the answer between the values become a
//!    [`ResponseTemplate`](plan::response_template::ResponseTemplate), a small program.
//! 5. [`throttle`] debits the caller's bucket.
//! 6. [`execute`] runs the steps over one [`Snapshot`](database::snapshot::Snapshot), each as soon as its parents' rows
//!    are there, and then the shape's program over PostgreSQL's binary rows: no value stands between a column and its
//!    JSON.
//! 7. [`http`] sends the answer, whole where it is small, in parts where it is not.
//!
//! ## Using the library
//!
//! From text to plan nothing does I/O, so planner and cost model can be fuzzed, measured and used without a database:
//!
//! ```
//! use orderql::catalog::Catalog;
//! use orderql::compile::compile;
//! use orderql::limits::Limits;
//! use orderql::query::Request;
//!
//! let catalog = Catalog::built_in()?;
//! let query = "{ orders(first: 2) { edges { node { orderId } } } }".to_owned();
//! let compiled = compile(&catalog, &Request { query, ..Request::default() }, &Limits::default())?;
//! assert_eq!(compiled.estimate.cost(), 4);
//! assert_eq!(compiled.plan.steps().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## The rooms
//!
//! In reading order. A room uses only rooms above it; `tests/architecture.rs` holds every edge against its table.

#![deny(clippy::disallowed_methods)]

// Pure: no I/O, no async, no clock.
pub mod value;
pub mod limits;
pub mod error;
pub mod search;
pub mod cursor;
pub mod catalog;
pub mod query;
pub mod cost;
pub mod plan;
pub mod compile;

// Impure. What reads files, the environment or a clock says why.
#[cfg(feature = "server")]
pub mod telemetry;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "finds and starts the private cluster")]
pub mod database;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "reads the files to be loaded")]
pub mod load;
#[cfg(feature = "server")]
pub mod sample;
#[cfg(feature = "server")]
pub mod execute;
#[cfg(feature = "server")]
pub mod preflight;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "the buckets of all callers share one clock")]
pub mod throttle;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "reads the signing key, and the time for the life of tokens")]
pub mod access;
#[cfg(feature = "server")]
pub mod orders;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "time limits on connections, and how long a request took")]
pub mod http;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "gathers flags, environment and file")]
pub mod config;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "where a process begins")]
pub mod cli;
