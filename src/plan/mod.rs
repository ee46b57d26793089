//! How to fetch what an operation selects: one statement, and the template of the response.
//!
//! - [`template`]: all of it, for every request that differs in values alone
//! - [`request_plan`]: a template with the values of one request
//! - [`planner`]: makes a template from a bound operation
//! - [`parameters`]: the parameters of the statement, from where their values come from to the values
//! - [`step`]: a page of a connection or the row of a lookup, as rows of the statement
//! - [`result_columns`]: the columns of the statement's rows
//! - `select`: the columns, joins and aggregates that a step reads
//! - [`access_path`]: how the rows of a page are found, and how many are examined
//! - `keyset`: the part of an index that a page lies in
//! - `sql`: identifiers and conditions as text
//! - `value_list`: the values of an in-list that choose ranges of an index
//! - `locator`: finds the keys of a page's rows where an index range alone does not; `lookup_source`: finds the keys of a search
//!   by another index
//! - `rare_words`: whether a search in text has a rare word
//! - `page_sql`, `lookup_sql`, `changes_sql`, `totals_sql`: the SQL of a step
//! - `statement_sql`: the SQL of the statement, from its steps' SQL
//! - `scope_sql`: the rows of its relations that the caller sees
//! - `response_size`: how many bytes the response may have
//! - [`response_template`]: the response's bytes around the values, as a flat list of ops
//!
//! The text of a statement is composed of parts that write themselves ([`Display`](std::fmt::Display)); its parameters are numbered
//! when a step adds them. It is written once. Then `scope_sql` searches it for the names of limited relations, if the catalog has any, and
//! writes the limits of their rows in front of it.

pub mod access_path;
mod changes_sql;
mod keyset;
mod locator;
mod lookup_source;
mod lookup_sql;
mod page_sql;
pub mod parameters;
pub mod planner;
mod rare_words;
pub mod request_plan;
mod response_size;
pub mod response_template;
pub mod result_columns;
mod scope_sql;
mod select;
pub(crate) mod sql;
mod statement_sql;
pub mod step;
pub mod template;
mod totals_sql;
mod value_list;
