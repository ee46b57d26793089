//! A field that is selected is one of its type's. (Section 5.3.1, Field Selections)

use crate::nearest::suggestions;
use crate::query::parse::document::location;
use crate::query::validate::document_index::{DocumentIndex, TYPE_NAME};
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for selected in &survey.fields {
        // Of an unknown type nothing can be said, and a type that was found has a known parent.
        let (Some(parent), None) = (selected.parent, selected.ty) else { continue };
        let Some(object) = survey.catalog.object(parent).filter(|_| !findings.is_full()) else { continue };
        let known = object.fields.iter().chain(&object.meta_fields).map(|field| field.name.as_str()).chain([TYPE_NAME]);
        let violation = Violation::UnknownField {
            field: selected.field.name.into(),
            ty: object.name.clone(),
            meant: suggestions(selected.field.name, known).into_iter().collect(),
        };
        findings.add(&violation, [location(selected.field.position)]);
    }
}
