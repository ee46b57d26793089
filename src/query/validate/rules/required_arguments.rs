//! Non-null arguments without a default are given.
//!
//! GraphQL specification, section 5.4.3 (Required Arguments).

use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for list in &index.argument_lists {
        let required = list.declared.unwrap_or_default().iter();
        let required = required.filter(|argument| argument.ty.is_non_null() && argument.default.is_none());
        for argument in required.filter(|argument| !list.given.iter().any(|(name, _)| *name == argument.name)) {
            let violation = Violation::MissingArgument {
                argument: argument.name.clone(),
                owner: list.owner.describe(index.catalog),
                ty: argument.ty.display(index.catalog),
            };
            violations.add(&violation, [location(list.position)]);
        }
    }
}
