//! Variables of an operation have names of their own; what is used is declared, and what is declared is used, in the
//! operation or the fragments that it spreads.
//! (Sections 5.8.1, Variable Uniqueness, 5.8.3, All Variable Uses Defined, and 5.8.4, All Variables Used)

use std::collections::{HashMap, HashSet};

use crate::query::parse::location;
use crate::query::validate::survey::{Definition, Survey};
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &Survey<'_, '_>, findings: &mut Findings) {
    for (place, operation) in survey.operations() {
        if findings.is_full() {
            break;
        }
        let declared = declared(operation, findings);
        let name = || operation.name.map(Into::into);
        let mut used = HashSet::new();
        for reached in survey.reached(place) {
            for (variable, uses) in &survey.definitions[reached].uses {
                used.insert(*variable);
                if declared.contains_key(variable) {
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
            if !used.contains(variable.name) {
                let violation = Violation::UnusedVariable { variable: variable.name.into(), operation: name() };
                findings.add(&violation, [location(variable.position)]);
            }
        }
    }
}

/// The declared variables, by name; those that are declared twice are told.
fn declared<'a>(operation: &Definition<'_, 'a>, findings: &mut Findings) -> HashMap<&'a str, crate::refusal::Location> {
    let mut declared = HashMap::new();
    for variable in operation.variables.iter().map(|variable| variable.definition) {
        let here = location(variable.position);
        if let Some(before) = declared.insert(variable.name, here) {
            findings.add(&Violation::RepeatedVariable(variable.name.into()), [here, before]);
        }
    }
    declared
}
