//! Fragments have distinct names, and spread ones are defined.
//!
//! GraphQL specification, sections 5.5.1.1 (Fragment Name Uniqueness) and 5.5.2.1 (Fragment Spread Target Defined).

use std::collections::{BTreeSet, HashMap};

use crate::nearest::suggestions;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

/// How many fragments are compared with an unknown name. A document can have thousands.
const MAX_COMPARED: usize = 100;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let mut first = HashMap::new();
    for (fragment, name, _) in index.fragments() {
        if let Some(before) = first.insert(name, fragment.location) {
            violations.add(&Violation::DuplicateFragment(name.into()), [fragment.location, before]);
        }
    }
    for spread in index.fragment_spreads.iter().filter(|spread| spread.target.is_none()) {
        if violations.is_full() {
            break;
        }
        let names: BTreeSet<_> = index.fragments().map(|(_, name, _)| name).take(MAX_COMPARED).collect();
        let suggestions = suggestions(spread.name, names).into();
        violations.add(&Violation::UnknownFragment { fragment: spread.name.into(), suggestions }, [spread.location]);
    }
}
