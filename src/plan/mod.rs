//! How to fetch what an operation selects: a statement for each connection and lookup, and the template of the response.
//!
//! - [`template`]: all of it, for every request that differs in values alone
//! - `plan_key`: which requests those are
//! - [`request_plan`]: a template with the values of one request
//! - [`mod@build`]: makes a template from a bound operation
//! - [`step`]: a statement with its parameters, and where its parents' keys come from
//! - `select`: the columns, joins and aggregates that a step reads
//! - [`access_path`]: how the rows of a page are found, and how many are examined
//! - `keyset`: the part of an index that a page lies in
//! - `filter`: search terms as conditions
//! - `sql`: the writer of SQL text, the only one of the read side
//! - `locator`: finds the keys of a page's rows where an index range alone does not
//! - `statement`: a statement's text from its parts
//! - [`response_template`]: the response's bytes around the values, as a flat list of ops
//! - [`self_contained`]: statements that read their parents' keys themselves
//! - `introspection`: the results of introspection as JSON

pub mod access_path;
pub mod build;
mod filter;
mod introspection;
mod keyset;
mod locator;
pub(crate) mod plan_key;
pub mod request_plan;
pub mod response_template;
mod select;
pub mod self_contained;
pub(crate) mod sql;
mod statement;
pub mod step;
pub mod template;
