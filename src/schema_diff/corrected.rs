//! The text of a broken operation after the corrections that its errors allow.

use serde_json::Value;

use crate::catalog::Catalog;
use crate::correction::attempt::CorrectionAttempt;
use crate::documents::document::{OperationDocument, Place};
use crate::error::graphql_error::{GraphqlErrors, Location};
use crate::limits::Limits;
use crate::query::Request;
use crate::schema_diff::assessment::assess;

/// The operation that a schema accepts in place of an operation that it refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorrectedAnswer {
    /// The operation with its fragments.
    pub(crate) text: String,
    /// The lines that are other ones, without the spaces around them; one that is empty is to be left out.
    pub(crate) lines: Vec<(Place, String)>,
}

/// The corrected operation, if there is one that the schema answers whatever its variables are.
pub(super) fn corrected(catalog: &Catalog, document: &OperationDocument, limits: &Limits) -> Option<CorrectedAnswer> {
    let mut attempt = CorrectionAttempt::new(document.request());
    while let Some(errors) = refusal(catalog, attempt.request(), limits) {
        let errors: Vec<Value> = errors.iter().filter_map(|error| serde_json::to_value(error).ok()).collect();
        if !attempt.correct(&errors) {
            return None;
        }
    }
    let text = attempt.request().query.clone();
    Some(CorrectedAnswer { lines: changed_lines(document, &text), text })
}

/// Why a request is refused with some values of its variables.
fn refusal(catalog: &Catalog, request: &Request, limits: &Limits) -> Option<GraphqlErrors> {
    match assess(catalog, request, limits) {
        Ok(assessment) => assessment.refused.or(assessment.refused_for_some),
        Err(errors) => Some(errors),
    }
}

/// Corrections edit lines, and neither add nor remove one.
fn changed_lines(document: &OperationDocument, text: &str) -> Vec<(Place, String)> {
    let lines = (1..).zip(document.text.lines().zip(text.lines()));
    let changed = lines.filter(|(_, (before, after))| before != after);
    changed.map(|(line, (_, after))| (document.place(Location { line, column: 1 }), after.trim().to_owned())).collect()
}
