//! An argument that cannot be null is given. (Section 5.4.3, Required Arguments)

use super::describe;
use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for arguments in &survey.arguments {
        let required = arguments.slots.unwrap_or_default().iter();
        let required = required.filter(|slot| slot.ty.is_non_null() && slot.default.is_none());
        for slot in required.filter(|slot| !arguments.given.iter().any(|(name, _)| *name == slot.name)) {
            let violation = Violation::MissingArgument {
                argument: slot.name.clone(),
                holder: describe(survey.catalog, arguments.holder),
                ty: slot.ty.display(survey.catalog),
            };
            findings.add(&violation, [location(arguments.position)]);
        }
    }
}
