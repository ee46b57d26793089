//! What decides a template beside the operation: requests for one operation that are of the same form differ in values
//! alone, and have their statements in common.

use crate::plan::keyset::is_in_nulls;
use crate::query::bind::page::{CursorPosition, End};
use crate::query::bind::resolve::{Resolved, StepArguments};
use crate::query::bind::terms::BoundTerm;
use crate::query::operation::Operation;
use crate::search::Comparator;

/// The form of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanKey {
    /// The truth of the variables that selections depend on.
    truths: Vec<Option<bool>>,
    steps: Vec<StepKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StepKey {
    /// The places of the keys that are given.
    Lookup(Vec<usize>),
    Connection {
        sort_key: usize,
        reverse: bool,
        end: End,
        after: Option<NullRange>,
        before: Option<NullRange>,
        terms: Vec<(usize, Comparator)>,
    },
}

/// The half of a walk in which a cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NullRange {
    Values,
    Nulls,
}

impl PlanKey {
    /// The form of a request.
    pub fn of(operation: &Operation, resolved: &Resolved<'_>) -> Self {
        let truths = operation.conditions.iter().map(|variable| resolved.truth(*variable));
        Self { truths: truths.collect(), steps: resolved.steps.iter().map(StepKey::of).collect() }
    }

    /// Whether a request for the same operation is of this form.
    pub fn fits(&self, operation: &Operation, resolved: &Resolved<'_>) -> bool {
        let truths = operation.conditions.iter().map(|variable| resolved.truth(*variable));
        truths.eq(self.truths.iter().copied())
            && self.steps.len() == resolved.steps.len()
            && self.steps.iter().zip(&resolved.steps).all(|(form, arguments)| form.fits(arguments))
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let steps = self.steps.iter().map(|step| match step {
            StepKey::Lookup(keys) => size_of_val(keys.as_slice()),
            StepKey::Connection { terms, .. } => size_of_val(terms.as_slice()),
        });
        self.truths.len() + size_of_val(self.steps.as_slice()) + steps.sum::<usize>()
    }
}

impl StepKey {
    fn of(arguments: &StepArguments) -> Self {
        match arguments {
            StepArguments::Lookup { keys } => Self::Lookup(keys.iter().map(|(place, _)| *place).collect()),
            StepArguments::Connection { sort_key, reverse, page, terms } => Self::Connection {
                sort_key: *sort_key,
                reverse: *reverse,
                end: page.end,
                after: half(page.after.as_ref()),
                before: half(page.before.as_ref()),
                terms: terms.iter().map(term).collect(),
            },
        }
    }

    /// Compares without making a form.
    fn fits(&self, arguments: &StepArguments) -> bool {
        match (self, arguments) {
            (Self::Lookup(places), StepArguments::Lookup { keys }) => {
                keys.iter().map(|(place, _)| place).eq(places.iter())
            }
            (
                Self::Connection { sort_key, reverse, end, after, before, terms },
                StepArguments::Connection { sort_key: their_key, reverse: their_reverse, page, terms: their_terms },
            ) => {
                (sort_key, reverse, *end) == (their_key, their_reverse, page.end)
                    && (*after, *before) == (half(page.after.as_ref()), half(page.before.as_ref()))
                    && their_terms.iter().map(term).eq(terms.iter().copied())
            }
            _ => false,
        }
    }
}

fn half(position: Option<&CursorPosition>) -> Option<NullRange> {
    position.map(|position| if is_in_nulls(position) { NullRange::Nulls } else { NullRange::Values })
}

fn term(term: &BoundTerm) -> (usize, Comparator) {
    (term.key, term.comparator)
}
