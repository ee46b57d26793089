//! The variables of an operation have distinct names. The operation and the fragments that it spreads use declared
//! variables only, and use all of them.
//!
//! GraphQL specification, sections 5.8.1 (Variable Uniqueness), 5.8.3 (All Variable Uses Defined) and 5.8.4 (All
//! Variables Used).

use crate::error::graphql_error::Location;
use crate::query::parse::document::location;
use crate::query::validate::document_index::{DocumentIndex, IndexedDefinition};
use crate::query::validate::name_map::NameMap;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for (number, operation) in index.operations() {
        if violations.is_full() || index.work.is_too_much() {
            break;
        }
        let mut declared = declared(operation, violations);
        let operation_name = || operation.name.map(Into::into);
        for definition in index.reachable_from([number]) {
            let usages = &index.definitions[definition].variable_usages;
            if !index.work.add(usages.len()) {
                return;
            }
            for (variable, usages) in usages {
                if let Some(declared) = declared.get_mut(variable) {
                    declared.is_used = true;
                    continue;
                }
                for usage in usages.iter().map(|usage| &index.variable_usages[*usage]) {
                    if violations.is_full() {
                        return;
                    }
                    let violation = Violation::UndefinedVariable {
                        variable: (*variable).into(),
                        operation: operation_name(),
                        expected: usage.expected.map(|expected| expected.display(index.catalog)),
                    };
                    violations.add(&violation, [usage.location(index), operation.location]);
                }
            }
        }
        for variable in operation.variables.iter().map(|variable| variable.definition) {
            if declared.get(variable.name).is_some_and(|declared| !declared.is_used) {
                let violation =
                    Violation::UnusedVariable { variable: variable.name.into(), operation: operation_name() };
                violations.add(&violation, [location(variable.position)]);
            }
        }
    }
}

struct Declared {
    location: Location,
    is_used: bool,
}

/// The variables that an operation declares, by name. Reports duplicates.
fn declared<'a>(operation: &IndexedDefinition<'_, 'a>, violations: &mut Violations) -> NameMap<'a, Declared> {
    let mut declared = NameMap::new();
    for variable in operation.variables.iter().map(|variable| variable.definition) {
        let here = location(variable.position);
        if let Some(before) = declared.insert(variable.name, Declared { location: here, is_used: false }) {
            violations.add(&Violation::DuplicateVariable(variable.name.into()), [here, before.location]);
        }
    }
    declared
}
