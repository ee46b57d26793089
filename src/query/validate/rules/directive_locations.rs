//! A directive is known, stands where it may, and stands there once.
//! (Sections 5.7.1, Directives Are Defined, 5.7.2, Directives Are in Valid Locations, and 5.7.3, Directives Are Unique
//! per Location)

use crate::nearest::suggestions;
use crate::query::parse::document::location;
use crate::query::validate::directives::{self, DirectiveLocation};
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::names::ByName;
use crate::query::validate::rules::bounds::MOST_DIRECTIVES;
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    // Of a place with too many, that is enough to say.
    for (place, directives) in survey.directives.iter().filter(|(_, list)| list.len() <= MOST_DIRECTIVES) {
        let mut first = ByName::new();
        for directive in *directives {
            let here = location(directive.position);
            if let Some(violation) = violation(directive.name, *place) {
                findings.add(&violation, [here]);
            } else if let Some(before) = first.insert(directive.name, here) {
                findings.add(&Violation::RepeatedDirective(directive.name.into()), [here, before]);
            }
        }
    }
    for (name, here) in &survey.document.omissions.variable_directives {
        if let Some(violation) = violation(name, DirectiveLocation::Variable) {
            findings.add(&violation, [*here]);
        }
    }
}

fn violation(name: &str, place: DirectiveLocation) -> Option<Violation> {
    if !directives::is_known(name) {
        let meant = suggestions(name, directives::CONDITIONS).into_iter().collect();
        return Some(Violation::UnknownDirective { directive: name.into(), meant });
    }
    let may_stand = directives::CONDITIONS.contains(&name) && place.takes_conditions();
    (!may_stand).then(|| Violation::MisplacedDirective { directive: name.into(), place: place.describe() })
}
