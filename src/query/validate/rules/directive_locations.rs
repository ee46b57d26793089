//! Directives exist, and are allowed at their location, once.
//!
//! GraphQL specification, sections 5.7.1 (Directives Are Defined), 5.7.2 (Directives Are in Valid Locations) and 5.7.3
//! (Directives Are Unique per Location).

use crate::catalog::Catalog;
use crate::nearest::suggestions;
use crate::query::document_limits::MAX_DIRECTIVES;
use crate::query::parse::document::location;
use crate::query::validate::directives::{self, DirectiveLocation};
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::name_map::NameMap;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    // Another rule reports locations with too many directives. One error is enough for them.
    for (directive_location, directives) in index.directives.iter().filter(|(_, list)| list.len() <= MAX_DIRECTIVES) {
        let mut first = NameMap::new();
        for directive in *directives {
            let here = location(directive.position);
            if let Some(violation) = violation(index.catalog, directive.name, *directive_location) {
                violations.add(&violation, [here]);
            } else if let Some(before) = first.insert(directive.name, here) {
                violations.add(&Violation::DuplicateDirective(directive.name.into()), [here, before]);
            }
        }
    }
    for (name, here) in &index.document.omissions.variable_directives {
        if let Some(violation) = violation(index.catalog, name, DirectiveLocation::VariableDefinition) {
            violations.add(&violation, [*here]);
        }
    }
}

fn violation(catalog: &Catalog, name: &str, location: DirectiveLocation) -> Option<Violation> {
    let Some(directive) = directives::named(catalog, name) else {
        let suggestions = suggestions(name, directives::executable_names(catalog)).into();
        return Some(Violation::UnknownDirective { directive: name.into(), suggestions });
    };
    let misplaced = || Violation::MisplacedDirective { directive: name.into(), location: location.describe() };
    (!location.allows(directive)).then(misplaced)
}
