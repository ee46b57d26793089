//! The types of variables fit their usages.
//!
//! GraphQL specification, section 5.8.5 (All Variable Usages Are Allowed).

use graphql_parser::query::Value;

use crate::catalog::schema::TypeRef;
use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for (number, operation) in index.operations() {
        if operation.variables.is_empty() {
            continue;
        }
        let reachable = index.reachable_from(number);
        for variable in &operation.variables {
            let default = variable.definition.default_value.as_ref();
            let has_default = default.is_some_and(|value| *value != Value::Null);
            let Some(ty) = &variable.ty else { continue };
            let usages = reachable
                .iter()
                .filter_map(|definition| index.definitions[*definition].variable_usages.get(variable.definition.name));
            for usage in usages.flatten().map(|usage| &index.variable_usages[*usage]) {
                let Some(expected) = usage.expected else { continue };
                if violations.is_full() || is_usage_allowed(ty, has_default, expected) {
                    continue;
                }
                let violation = Violation::WrongVariableType {
                    variable: usage.name.into(),
                    ty: ty.display(index.catalog),
                    expected: expected.display(index.catalog),
                };
                violations.add(&violation, [usage.location(index), location(variable.definition.position)]);
            }
        }
    }
}

/// The specification's `IsVariableUsageAllowed`. A nullable variable with a default is allowed where non-null is
/// expected; the binder rejects a null value.
fn is_usage_allowed(variable: &TypeRef, has_default: bool, expected: &TypeRef) -> bool {
    match expected {
        TypeRef::NonNull(inner) if has_default && !variable.is_non_null() => are_compatible(variable, inner),
        TypeRef::Named(_) | TypeRef::List(_) | TypeRef::NonNull(_) => are_compatible(variable, expected),
    }
}

/// The specification's `AreTypesCompatible`.
fn are_compatible(variable: &TypeRef, expected: &TypeRef) -> bool {
    match (variable, expected) {
        (TypeRef::NonNull(variable), TypeRef::NonNull(expected))
        | (TypeRef::List(variable), TypeRef::List(expected)) => are_compatible(variable, expected),
        (TypeRef::NonNull(variable), TypeRef::Named(_) | TypeRef::List(_)) => are_compatible(variable, expected),
        (TypeRef::Named(variable), TypeRef::Named(expected)) => variable == expected,
        (TypeRef::Named(_), TypeRef::List(_) | TypeRef::NonNull(_))
        | (TypeRef::List(_), TypeRef::Named(_) | TypeRef::NonNull(_)) => false,
    }
}
