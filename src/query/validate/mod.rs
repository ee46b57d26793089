//! Whether a document is valid against the catalog: a rule a file, then the merged operation.
//!
//! - `survey`: every place of a document that rules speak of, with the type that the catalog gives it
//! - `rules`: the rules, in order; what they find is a `violation` each
//! - `choose`: which operation is meant
//! - `merge`: the operation, its fragments spread
//! - `names`: what is known by name, for all of these

mod choose;
mod directives;
mod merge;
mod names;
mod rules;
mod document_index;
mod violation;

use crate::catalog::Catalog;
use crate::error::graphql_error::GraphqlErrors;
use crate::query::operation::Operation;
use crate::query::parse::document::Document;

/// Holds a document against every rule, then merges the operation of that name (or the only one).
pub fn validate(catalog: &Catalog, document: &Document<'_>, name: Option<&str>) -> Result<Operation, GraphqlErrors> {
    GraphqlErrors::check(rules::check(catalog, document))?;
    let operation = choose::choose(document, name)?;
    merge::merge(catalog, document, operation)
}
