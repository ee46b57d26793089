//! Fragments are spread by an operation, directly or through others.
//!
//! GraphQL specification, section 5.5.1.4 (Fragments Must Be Used).

use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let mut used = vec![false; index.definitions.len()];
    for definition in index.reachable_from(index.operations().map(|(operation, _)| operation)) {
        used[definition] = true;
    }
    for (number, definition) in index.definitions.iter().enumerate() {
        let (DefinitionKind::Fragment(_), Some(name)) = (&definition.kind, definition.name) else { continue };
        // Spreads refer to the first of several fragments with the same name. The others count as used with it.
        let first = index.fragment(name).unwrap_or(number);
        if !used[first] {
            violations.add(&Violation::UnusedFragment(name.into()), [definition.location]);
        }
    }
}
