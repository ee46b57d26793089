//! Of an object something is selected, of a scalar or enum nothing. (Section 5.3.3, Leaf Field Selections)

use crate::catalog::Catalog;
use crate::catalog::schema::{ObjectType, Type};
use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for selected in &survey.fields {
        let Some(ty) = selected.ty.map(|ty| survey.catalog.get(ty)) else { continue };
        let named = || (selected.field.name.into(), ty.name().to_owned());
        let violation = match (ty, selected.field.selection_set.items.is_empty()) {
            (Type::Object(object), true) => {
                let (field, ty) = named();
                Violation::NothingSelected { field, ty, such_as: example(survey.catalog, object) }
            }
            (Type::Scalar(_) | Type::Enum(_), false) => {
                let (field, ty) = named();
                Violation::SelectionOfLeaf { field, ty }
            }
            (Type::Object(_), false) | (Type::Scalar(_) | Type::Enum(_), true) => continue,
        };
        findings.add(&violation, [location(selected.field.position)]);
    }
}

/// A selection that the type takes: its first leaf, or a connection's nodes.
fn example(catalog: &Catalog, object: &ObjectType) -> Option<String> {
    let leaf = |object: &ObjectType| {
        let is_leaf = |ty| !matches!(catalog.get(ty), Type::Object(_));
        object.fields.iter().find(|field| is_leaf(field.ty.named())).map(|field| field.name.clone())
    };
    let inner = |object: &ObjectType, name: &str| {
        let place = object.field_index(name)?;
        catalog.object(object.field(place).ty.named())
    };
    leaf(object).or_else(|| {
        let node = inner(inner(object, "edges")?, "node")?;
        leaf(node).map(|leaf| format!("edges {{ node {{ {leaf} }} }}"))
    })
}
