//! Fields of input objects are given once.
//!
//! GraphQL specification, section 5.6.3 (Input Object Field Uniqueness).
//!
//! The schema has no input objects, so a document with one violates another rule too. The client learns of both.

use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for (name, [first, second]) in &index.document.omissions.duplicate_input_fields {
        violations.add(&Violation::DuplicateInputField((*name).into()), [*second, *first]);
    }
}
