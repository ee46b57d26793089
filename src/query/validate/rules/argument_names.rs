//! An argument is one that its field or directive has, and is given once.
//! (Sections 5.4.1, Argument Names, and 5.4.2, Argument Uniqueness)

use super::describe;
use crate::nearest::suggestions;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::names::ByName;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for arguments in &survey.arguments {
        let mut given = ByName::new();
        for (number, (name, _)) in arguments.given.iter().enumerate() {
            if findings.is_full() {
                return;
            }
            if let Some(before) = given.insert(name, number) {
                let places =
                    [number, before].map(|number| survey.document.argument_location(arguments.position, number));
                findings.add(&Violation::RepeatedArgument((*name).into()), places);
            }
            let Some(slots) = arguments.slots else { continue };
            if arguments.slot(name).is_some() {
                continue;
            }
            let violation = Violation::UnknownArgument {
                argument: (*name).into(),
                holder: describe(survey.catalog, arguments.holder),
                meant: suggestions(name, slots.iter().map(|slot| slot.name.as_str())).into_iter().collect(),
                allowed: slots.iter().map(|slot| slot.name.clone()).collect(),
            };
            findings.add(&violation, [survey.document.argument_location(arguments.position, number)]);
        }
    }
}
