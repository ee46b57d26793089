//! What decides a plan template beside the operation: requests for one operation that have the same key differ in values
//! alone, and have their statements in common.

use crate::cost::price_key::PriceKey;
use crate::plan::access_path::merged_ranges::few_values;
use crate::plan::keyset::is_in_nulls;
use crate::query::bind::ids::StepId;
use crate::query::bind::resolve::{Resolved, StepArguments};
use crate::query::bind::search_terms::BoundTerm;
use crate::query::operation::Operation;
use crate::search::Comparator;

/// The key of a plan template among those of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanKey {
    /// Requests with one plan have one price, but for page sizes.
    pub(crate) price: PriceKey,
    steps: Vec<StepKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct StepKey {
    /// The indexes of the keys that a lookup has.
    keys: Vec<usize>,
    /// The keys and comparators of the terms, and how many values they have if these are few.
    terms: Vec<(usize, Comparator, Option<u32>)>,
    page: PageKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PageKey {
    sort_key: usize,
    reverse: bool,
    is_counted: bool,
    /// Whether a cursor is of a row whose first sort column is null.
    after_null: Option<bool>,
    before_null: Option<bool>,
}

impl PlanKey {
    /// The key of a request.
    pub(crate) fn of(operation: &Operation, resolved: &Resolved<'_, '_>) -> Self {
        let steps = arguments(resolved).map(|(arguments, terms)| StepKey {
            keys: keys(arguments).collect(),
            terms: terms.iter().map(term).collect(),
            page: PageKey::of(arguments),
        });
        Self { price: PriceKey::of(operation, resolved.priced), steps: steps.collect() }
    }

    /// Whether a request for the same operation has this key. Does not allocate.
    pub(crate) fn matches(&self, operation: &Operation, resolved: &Resolved<'_, '_>) -> bool {
        let has_key = |(key, (arguments, terms)): (&StepKey, (&StepArguments, &[BoundTerm]))| {
            key.page == PageKey::of(arguments)
                && terms.iter().map(term).eq(key.terms.iter().copied())
                && keys(arguments).eq(key.keys.iter().copied())
        };
        // The key of the price has as many steps.
        self.price.matches(operation, resolved.priced) && self.steps.iter().zip(arguments(resolved)).all(has_key)
    }

    /// About how much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let steps =
            self.steps.iter().map(|step| size_of_val(step.keys.as_slice()) + size_of_val(step.terms.as_slice()));
        self.price.bytes() + size_of_val(self.steps.as_slice()) + steps.sum::<usize>()
    }
}

impl PageKey {
    fn of(arguments: &StepArguments) -> Self {
        // The rest is in the key of the price.
        let StepArguments {
            selection: _,
            keys: _,
            sort_key,
            reverse,
            page,
            count_up_to,
            unindexed_terms: _,
            totals: _,
            start: _,
        } = arguments;
        Self {
            sort_key: *sort_key,
            reverse: *reverse,
            is_counted: count_up_to.is_some(),
            after_null: page.after.as_ref().map(is_in_nulls),
            before_null: page.before.as_ref().map(is_in_nulls),
        }
    }
}

/// The arguments and terms of each step.
fn arguments<'r>(resolved: &'r Resolved<'_, '_>) -> impl Iterator<Item = (&'r StepArguments, &'r [BoundTerm])> {
    let steps = resolved.priced.steps.iter().enumerate();
    steps.map(|(step, arguments): (StepId, _)| (arguments, resolved.terms.of(step)))
}

fn keys(arguments: &StepArguments) -> impl Iterator<Item = usize> {
    arguments.keys.iter().map(|(index, _)| *index)
}

fn term(term: &BoundTerm) -> (usize, Comparator, Option<u32>) {
    (term.key, term.comparator, few_values(term))
}
