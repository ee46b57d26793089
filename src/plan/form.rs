//! What decides a template beside the operation: requests for one operation that are of the same form differ in values
//! alone, and have their statements in common.

use crate::plan::keyset::is_in_nulls;
use crate::query::bind::page::{End, Position};
use crate::query::bind::resolve::{Resolved, StepArguments};
use crate::query::bind::terms::BoundTerm;
use crate::query::operation::Operation;
use crate::search::Comparator;

/// The form of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The truth of the variables that selections depend on.
    truths: Vec<Option<bool>>,
    steps: Vec<StepForm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum StepForm {
    /// The places of the keys that are given.
    Point(Vec<usize>),
    Connection {
        sort_key: usize,
        reverse: bool,
        end: End,
        after: Option<Half>,
        before: Option<Half>,
        terms: Vec<(usize, Comparator)>,
    },
}

/// The half of a walk in which a cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Values,
    Nulls,
}

impl Form {
    /// The form of a request.
    pub fn of(operation: &Operation, resolved: &Resolved<'_>) -> Self {
        let truths = operation.conditions.iter().map(|variable| resolved.truth(*variable));
        Self { truths: truths.collect(), steps: resolved.steps.iter().map(StepForm::of).collect() }
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
            StepForm::Point(keys) => size_of_val(keys.as_slice()),
            StepForm::Connection { terms, .. } => size_of_val(terms.as_slice()),
        });
        self.truths.len() + size_of_val(self.steps.as_slice()) + steps.sum::<usize>()
    }
}

impl StepForm {
    fn of(arguments: &StepArguments) -> Self {
        match arguments {
            StepArguments::Point { keys } => Self::Point(keys.iter().map(|(place, _)| *place).collect()),
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
            (Self::Point(places), StepArguments::Point { keys }) => {
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

fn half(position: Option<&Position>) -> Option<Half> {
    position.map(|position| if is_in_nulls(position) { Half::Nulls } else { Half::Values })
}

fn term(term: &BoundTerm) -> (usize, Comparator) {
    (term.key, term.comparator)
}
