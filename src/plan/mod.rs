//! How to fetch what an operation selects: one statement, and the template of the response.
//!
//! - [`template`]: all of it, for every request that differs in values alone
//! - `plan_key`: which requests those are
//! - [`request_plan`]: a template with the values of one request
//! - [`mod@build`]: makes a template from a bound operation
//! - [`step`]: a page of a connection or the row of a lookup, as rows of the statement
//! - [`result_columns`]: the columns of the statement's rows
//! - `select`: the columns, joins and aggregates that a step reads
//! - [`access_path`]: how the rows of a page are found, and how many are examined
//! - `keyset`: the part of an index that a page lies in
//! - `filter`: search terms as conditions
//! - `sql`: identifiers, parameters and conditions as text
//! - `locator`: finds the keys of a page's rows where an index range alone does not
//! - `statement`: the text that returns the rows of a step
//! - `branch`: the text of the statement, from those of its steps
//! - [`response_template`]: the response's bytes around the values, as a flat list of ops
//! - `introspection`: the results of introspection as JSON
//!
//! The text of a statement is composed of parts that write themselves ([`Display`](std::fmt::Display)); its parameters are numbered
//! when a step adds them. It is written once and never read again.

pub mod access_path;
mod branch;
pub mod build;
mod filter;
mod introspection;
mod keyset;
mod locator;
pub(crate) mod plan_key;
pub mod request_plan;
pub mod response_template;
pub mod result_columns;
mod select;
pub(crate) mod sql;
mod statement;
pub mod step;
pub mod template;
