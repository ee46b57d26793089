//! A schema file that fits a database: a type for each table with a key, objects by its foreign keys, and searches, sort orders and
//! connections that an index serves. What is left out stands there as a comment, with its reason and the index that would bring it.
//!
//! - [`description`]: what is known of a database
//! - `reader`: reads it; the feature `server`
//! - `names`: names in GraphQL's style
//! - `index_match`: whether an index serves an order
//! - `model`, `joins`: what the file declares
//! - `file`: its text

pub mod description;
mod file;
mod index_match;
mod joins;
mod model;
mod names;
#[cfg(feature = "server")]
pub mod reader;

use crate::schema_draft::description::Database;

/// The text of a schema file for a database. The same description has the same text.
pub fn draft(database: &Database) -> String {
    file::write(&model::model(database))
}

#[cfg(test)]
mod tests;
