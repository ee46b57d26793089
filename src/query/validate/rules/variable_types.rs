//! A variable is of a type of inputs: scalars, enums and lists of them. (Section 5.8.2, Variables Are Input Types)

use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for variable in survey.definitions.iter().flat_map(|definition| &definition.variables) {
        let named = survey.catalog.named(variable.named);
        if named.is_some_and(|id| survey.catalog.object(id).is_some()) {
            let violation =
                Violation::VariableNotInput { variable: variable.definition.name.into(), ty: variable.named.into() };
            findings.add(&violation, [location(variable.definition.position)]);
        }
    }
}
