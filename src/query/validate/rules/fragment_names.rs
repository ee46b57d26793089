//! Fragments have names of their own, and one that is spread is defined.
//! (Sections 5.5.1.1, Fragment Name Uniqueness, and 5.5.2.1, Fragment Spread Target Defined)

use std::collections::{BTreeSet, HashMap};

use crate::nearest::suggestions;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let mut first = HashMap::new();
    for (fragment, name, _) in survey.fragments() {
        if let Some(before) = first.insert(name, fragment.location) {
            findings.add(&Violation::RepeatedFragment(name.into()), [fragment.location, before]);
        }
    }
    for spread in survey.spreads.iter().filter(|spread| spread.target.is_none()) {
        if findings.is_full() {
            break;
        }
        // Names of the document, which may have thousands: proposals are made of the first hundred.
        let known: BTreeSet<_> = survey.fragments().map(|(_, name, _)| name).take(100).collect();
        let meant = suggestions(spread.name, known).into_iter().collect();
        findings.add(&Violation::UnknownFragment { fragment: spread.name.into(), meant }, [spread.location]);
    }
}
