//! Named types exist.
//!
//! GraphQL specification, sections 5.5.1.2 (Fragment Spread Type Existence) and 5.8.2 (Variables Are Input Types).

use crate::catalog::Catalog;
use crate::catalog::schema::Type;
use crate::nearest::suggestions;
use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let catalog = index.catalog;
    let inline = index.inline_fragments.iter();
    let inline = inline.filter_map(|fragment| Some((fragment.type_condition?, fragment.location)));
    let named = index.fragments().map(|(fragment, _, ty)| (ty, fragment.location));
    for (ty, location) in inline.chain(named) {
        if catalog.named(ty).is_none() && !violations.is_full() {
            let suggestions = suggestions(ty, object_names(catalog)).into();
            violations.add(&Violation::UnknownType { ty: ty.into(), suggestions }, [location]);
        }
    }
    for variable in index.definitions.iter().flat_map(|definition| &definition.variables) {
        if catalog.named(variable.type_name).is_none() && !violations.is_full() {
            let suggestions = suggestions(variable.type_name, input_names(catalog)).into();
            let violation = Violation::UnknownType { ty: variable.type_name.into(), suggestions };
            violations.add(&violation, [location(variable.definition.position)]);
        }
    }
}

/// The names of the types that a fragment can be on.
fn object_names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.types().iter().filter_map(Type::as_object).map(|object| object.name.as_str())
}

/// The names of the types that a variable can have.
fn input_names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.types().iter().filter(|ty| ty.as_object().is_none()).map(Type::name)
}
