//! The effects of a change of a schema file on the operations of its clients, and on the schema itself. Without a database.
//!
//! - [`schema`]: the compared schemas and the caller
//! - [`facts`]: what a schema file says of each of its parts
//! - `part`: the names of these parts
//! - `fact_reader`: makes them of a catalog
//! - [`schema_change`]: the parts whose facts differ
//! - `usage`: the parts of a schema that an operation uses
//! - `assignment`: values that the variables of an operation can have
//! - [`assessment`]: what an operation costs at least and at most, and whether it is refused
//! - [`change`]: what changes for an operation, by class
//! - `operation_diff`: finds it
//! - [`corrected`]: a broken operation as the new schema answers it

pub(crate) mod assessment;
mod assignment;
pub(crate) mod change;
pub(crate) mod corrected;
mod fact_reader;
pub(crate) mod facts;
mod operation_diff;
mod part;
pub(crate) mod schema;
pub(crate) mod schema_change;
mod usage;

use crate::catalog::Catalog;
use crate::documents::document::{OperationDocument, Place};
use crate::error::graphql_error::GraphqlErrors;
use crate::limits::Limits;
use crate::schema_diff::assessment::assess;
use crate::schema_diff::change::{Change, Class};
use crate::schema_diff::corrected::{CorrectedAnswer, corrected};
use crate::schema_diff::operation_diff::Judgement;
use crate::schema_diff::schema::{DiffCaller, Schema};
use crate::schema_diff::schema_change::{SchemaChange, schema_changes};

/// An operation for which something changes.
#[derive(Debug, Clone)]
pub(crate) struct OperationDiff {
    /// Its name, if it has one.
    pub(crate) operation: Option<String>,
    /// The place where it begins.
    pub(crate) place: Place,
    /// The changes, in the order of the classes. Never empty.
    pub(crate) changes: Vec<Change>,
    /// The operation to send instead, if it breaks and its errors can be corrected.
    pub(crate) corrected: Option<CorrectedAnswer>,
}

/// An operation that neither schema answers.
#[derive(Debug, Clone)]
pub(crate) struct NotValid {
    /// Its name, if it has one.
    pub(crate) operation: Option<String>,
    /// The place where it begins.
    pub(crate) place: Place,
    /// The errors with the new schema.
    pub(crate) errors: GraphqlErrors,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Diff {
    /// The operations for which something changes, in the order of the documents.
    pub(crate) operations: Vec<OperationDiff>,
    /// The changes of the schema.
    pub(crate) schema: Vec<SchemaChange>,
    /// The operations that neither schema answers.
    pub(crate) not_valid: Vec<NotValid>,
}

impl Diff {
    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.schema.is_empty()
    }

    /// Whether an operation breaks, changes silently, or becomes more expensive by more than this many percent.
    pub(crate) fn is_unacceptable(&self, max_increase: Option<u32>) -> bool {
        self.operations.iter().flat_map(|operation| &operation.changes).any(|change| match change {
            Change::Breaks { .. } | Change::ChangesSilently { .. } => true,
            Change::MoreExpensive(price) => max_increase.is_some_and(|percent| price.rises_beyond(percent)),
            Change::Deprecated { .. } | Change::LessExpensive(_) | Change::MoreWork { .. } | Change::ValidNow => false,
        })
    }
}

pub(crate) fn diff(old: &Schema, new: &Schema, documents: &[OperationDocument], caller: &DiffCaller) -> Diff {
    let mut diff = Diff { schema: schema_changes(&old.facts, &new.facts), ..Diff::default() };
    for document in documents {
        let (operation, place) = (document.operation.clone(), document.start());
        match operation_diff::judge(old, new, document, caller) {
            Judgement::Changes(changes) if changes.is_empty() => {}
            Judgement::Changes(changes) => {
                let breaks = changes.iter().any(|change| change.class() == Class::Breaks);
                let corrected = breaks.then(|| corrected(&new.catalog, document, &caller.limits)).flatten();
                diff.operations.push(OperationDiff { operation, place, changes, corrected });
            }
            Judgement::NotValid(errors) => diff.not_valid.push(NotValid { operation, place, errors }),
        }
    }
    diff
}

/// Why a schema refuses an operation, whoever sends it; `None` if there are values of its variables with which it does not.
pub(crate) fn refusal(catalog: &Catalog, document: &OperationDocument) -> Option<GraphqlErrors> {
    match assess(catalog, &document.request(), &Limits::UNLIMITED) {
        Ok(assessment) => assessment.refused,
        Err(errors) => Some(errors),
    }
}

#[cfg(test)]
mod tests;
