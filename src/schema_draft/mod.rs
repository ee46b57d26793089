//! A schema file that fits a database: a type for each table with a key, objects by its foreign keys, and searches, sort orders and
//! connections that an index serves. What is left out stands there as a comment, with its reason and the index that would bring it.
//!
//! - [`declared_key`]: keys that PostgreSQL does not know; [`view_orders`]: the orders of relations with such keys
//! - `names`: names in GraphQL's style; `scalars`: the scalars of columns
//! - `missing_index`: what is left out, and the index that would bring it
//! - `model`: what the file declares; `build`, `joins` decide it
//! - `file`: its text
//! - `existing`, `sdl_text`, `update`: the declarations of a file, their places, and the additions

mod build;
pub(crate) mod declared_key;
mod existing;
mod file;
mod joins;
mod missing_index;
mod model;
mod names;
mod scalars;
mod sdl_text;
mod update;
pub(crate) mod view_orders;

use crate::relations::description::DatabaseDescription;
use crate::schema_draft::build::model;
use crate::schema_draft::existing::Existing;
use crate::schema_file::error::SchemaError;

/// The text of a schema file for a database. The same description has the same text.
pub(crate) fn draft(database: &DatabaseDescription) -> String {
    file::write(&model(database, &Existing::default()))
}

/// The statements that make the indexes that a draft lacks for lists and objects, for searches and orders, or for all of them.
pub(crate) fn missing_indexes(database: &DatabaseDescription, of_lists: bool, of_searches: bool) -> String {
    let model = model(database, &Existing::default());
    model.missing_indexes(of_lists, of_searches).iter().flat_map(|statement| [*statement, "\n"]).collect()
}

/// The text of a schema file with the declarations that a draft has and the file lacks, and with marks at declarations that the database
/// does not have any more, and without marks and missing indexes that are there again. Fails if the text is no schema file.
pub(crate) fn updated(text: &str, database: &DatabaseDescription) -> Result<String, SchemaError> {
    let existing = Existing::read(text)?;
    Ok(update::update(text, &existing, database, &model(database, &existing)))
}

#[cfg(test)]
mod tests;
