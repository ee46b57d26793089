//! Arguments are declared by their field or directive, and given once.
//!
//! GraphQL specification, sections 5.4.1 (Argument Names) and 5.4.2 (Argument Uniqueness).

use crate::nearest::suggestions;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::name_map::NameMap;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for list in &index.argument_lists {
        let location = |argument| index.document.argument_location(list.position, argument);
        let mut given = NameMap::new();
        for (argument, (name, _)) in list.given.iter().enumerate() {
            if violations.is_full() {
                return;
            }
            if let Some(before) = given.insert(name, argument) {
                let violation = Violation::DuplicateArgument((*name).into());
                violations.add(&violation, [argument, before].map(location));
            }
            let Some(declared) = list.declared else { continue };
            if list.declaration(name).is_some() {
                continue;
            }
            let violation = Violation::UnknownArgument {
                argument: (*name).into(),
                owner: list.owner.describe(index.catalog),
                suggestions: suggestions(name, declared.iter().map(|argument| argument.name.as_str())).into(),
                allowed: declared.iter().map(|argument| argument.name.clone()).collect(),
            };
            violations.add(&violation, [location(argument)]);
        }
    }
}
