//! The catalog: the types of the GraphQL schema, and what each field is bound to in the database.
//!
//! Each field of a [`Catalog`] has a binding, which says where its values come from: a field of the query root is a lookup, a connection,
//! changes or totals; a field of a type is a column, a joined row, a connection or an aggregate. The fields of connections and of
//! introspection have fixed bindings. Later stages of a query hold small ids. [`schema_file`](crate::schema_file) makes catalogs.
//!
//! - [`ids`], [`binding`], [`schema`], `type_system`: the catalog itself; [`mod@column`], [`connection`], [`search_key`], [`aggregate`]:
//!   what fields are bound to; `meta_field`: the fields of introspection
//! - [`totals`]: counts and sums over rows of a root connection
//! - [`feed`]: change feeds; [`changes`]: the root fields that read them
//! - [`grant_set`]: sets of grants
//! - [`scope`]: the rows that a caller sees; `scope_rules`: which rows of each relation these are; `scoped_relation`, `limit`: a
//!   catalog that shows no other rows
//! - `published`: the catalog as clients see it: SDL, description, introspection
//! - [`normalization`]: the forms in which values of search keys are compared
//! - `prices`: the numbers of the cost model
//! - `places`, `name_index`: where a schema has what a name means
//! - [`search_window`]: how many rows a search may examine; `hidden_rows`: how many among rows that its caller does not see
//! - [`stored_type`]: how the database stores columns; [`result_type`]: the types as which statements return them
//! - [`collation`]: how the database compares texts; [`characters`]: which characters they can have

pub mod aggregate;
pub mod binding;
pub mod changes;
pub mod characters;
pub mod collation;
pub mod column;
pub mod connection;
pub mod feed;
pub mod grant_set;
pub(crate) mod hidden_rows;
pub mod ids;
mod limit;
pub(crate) mod meta_field;
pub(crate) mod name_index;
pub mod normalization;
pub(crate) mod places;
pub(crate) mod prices;
pub(crate) mod published;
pub mod result_type;
pub mod schema;
pub mod scope;
pub(crate) mod scope_rules;
pub(crate) mod scoped_relation;
pub mod search_key;
pub mod search_window;
pub mod stored_type;
pub mod totals;
mod type_system;

pub use type_system::Catalog;
