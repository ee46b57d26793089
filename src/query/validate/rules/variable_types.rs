//! Variables have input types: scalars, enums and lists of them.
//!
//! GraphQL specification, section 5.8.2 (Variables Are Input Types).

use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for variable in index.definitions.iter().flat_map(|definition| &definition.variables) {
        let ty = index.catalog.named(variable.type_name);
        if ty.is_some_and(|id| index.catalog.object(id).is_some()) {
            let violation = Violation::VariableNotInput {
                variable: variable.definition.name.into(),
                ty: variable.type_name.into(),
            };
            violations.add(&violation, [location(variable.definition.position)]);
        }
    }
}
