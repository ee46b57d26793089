//! Variables of an operation have names of their own; what is used is declared, and what is declared is used, in the
//! operation or the fragments that it spreads.
//! (Sections 5.8.1, Variable Uniqueness, 5.8.3, All Variable Uses Defined, and 5.8.4, All Variables Used)

use crate::error::graphql_error::Location;
use crate::query::parse::document::location;
use crate::query::validate::document_index::{Definition, DocumentIndex};
use crate::query::validate::names::ByName;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for (place, operation) in survey.operations() {
        if findings.is_full() {
            break;
        }
        let mut declared = declared(operation, findings);
        let name = || operation.name.map(Into::into);
        for reached in survey.reached(place) {
            for (variable, uses) in &survey.definitions[reached].uses {
                if let Some(declared) = declared.get_mut(variable) {
                    declared.is_used = true;
                    continue;
                }
                for variable_use in uses.iter().map(|place| &survey.uses[*place]) {
                    if findings.is_full() {
                        return;
                    }
                    let violation = Violation::UndefinedVariable { variable: (*variable).into(), operation: name() };
                    findings.add(&violation, [variable_use.location(survey), operation.location]);
                }
            }
        }
        for variable in operation.variables.iter().map(|variable| variable.definition) {
            if declared.get(variable.name).is_some_and(|declared| !declared.is_used) {
                let violation = Violation::UnusedVariable { variable: variable.name.into(), operation: name() };
                findings.add(&violation, [location(variable.position)]);
            }
        }
    }
}

/// A variable that an operation declares.
struct Declared {
    location: Location,
    is_used: bool,
}

/// The declared variables, by name; those that are declared twice are told.
fn declared<'a>(operation: &Definition<'_, 'a>, findings: &mut Findings) -> ByName<'a, Declared> {
    let mut declared = ByName::new();
    for variable in operation.variables.iter().map(|variable| variable.definition) {
        let here = location(variable.position);
        if let Some(before) = declared.insert(variable.name, Declared { location: here, is_used: false }) {
            findings.add(&Violation::RepeatedVariable(variable.name.into()), [here, before.location]);
        }
    }
    declared
}
