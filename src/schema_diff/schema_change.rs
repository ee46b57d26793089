//! The parts of a schema whose facts differ.

use std::collections::BTreeSet;

use crate::schema_diff::facts::{Aspect, Facts, PartFacts};

/// A part of a schema that is new, gone or another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SchemaChange {
    /// A part that the old schema does not have. Parts of it are not listed.
    Added {
        /// The part, as in `Order.total`.
        part: String,
        /// The facts about it, without descriptions.
        facts: Vec<(Aspect, String)>,
    },
    /// A part that the new schema does not have. Parts of it are not listed.
    Removed {
        /// The part, as in `Order.total`.
        part: String,
    },
    /// Something else is said of a part that both have.
    Changed(FactChange),
}

/// Something that is said of a part, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FactChange {
    /// The part, as in `Order.total`.
    pub(crate) part: String,
    /// The kind of fact that differs.
    pub(crate) aspect: Aspect,
    /// The fact in the old schema; empty for nothing.
    pub(crate) old: String,
    /// The fact in the new schema; empty for nothing.
    pub(crate) new: String,
}

/// The differences, in alphabetical order of the parts. The values of an enum are parts of their own.
pub(super) fn schema_changes(old: &Facts, new: &Facts) -> Vec<SchemaChange> {
    let parts: BTreeSet<&str> = old.parts().chain(new.parts()).map(|(part, _)| part).collect();
    let mut changes = Vec::new();
    for part in parts {
        match (old.of(part), new.of(part)) {
            (Some(before), Some(after)) => {
                let own = fact_changes(part, before, after).filter(|change| change.aspect != Aspect::Values);
                changes.extend(own.map(SchemaChange::Changed));
            }
            (None, Some(facts)) if !is_of_new_part(part, old, new) => {
                let facts = facts.iter().filter(|(aspect, _)| **aspect != Aspect::Description);
                let facts = facts.map(|(aspect, text)| (*aspect, text.clone())).collect();
                changes.push(SchemaChange::Added { part: part.to_owned(), facts });
            }
            (Some(_), None) if !is_of_new_part(part, new, old) => {
                changes.push(SchemaChange::Removed { part: part.to_owned() });
            }
            _ => {}
        }
    }
    changes
}

/// The facts of a part, as far as they differ.
pub(super) fn fact_changes<'a>(
    part: &'a str,
    old: &'a PartFacts,
    new: &'a PartFacts,
) -> impl Iterator<Item = FactChange> + 'a {
    let aspects: BTreeSet<Aspect> = old.keys().chain(new.keys()).copied().collect();
    let text = |facts: &PartFacts, aspect| facts.get(&aspect).cloned().unwrap_or_default();
    let changes = aspects.into_iter().map(move |aspect| {
        let (old, new) = (text(old, aspect), text(new, aspect));
        FactChange { part: part.to_owned(), aspect, old, new }
    });
    changes.filter(|change| change.old != change.new)
}

/// Whether a part belongs to one that only `with` has.
fn is_of_new_part(part: &str, without: &Facts, with: &Facts) -> bool {
    let owner = part.find('(').or_else(|| part.find('.')).map_or("", |end| &part[..end]);
    let is_new = with.of(owner).is_some() && without.of(owner).is_none();
    is_new || owner.contains('.') && is_of_new_part(owner, without, with)
}
