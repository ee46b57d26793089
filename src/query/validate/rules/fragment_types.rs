//! A fragment is on a type with fields, and is spread where an object of that type can be.
//! (Sections 5.5.1.3, Fragments on Object, Interface or Union Types, and 5.5.2.3, Fragment Spread Is Possible)

use crate::catalog::ids::TypeId;
use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::{Findings, Truncated, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let catalog = survey.catalog;
    let is_leaf = |ty: &str| catalog.named(ty).is_some_and(|id| catalog.object(id).is_none());
    for (fragment, name, ty) in survey.fragments() {
        if is_leaf(ty) {
            let violation = Violation::FragmentOnLeaf { fragment: Some(name.into()), ty: ty.into() };
            findings.add(&violation, [fragment.location]);
        }
    }
    for inline in &survey.inline_fragments {
        let Some(ty) = inline.condition else { continue };
        if is_leaf(ty) {
            findings.add(&Violation::FragmentOnLeaf { fragment: None, ty: ty.into() }, [inline.location]);
        } else if let Some(violation) = impossible(survey, None, ty, inline.parent) {
            findings.add(&violation, [inline.location]);
        }
    }
    for spread in &survey.spreads {
        let Some(DefinitionKind::Fragment(ty)) = spread.target.map(|target| &survey.definitions[target].kind) else {
            continue;
        };
        if let Some(violation) = impossible(survey, Some(spread.name.into()), ty, spread.parent) {
            findings.add(&violation, [spread.location]);
        }
    }
}

/// Types with fields are all objects, so a fragment is possible in its own type alone.
fn impossible(
    survey: &DocumentIndex<'_, '_>,
    fragment: Option<Truncated>,
    ty: &str,
    parent: Option<TypeId>,
) -> Option<Violation> {
    let catalog = survey.catalog;
    let (id, parent) = (catalog.named(ty)?, parent?);
    let is_object = catalog.object(id).is_some();
    (is_object && id != parent).then(|| Violation::ImpossibleSpread {
        fragment,
        ty: ty.to_owned(),
        parent: catalog.get(parent).name().to_owned(),
    })
}
