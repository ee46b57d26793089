//! The types of variables fit their usages.
//!
//! GraphQL specification, section 5.8.5 (All Variable Usages Are Allowed).

use graphql_parser::query::Value;

use crate::catalog::schema::TypeRef;
use crate::query::parse::document::location;
use crate::query::validate::document_index::{DeclaredVariable, DocumentIndex};
use crate::query::validate::name_map::NameMap;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for (number, operation) in index.operations() {
        if operation.variables.is_empty() {
            continue;
        }
        let declared: NameMap<'_, _> =
            operation.variables.iter().map(|variable| (variable.definition.name, variable)).collect();
        for definition in index.reachable_from([number]) {
            for (name, usages) in &index.definitions[definition].variable_usages {
                if !index.work.add(usages.len()) {
                    return;
                }
                let Some(variable) = declared.get(name) else { continue };
                check_usages(index, variable, usages, violations);
            }
        }
    }
}

/// Checks the usages of a variable in one definition.
fn check_usages(
    index: &DocumentIndex<'_, '_>,
    variable: &DeclaredVariable<'_, '_>,
    usages: &[usize],
    violations: &mut Violations,
) {
    let default = variable.definition.default_value.as_ref();
    let has_default = default.is_some_and(|value| *value != Value::Null);
    let Some(ty) = &variable.ty else { return };
    for usage in usages.iter().map(|usage| &index.variable_usages[*usage]) {
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
