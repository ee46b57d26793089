//! What decides a price beside the operation and the page sizes.

use crate::catalog::totals::GroupOrder;
use crate::query::bind::page_size::End;
use crate::query::bind::resolve::Priced;
use crate::query::bind::totals_arguments::GroupKeys;
use crate::query::operation::Operation;

/// The key of a price among those of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PriceKey {
    /// The values of the variables that selections depend on.
    truths: Vec<Option<bool>>,
    steps: Vec<StepKey>,
}

/// How many of a step's search terms no selective index serves; the end that its page is taken from: an error names the argument
/// of the page size; and the keys and order of totals, which decide what is joined to their rows.
type StepKey = (u64, End, Option<(Option<GroupKeys>, GroupOrder)>);

impl PriceKey {
    /// The key of a request.
    pub(crate) fn of(operation: &Operation, priced: &Priced<'_>) -> Self {
        Self { truths: truths(operation, priced).collect(), steps: steps(priced).collect() }
    }

    /// Whether a request for the same operation has this key. Does not allocate.
    pub(crate) fn matches(&self, operation: &Operation, priced: &Priced<'_>) -> bool {
        truths(operation, priced).eq(self.truths.iter().copied()) && steps(priced).eq(self.steps.iter().copied())
    }

    /// About how much memory it takes beside itself, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.truths.as_slice()) + size_of_val(self.steps.as_slice())
    }
}

fn truths(operation: &Operation, priced: &Priced<'_>) -> impl Iterator<Item = Option<bool>> {
    operation.conditions.iter().map(|variable| priced.truth(*variable))
}

fn steps(priced: &Priced<'_>) -> impl Iterator<Item = StepKey> {
    priced.steps.iter().map(|step| {
        let totals = step.totals.map(|totals| (totals.keys, totals.order));
        (step.unindexed_terms, step.page.end, totals)
    })
}
