//! A field of an input object is given once. (Section 5.6.3, Input Object Field Uniqueness)
//!
//! No type of the schema is an input object, so whoever writes one has made another mistake too; this one is told with it.

use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for (name, [first, second]) in &survey.document.omissions.duplicate_input_fields {
        findings.add(&Violation::RepeatedInputField((*name).into()), [*second, *first]);
    }
}
