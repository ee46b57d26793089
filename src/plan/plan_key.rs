//! What decides a plan template beside the operation: requests for one operation that have the same key differ in values
//! alone, and have their statements in common.

use crate::cursor::CursorPosition;
use crate::plan::keyset::is_in_nulls;
use crate::query::bind::page_size::End;
use crate::query::bind::resolve::{Resolved, StepArguments};
use crate::query::bind::search_terms::BoundTerm;
use crate::query::operation::Operation;
use crate::search::Comparator;

/// The key of a plan template among those of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanKey {
    /// The values of the variables that selections depend on.
    truths: Vec<Option<bool>>,
    steps: Vec<StepKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct StepKey {
    /// The indexes of the keys that a lookup has.
    keys: Vec<usize>,
    sort_key: usize,
    reverse: bool,
    end: End,
    after: Option<NullRange>,
    before: Option<NullRange>,
    is_counted: bool,
    unindexed_terms: u64,
    terms: Vec<(usize, Comparator)>,
}

/// The part of an ordering that a cursor is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NullRange {
    Values,
    Nulls,
}

impl PlanKey {
    /// The key of a request.
    pub(crate) fn of(operation: &Operation, resolved: &Resolved<'_>) -> Self {
        let truths = operation.conditions.iter().map(|variable| resolved.truth(*variable));
        Self { truths: truths.collect(), steps: resolved.steps.iter().map(StepKey::of).collect() }
    }

    /// Whether a request for the same operation has this key. Does not allocate.
    pub(crate) fn matches(&self, operation: &Operation, resolved: &Resolved<'_>) -> bool {
        let truths = operation.conditions.iter().map(|variable| resolved.truth(*variable));
        truths.eq(self.truths.iter().copied())
            && self.steps.len() == resolved.steps.len()
            && self.steps.iter().zip(&resolved.steps).all(|(key, arguments)| key.matches(arguments))
    }

    /// Whether a request for the same operation has the price of those with this key, but for page sizes. The request's search
    /// strings may be unread. Does not allocate.
    pub(crate) fn has_price_of(&self, operation: &Operation, priced: &Resolved<'_>) -> bool {
        let truths = operation.conditions.iter().map(|variable| priced.truth(*variable));
        let unindexed_terms = priced.steps.iter().map(|step| step.unindexed_terms);
        truths.eq(self.truths.iter().copied()) && unindexed_terms.eq(self.steps.iter().map(|step| step.unindexed_terms))
    }

    /// About how much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let steps =
            self.steps.iter().map(|step| size_of_val(step.keys.as_slice()) + size_of_val(step.terms.as_slice()));
        self.truths.len() + size_of_val(self.steps.as_slice()) + steps.sum::<usize>()
    }
}

impl StepKey {
    fn of(arguments: &StepArguments) -> Self {
        let StepArguments { selection: _, keys, sort_key, reverse, page, count_up_to, unindexed_terms, terms } =
            arguments;
        Self {
            keys: keys.iter().map(|(index, _)| *index).collect(),
            sort_key: *sort_key,
            reverse: *reverse,
            end: page.end,
            after: null_range(page.after.as_ref()),
            before: null_range(page.before.as_ref()),
            is_counted: count_up_to.is_some(),
            unindexed_terms: *unindexed_terms,
            terms: terms.iter().map(term).collect(),
        }
    }

    fn matches(&self, arguments: &StepArguments) -> bool {
        let StepArguments { selection: _, keys, sort_key, reverse, page, count_up_to, unindexed_terms, terms } =
            arguments;
        (self.sort_key, self.reverse, self.end, self.is_counted, self.unindexed_terms)
            == (*sort_key, *reverse, page.end, count_up_to.is_some(), *unindexed_terms)
            && (self.after, self.before) == (null_range(page.after.as_ref()), null_range(page.before.as_ref()))
            && terms.iter().map(term).eq(self.terms.iter().copied())
            && keys.iter().map(|(index, _)| *index).eq(self.keys.iter().copied())
    }
}

fn null_range(position: Option<&CursorPosition>) -> Option<NullRange> {
    position.map(|position| if is_in_nulls(position) { NullRange::Nulls } else { NullRange::Values })
}

fn term(term: &BoundTerm) -> (usize, Comparator) {
    (term.key, term.comparator)
}
