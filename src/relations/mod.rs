//! The relations of a database as PostgreSQL's system catalogs describe them, and the rules that say what their columns, keys and indexes can
//! do. The check of a schema, a draft of one and the loader of files read them here, so that they agree.
//!
//! - `description`: the relations of a database; `relation`: one of them
//! - `column`, [`column_type`]: a column and its type, without the domains that it is made of
//! - [`column_use`], `type_compatibility`: whether a column is compatible with its use, or with a column that it is joined with
//! - `index`: what an index can do; [`key_fault`]: why columns are no key; [`join_fault`]: why a join finds no rows
//! - `reader`: reads the description
//! - [`row_order`]: an order of rows; `planner`: whether an index returns rows in an order where the relation's own indexes do not tell

pub(crate) mod column;
pub(crate) mod column_type;
pub(crate) mod column_use;
pub(crate) mod description;
pub(crate) mod index;
pub(crate) mod join_fault;
pub(crate) mod key_fault;
pub(crate) mod planner;
pub(crate) mod reader;
pub(crate) mod relation;
pub(crate) mod row_order;
pub(crate) mod type_compatibility;
