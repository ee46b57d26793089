//! The catalog: the types of the GraphQL schema, and what each field is bound to in the database.
//!
//! A schema file is read once. A [`Catalog`] is made of it for each set of the grants and scopes that callers have. Each field of a catalog
//! has a binding, which says where its values come from: a field of the query root is a lookup, a connection, changes or totals; a field of
//! a type is a column, a joined row, a connection or an aggregate. The fields of connections and of introspection have fixed bindings.
//! Later stages of a query hold small ids, and never read SDL.
//!
//! - [`schema_file`]: a schema file, and what callers with some of its grants see of it
//! - [`grant_set`]: sets of these grants
//! - `visibility`: a schema file without what some callers do not see
//! - [`scope`]: the rows that a caller sees; `scopes`: their declarations in a file; `scoped_relation`, `limit`: a catalog that
//!   shows no other rows
//! - `sdl_reader`, `binding_arguments`: schema file → `definition`: SDL with binding directives, references unresolved
//! - `introspection_types`: the introspection types, read from a schema file of their own
//! - `type_names`: the names and ids of all types
//! - `build`, `build_binding`, `build_totals`: definitions → catalog
//! - `connection_types`: connection and edge types and the arguments of connections, which schema files leave out
//! - [`normalization`]: the forms in which values of search keys are compared
//! - `key_description`: search keys and sort keys in words
//! - [`totals`]: counts and sums over rows of a root connection; `totals_types`: their object types, enums and arguments
//! - [`feed`]: change feeds; [`changes`]: the root fields that read them
//! - `compared_columns`: whether the columns that statements compare can be compared
//! - `prices`: the numbers of the cost model
//! - `schema_description`: the description of the schema itself
//! - [`ids`], [`binding`], [`schema`], `type_system`: the catalog itself; [`mod@column`], [`connection`], [`search_key`], [`aggregate`]:
//!   what fields are bound to
//! - `meta_field`, `introspection`: resolves introspection from the catalog
//! - `sdl_writer`: catalog → published SDL
//! - `places`, `name_index`: where a schema has what a name means
//! - [`search_window`]: how many rows a search may examine
//! - [`stored_type`]: how the database stores columns; [`result_type`]: the types as which statements return them
//! - [`collation`]: how the database compares texts; [`characters`]: which characters they can have
//! - [`key_fault`]: why columns do not identify the rows of a table
//! - [`error`]: why a schema file cannot be used

pub mod aggregate;
pub mod binding;
mod binding_arguments;
mod build;
mod build_binding;
mod build_totals;
pub mod changes;
pub mod characters;
pub mod collation;
pub mod column;
mod compared_columns;
pub mod connection;
mod connection_types;
mod definition;
pub mod error;
pub mod feed;
pub mod grant_set;
pub mod ids;
pub(crate) mod introspection;
mod introspection_types;
mod key_description;
pub mod key_fault;
mod limit;
pub(crate) mod meta_field;
pub(crate) mod name_index;
pub(crate) mod places;
pub mod normalization;
pub(crate) mod prices;
pub mod schema;
mod schema_description;
pub mod schema_file;
pub mod scope;
pub(crate) mod scoped_relation;
pub mod search_key;
mod scopes;
mod sdl_reader;
mod sdl_writer;
pub mod search_window;
pub mod result_type;
pub mod stored_type;
pub mod totals;
mod totals_types;
mod type_names;
mod type_system;
mod visibility;

use crate::catalog::error::SchemaError;
use crate::catalog::schema_file::SchemaFile;

pub use type_system::Catalog;

/// The built-in schema file.
pub const BUILT_IN: &str = include_str!("../../grammar/schema.graphql");

impl Catalog {
    /// Reads a schema file and resolves it. Fails at the first error in the file.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        SchemaFile::parse(text)?.catalog()
    }

    /// The catalog of [`BUILT_IN`].
    pub fn built_in() -> Result<Self, SchemaError> {
        Self::parse(BUILT_IN)
    }
}
