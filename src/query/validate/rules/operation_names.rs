//! Operations have names of their own, and one without a name is alone.
//! (Sections 5.2.2.1, Operation Name Uniqueness, and 5.2.3.1, Lone Anonymous Operation)

use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::names::ByName;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let are_several = survey.operations().nth(1).is_some();
    let mut first = ByName::new();
    for (_, operation) in survey.operations() {
        match operation.name {
            None if are_several => findings.add(&Violation::AnonymousBesideOthers, [operation.location]),
            None => {}
            Some(name) => {
                if let Some(before) = first.insert(name, operation.location) {
                    findings.add(&Violation::RepeatedOperation(name.into()), [operation.location, before]);
                }
            }
        }
    }
}
