//! A variable is used where a value of its type is expected. (Section 5.8.5, All Variable Usages Are Allowed)

use graphql_parser::query::Value;

use crate::catalog::schema::TypeRef;
use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for (place, operation) in survey.operations() {
        if operation.variables.is_empty() {
            continue;
        }
        let reached = survey.reached(place);
        for variable in &operation.variables {
            let default = variable.definition.default_value.as_ref();
            let has_default = default.is_some_and(|value| *value != Value::Null);
            let Some(ty) = &variable.ty else { continue };
            let uses =
                reached.iter().filter_map(|reached| survey.definitions[*reached].uses.get(variable.definition.name));
            for variable_use in uses.flatten().map(|place| &survey.uses[*place]) {
                let Some(expected) = variable_use.expected else { continue };
                if findings.is_full() || allowed(ty, has_default, expected) {
                    continue;
                }
                let violation = Violation::VariableMisfit {
                    variable: variable_use.name.into(),
                    ty: ty.display(survey.catalog),
                    expected: expected.display(survey.catalog),
                };
                let places = [variable_use.location(survey), location(variable.definition.position)];
                findings.add(&violation, places);
            }
        }
    }
}

/// Whether a variable's values fit. One with a default can stand where null may not: null is refused when it comes.
fn allowed(variable: &TypeRef, has_default: bool, expected: &TypeRef) -> bool {
    match expected {
        TypeRef::NonNull(inner) if has_default && !variable.is_non_null() => fits(variable, inner),
        _ => fits(variable, expected),
    }
}

fn fits(variable: &TypeRef, expected: &TypeRef) -> bool {
    match (variable, expected) {
        (TypeRef::NonNull(variable), TypeRef::NonNull(expected))
        | (TypeRef::List(variable), TypeRef::List(expected)) => fits(variable, expected),
        (TypeRef::NonNull(variable), TypeRef::Named(_) | TypeRef::List(_)) => fits(variable, expected),
        (TypeRef::Named(variable), TypeRef::Named(expected)) => variable == expected,
        (TypeRef::Named(_), TypeRef::List(_) | TypeRef::NonNull(_))
        | (TypeRef::List(_), TypeRef::Named(_) | TypeRef::NonNull(_)) => false,
    }
}
