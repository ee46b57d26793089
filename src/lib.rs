//! # orderql
//!
//! An order-management API over a PostgreSQL database with Apache OFBiz tables: a token operation, a read-only GraphQL API
//! with Relay connections, keyset cursors, a search string and a cost limit, and an update of orders in progress.
//!
//! `docs/develop/architecture.md` follows a request through the modules. They are declared below in reading order; a module uses
//! only modules above it, which a test checks.
//!
//! ## Using the library
//!
//! From text to plan nothing does I/O, so planner and cost model can be fuzzed, measured and used without a database.
//! Without the default feature `server` the library is this pure half alone, with few dependencies. With `server` and without
//! `tools` it is the service without generated orders, data files and a PostgreSQL of its own.
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

#![deny(clippy::disallowed_methods)]

// Pure: no I/O, no async, no clock.
pub mod value;
pub(crate) mod words;
pub(crate) mod nearest;
pub mod limits;
pub(crate) mod byte_lru;
pub mod error;
pub mod search;
pub mod seal;
pub mod cursor;
pub mod sync_token;
pub mod catalog;
pub mod schema_file;
pub mod outline;
pub mod query;
pub mod correction;
pub mod vocabulary;
pub mod cost;
pub mod plan;
pub mod compile;
#[cfg(feature = "server")]
pub(crate) mod documents;
#[cfg(feature = "server")]
pub(crate) mod schema_diff;

// With I/O. A module that reads files, the environment or a clock gives the reason.
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "reads the files")]
pub(crate) mod tls;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "reads what the system knows about the process")]
pub mod telemetry;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "reads libpq's environment and files, and a pause between two attempts")]
pub mod database;
#[cfg(feature = "server")]
pub(crate) mod relations;
#[cfg(feature = "tools")]
#[allow(clippy::disallowed_methods, reason = "finds and starts PostgreSQL's programs")]
pub mod private_cluster;
#[cfg(feature = "tools")]
#[allow(clippy::disallowed_methods, reason = "reads the files to be loaded")]
pub mod load;
#[cfg(feature = "tools")]
pub mod sample;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "measures how long statements take")]
pub mod execute;
#[cfg(feature = "server")]
pub mod preflight;
#[cfg(feature = "server")]
pub(crate) mod schema_draft;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "time limits on statements, and a pause between two of them")]
pub(crate) mod change_feed;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "a pause between two attempts")]
pub mod migration;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "time limits on calls, and a pause between signs of life")]
pub(crate) mod shared_store;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "the buckets of all callers share one clock")]
pub(crate) mod throttle;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "asks servers how far they are, and when that was")]
pub(crate) mod replicas;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "reads the signing key, and the time for the life of tokens")]
pub mod access;
#[cfg(feature = "server")]
pub(crate) mod orders;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "time limits on connections")]
pub(crate) mod http;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "time limits on requests, and how long they took")]
pub mod api;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "gathers flags, environment and file")]
pub mod config;
#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "where a process begins")]
pub mod cli;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;

/// Its example of the library compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
