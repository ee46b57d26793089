//! Fragments are on types with fields, and are spread where an object of that type is possible.
//!
//! GraphQL specification, sections 5.5.1.3 (Fragments on Object, Interface or Union Types) and 5.5.2.3 (Fragment Spread
//! Is Possible).

use crate::catalog::ids::TypeId;
use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let catalog = index.catalog;
    let is_leaf = |ty: &str| catalog.named(ty).is_some_and(|id| catalog.object(id).is_none());
    for (fragment, name, ty) in index.fragments() {
        if is_leaf(ty) {
            let violation = Violation::FragmentOnLeaf { fragment: name.into(), ty: ty.into() };
            violations.add(&violation, [fragment.location]);
        }
    }
    for fragment in &index.inline_fragments {
        let Some(ty) = fragment.type_condition else { continue };
        if is_leaf(ty) {
            violations.add(&Violation::InlineFragmentOnLeaf { ty: ty.into() }, [fragment.location]);
        } else if let Some(parent) = impossible_parent(index, ty, fragment.parent) {
            let violation = Violation::ImpossibleInlineFragment { ty: ty.to_owned(), parent };
            violations.add(&violation, [fragment.location]);
        }
    }
    for spread in &index.fragment_spreads {
        let Some(DefinitionKind::Fragment(ty)) = spread.target.map(|target| &index.definitions[target].kind) else {
            continue;
        };
        if let Some(parent) = impossible_parent(index, ty, spread.parent) {
            let violation = Violation::ImpossibleSpread { fragment: spread.name.into(), ty: (*ty).to_owned(), parent };
            violations.add(&violation, [spread.location]);
        }
    }
}

/// The name of the parent type, if a fragment on `ty` cannot apply to it. All types with fields are objects, so a
/// fragment applies to its own type only.
fn impossible_parent(index: &DocumentIndex<'_, '_>, ty: &str, parent: Option<TypeId>) -> Option<String> {
    let catalog = index.catalog;
    let (id, parent) = (catalog.named(ty)?, parent?);
    let is_object = catalog.object(id).is_some();
    (is_object && id != parent).then(|| catalog.get(parent).name().to_owned())
}
