//! A schema file that fits a database: a type for each table with a key, objects by its foreign keys, and searches, sort orders and
//! connections that an index serves. What is left out stands there as a comment, with its reason and the index that would bring it.
//!
//! - [`description`]: the description of a database; [`declared_key`]: keys that PostgreSQL does not know
//! - `reader`: reads it; the feature `server`
//! - `names`: names in GraphQL's style
//! - `index_match`: whether an index serves an order
//! - `model`: what the file declares; `build`, `joins` decide it
//! - `file`: its text
//! - `existing`, `sdl_text`, `update`: the declarations of a file, their places, and the additions

mod build;
pub(crate) mod declared_key;
pub(crate) mod description;
mod existing;
mod file;
mod index_match;
mod joins;
mod model;
mod names;
#[cfg(feature = "server")]
pub(crate) mod reader;
mod sdl_text;
mod update;

use crate::schema_draft::build::model;
use crate::schema_draft::description::Database;
use crate::schema_draft::existing::Existing;
use crate::schema_file::error::SchemaError;

/// The text of a schema file for a database. The same description has the same text.
pub(crate) fn draft(database: &Database) -> String {
    file::write(&model(database, &Existing::default()))
}

/// The text of a schema file with the declarations that a draft has and the file lacks, and with marks at declarations that the database
/// does not have any more. Fails if the text is no schema file.
pub(crate) fn updated(text: &str, database: &Database) -> Result<String, SchemaError> {
    let existing = Existing::read(text)?;
    Ok(update::update(text, &existing, database, &model(database, &existing)))
}

#[cfg(test)]
mod tests;
