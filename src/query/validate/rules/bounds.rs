//! Our own bounds, which keep small what stands before the cost gate. The specification has none.

use graphql_parser::query::{Selection, SelectionSet};

use crate::query::parse::document::location;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::merge::MOST_LEVELS;
use crate::query::validate::violation::{Findings, Violation};

/// The most directives at one place. Two can be right.
pub(in crate::query::validate) const MOST_DIRECTIVES: usize = 20;

/// The most fields that a document selects from the root, each under an alias of its own. A credit each at least.
pub(in crate::query::validate) const MOST_ROOT_FIELDS: u64 = 500;

/// The most fields that a document selects, those of a fragment counted wherever it is spread: fragments that spread
/// one another twice each would else stand for more fields than there is memory.
pub(in crate::query::validate) const MOST_FIELDS: u64 = 20_000;

/// The most lists of fields, interfaces, possible types and input fields that introspection selects within one another.
/// The bound is graphql-js's: types have fields, and these have types, so each list within another multiplies the answer.
pub(in crate::query::validate) const MOST_INTROSPECTION_LISTS: usize = 2;

/// Few directives stand at one place.
pub(super) fn of_directives(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for (_, directives) in survey.directives.iter().filter(|(_, directives)| directives.len() > MOST_DIRECTIVES) {
        findings.add(&Violation::TooManyDirectives, [location(directives[0].position)]);
    }
}

/// A document stays small when its fragments are spread. It must have no fragment cycles.
pub(super) fn of_spreading(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let mut extents = vec![None; survey.definitions.len()];
    let mut whole = Extent::default();
    for (place, operation) in survey.operations() {
        let before = whole;
        whole = whole.beside(measure(survey, place, &mut extents));
        let exceeded = |exceeds: fn(&Extent) -> bool| !exceeds(&before) && exceeds(&whole);
        if exceeded(|extent| extent.top > MOST_ROOT_FIELDS) {
            findings.add(&Violation::TooManyRootFields, [operation.location]);
        }
        if exceeded(|extent| extent.fields > MOST_FIELDS) {
            findings.add(&Violation::TooManyFields, [operation.location]);
        }
        if exceeded(|extent| extent.levels > MOST_LEVELS) {
            findings.add(&Violation::TooManyLevels, [operation.location]);
        }
    }
}

/// Introspection does not select lists within lists without end. The document must have no fragment cycles.
pub(super) fn of_introspection(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let is_introspection = |name: &str| matches!(name, "__schema" | "__type");
    let mut asked = survey.fields.iter().map(|selected| selected.field).filter(|field| is_introspection(field.name));
    let Some(first) = asked.next() else { return };
    let mut extents = vec![None; survey.definitions.len()];
    for place in 0..survey.definitions.len() {
        measure(survey, place, &mut extents);
    }
    for field in std::iter::once(first).chain(asked) {
        if extent(survey, &field.selection_set, &extents).lists > MOST_INTROSPECTION_LISTS {
            findings.add(&Violation::TooManyIntrospectionLists, [location(field.position)]);
        }
    }
}

/// How much a selection set stands for.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// Fields of its own level.
    top: u64,
    /// Fields in all.
    fields: u64,
    /// Levels of fields, its own among them. So deep goes the recursion of what walks a document with its fragments
    /// spread.
    levels: usize,
    /// Lists of introspection within one another.
    lists: usize,
}

impl Extent {
    fn beside(self, other: Self) -> Self {
        Self {
            top: self.top.saturating_add(other.top),
            fields: self.fields.saturating_add(other.fields),
            levels: self.levels.max(other.levels),
            lists: self.lists.max(other.lists),
        }
    }
}

/// Measures a definition once, after those that it spreads; keeps its own stack, as chains of fragments can be long.
fn measure(survey: &DocumentIndex<'_, '_>, definition: usize, extents: &mut [Option<Extent>]) -> Extent {
    let mut way = vec![(definition, survey.definitions[definition].spreads.clone())];
    while let Some((at, spreads)) = way.last_mut() {
        let Some(spread) = spreads.next().map(|place| &survey.spreads[place]) else {
            extents[*at] = Some(extent(survey, survey.definitions[*at].selections, extents));
            way.pop();
            continue;
        };
        if let Some(target) = spread.target.filter(|target| extents[*target].is_none()) {
            way.push((target, survey.definitions[target].spreads.clone()));
        }
    }
    extents[definition].unwrap_or_default()
}

fn extent<'a>(survey: &DocumentIndex<'_, 'a>, set: &SelectionSet<'a, &'a str>, extents: &[Option<Extent>]) -> Extent {
    let mut sum = Extent::default();
    for selection in &set.items {
        sum = sum.beside(match selection {
            Selection::Field(field) => {
                let inner = extent(survey, &field.selection_set, extents);
                let (fields, levels) = (inner.fields.saturating_add(1), inner.levels.saturating_add(1));
                let is_list = matches!(field.name, "fields" | "interfaces" | "possibleTypes" | "inputFields");
                Extent { top: 1, fields, levels, lists: inner.lists + usize::from(is_list) }
            }
            Selection::InlineFragment(fragment) => extent(survey, &fragment.selection_set, extents),
            Selection::FragmentSpread(spread) => {
                survey.fragment(spread.fragment_name).and_then(|target| extents[target]).unwrap_or_default()
            }
        });
    }
    sum
}
