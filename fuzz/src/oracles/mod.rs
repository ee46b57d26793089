//! Second computations of what orderql computes, written from the specification and `docs/api.md`, not from orderql's code: slow,
//! short and plain.
//!
//! - [`tree`]: what an operation selects, with fragments spread and fields merged
//! - [`cost`]: cost, depth and statements
//! - [`response`]: the response's shape
//! - [`sql`]: the words of an SQL text: identifiers, key words, parameters and tables
//! - [`branches`]: the parts of a statement, one for each step
//! - [`keyset`]: the rows that an SQL text finds in a table of every possible position
//! - `postgres`: PostgreSQL's own parser (with the feature `pg_query`)
//! - `apollo`: another implementation's verdict on documents (with the feature `apollo`)

#[cfg(feature = "apollo")]
pub mod apollo;
pub mod branches;
pub mod cost;
pub mod keyset;
#[cfg(feature = "pg_query")]
pub mod postgres;
pub mod response;
pub mod sql;
pub mod tree;
