//! Our own bounds, which keep small what stands before the cost gate. The specification has none.

use graphql_parser::query::{Selection, SelectionSet};

use crate::query::parse::location;
use crate::query::validate::merge::MOST_LEVELS;
use crate::query::validate::survey::Survey;
use crate::query::validate::violation::{Findings, Violation};

/// The most directives at one place. Two can be right.
pub(in crate::query::validate) const MOST_DIRECTIVES: usize = 20;

/// The most fields that a document selects from the root, each under an alias of its own. A credit each at least.
pub(in crate::query::validate) const MOST_ROOT_FIELDS: u64 = 500;

/// The most fields that a document selects, those of a fragment counted wherever it is spread: fragments that spread
/// one another twice each would else stand for more fields than there is memory.
pub(in crate::query::validate) const MOST_FIELDS: u64 = 20_000;

/// Few directives stand at one place.
pub(super) fn of_directives(survey: &Survey<'_, '_>, findings: &mut Findings) {
    for (_, directives) in survey.directives.iter().filter(|(_, directives)| directives.len() > MOST_DIRECTIVES) {
        findings.add(&Violation::TooManyDirectives, [location(directives[0].position)]);
    }
}

/// A document stays small when its fragments are spread. It must have no fragment cycles.
pub(super) fn of_spreading(survey: &Survey<'_, '_>, findings: &mut Findings) {
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
}

impl Extent {
    fn beside(self, other: Self) -> Self {
        Self {
            top: self.top.saturating_add(other.top),
            fields: self.fields.saturating_add(other.fields),
            levels: self.levels.max(other.levels),
        }
    }
}

/// Measures a definition, after those that it spreads; keeps its own stack, as chains of fragments can be long.
fn measure(survey: &Survey<'_, '_>, definition: usize, extents: &mut [Option<Extent>]) -> Extent {
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

fn extent<'a>(survey: &Survey<'_, 'a>, set: &SelectionSet<'a, &'a str>, extents: &[Option<Extent>]) -> Extent {
    let mut sum = Extent::default();
    for selection in &set.items {
        sum = sum.beside(match selection {
            Selection::Field(field) => {
                let inner = extent(survey, &field.selection_set, extents);
                let (fields, levels) = (inner.fields.saturating_add(1), inner.levels.saturating_add(1));
                Extent { top: 1, fields, levels }
            }
            Selection::InlineFragment(fragment) => extent(survey, &fragment.selection_set, extents),
            Selection::FragmentSpread(spread) => {
                survey.fragment(spread.fragment_name).and_then(|target| extents[target]).unwrap_or_default()
            }
        });
    }
    sum
}
