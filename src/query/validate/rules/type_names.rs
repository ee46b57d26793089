//! A type that is named exists. (Section 5.5.1.2, Fragment Spread Type Existence; and of variables, 5.8.2)

use crate::nearest::suggestions;
use crate::query::parse::document::location;
use crate::query::validate::document_index::{DocumentIndex, input_names, object_names};
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let catalog = survey.catalog;
    let inline = survey.inline_fragments.iter().filter_map(|inline| Some((inline.condition?, inline.location)));
    let named = survey.fragments().map(|(fragment, _, ty)| (ty, fragment.location));
    for (ty, place) in inline.chain(named) {
        if catalog.named(ty).is_none() && !findings.is_full() {
            let meant = suggestions(ty, object_names(catalog)).into_iter().collect();
            findings.add(&Violation::UnknownType { ty: ty.into(), meant }, [place]);
        }
    }
    for variable in survey.definitions.iter().flat_map(|definition| &definition.variables) {
        if catalog.named(variable.named).is_none() && !findings.is_full() {
            let meant = suggestions(variable.named, input_names(catalog)).into_iter().collect();
            let violation = Violation::UnknownType { ty: variable.named.into(), meant };
            findings.add(&violation, [location(variable.definition.position)]);
        }
    }
}
