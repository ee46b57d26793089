//! Validation: checks a document against the catalog, and makes the operation of a valid one.
//!
//! - `document_index`, `index_builder`: the parts of a document that rules examine, with their types
//! - `rules`: the validation rules, a file each
//! - `violation`, `violations`: what rules report
//! - `directives`: the directives that the schema has, and where they are allowed
//! - `get_operation`: the operation of a document that a request asks for
//! - `merge`: document → operation, with fragments spread and fields merged
//! - `name_map`: a map with names as keys
//! - `work`: how much work a document is to check

mod directives;
mod document_index;
mod get_operation;
mod index_builder;
mod merge;
mod name_map;
mod rules;
mod violation;
mod violations;
mod work;

use crate::catalog::Catalog;
use crate::error::graphql_error::GraphqlErrors;
use crate::query::operation::Operation;
use crate::query::parse::document::Document;

/// Checks a document against every rule. Returns the operation with that name, or the only one if `name` is `None`.
/// Fails with all violations, or if there is no such operation.
pub fn validate(catalog: &Catalog, document: &Document<'_>, name: Option<&str>) -> Result<Operation, GraphqlErrors> {
    GraphqlErrors::check(rules::check(catalog, document))?;
    let operation = get_operation::get_operation(document, name)?;
    merge::merge(catalog, document, operation)
}
