//! Operations have distinct names, and an operation without a name is the only one.
//!
//! GraphQL specification, sections 5.2.2.1 (Operation Name Uniqueness) and 5.2.3.1 (Lone Anonymous Operation).

use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::name_map::NameMap;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let are_several = index.operations().nth(1).is_some();
    let mut first = NameMap::new();
    for (_, operation) in index.operations() {
        match operation.name {
            None if are_several => violations.add(&Violation::AnonymousOperationNotAlone, [operation.location]),
            None => {}
            Some(name) => {
                if let Some(before) = first.insert(name, operation.location) {
                    violations.add(&Violation::DuplicateOperation(name.into()), [operation.location, before]);
                }
            }
        }
    }
}
