//! Objects have a selection set; scalars and enums have none.
//!
//! GraphQL specification, section 5.3.3 (Leaf Field Selections).

use crate::catalog::Catalog;
use crate::catalog::schema::{ObjectType, Type};
use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for selected in &index.fields {
        let Some(ty) = selected.ty.map(|ty| index.catalog.get(ty)) else { continue };
        let names = || (selected.field.name.into(), ty.name().to_owned());
        let violation = match (ty, selected.field.selection_set.items.is_empty()) {
            (Type::Object(object), true) => {
                let (field, ty) = names();
                Violation::MissingSelectionSet { field, ty, example: example(index.catalog, object) }
            }
            (Type::Scalar(_) | Type::Enum(_), false) => {
                let (field, ty) = names();
                Violation::SelectionSetOnLeaf { field, ty }
            }
            (Type::Object(_), false) | (Type::Scalar(_) | Type::Enum(_), true) => continue,
        };
        violations.add(&violation, [location(selected.field.position)]);
    }
}

/// A selection that the type has: its first scalar or enum field, or such a field of a connection's nodes.
fn example(catalog: &Catalog, object: &ObjectType) -> Option<String> {
    let leaf = |object: &ObjectType| {
        let is_leaf = |ty| catalog.object(ty).is_none();
        object.fields.iter().find(|field| is_leaf(field.ty.named())).map(|field| field.name.clone())
    };
    let field_type = |object: &ObjectType, name: &str| {
        let index = object.field_index(name)?;
        catalog.object(object.field(index).ty.named())
    };
    leaf(object).or_else(|| {
        let node = field_type(field_type(object, "edges")?, "node")?;
        leaf(node).map(|leaf| format!("edges {{ node {{ {leaf} }} }}"))
    })
}
