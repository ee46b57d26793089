//! Selected fields exist.
//!
//! GraphQL specification, section 5.3.1 (Field Selections).

use crate::nearest::suggestions;
use crate::query::parse::document::location;
use crate::query::validate::document_index::{DocumentIndex, TYPE_NAME};
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for selected in &index.fields {
        // The fields of an unknown type are unknown too, and no errors of their own.
        let (Some(parent), None) = (selected.parent, selected.ty) else { continue };
        let Some(object) = index.catalog.object(parent).filter(|_| !violations.is_full()) else { continue };
        let names = object.fields.iter().chain(&object.meta_fields).map(|field| field.name.as_str()).chain([TYPE_NAME]);
        let violation = Violation::UnknownField {
            field: selected.field.name.into(),
            ty: object.name.clone(),
            suggestions: suggestions(selected.field.name, names).into(),
        };
        violations.add(&violation, [location(selected.field.position)]);
    }
}
