//! A fragment is spread by an operation, perhaps through others. (Section 5.5.1.4, Fragments Must Be Used)

use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let mut used = vec![false; survey.definitions.len()];
    for (operation, _) in survey.operations() {
        for reached in survey.reached(operation) {
            used[reached] = true;
        }
    }
    for (place, definition) in survey.definitions.iter().enumerate() {
        let (DefinitionKind::Fragment(_), Some(name)) = (&definition.kind, definition.name) else { continue };
        // One of two fragments of one name is used as well as the other.
        let stands_for = survey.fragment(name).unwrap_or(place);
        if !used[stands_for] {
            findings.add(&Violation::UnusedFragment(name.into()), [definition.location]);
        }
    }
}
