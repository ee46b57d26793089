//! Where the price of an operation comes from: its heaviest connections and point roots.

use crate::cost::Cost;
use crate::cost::pages::Pages;
use crate::query::bind::StepId;

/// The most branches that are told.
const MOST_BRANCHES: usize = 5;

/// What a step adds to the price, with all that is below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Branch {
    /// The step.
    pub(super) step: StepId,
    /// What it adds.
    pub(super) total: Cost,
}

/// The heaviest branches, the heaviest first. One that is nested in another is a part of its total.
pub(super) fn heaviest(pages: &Pages<'_>) -> Vec<Branch> {
    let shares = pages.shares().into_iter().enumerate();
    let mut branches: Vec<_> = shares.map(|(step, total)| Branch { step, total }).collect();
    let order = |a: &Branch, b: &Branch| b.total.cmp(&a.total).then(a.step.cmp(&b.step));
    if branches.len() > MOST_BRANCHES {
        branches.select_nth_unstable_by(MOST_BRANCHES, order);
        branches.truncate(MOST_BRANCHES);
    }
    branches.sort_unstable_by(order);
    branches
}

/// A part of a whole, from 0 to 1 in thousandths.
pub(super) fn share(part: Cost, whole: Cost) -> f64 {
    let thousandths = u128::from(part) * 1000 / u128::from(whole.max(1));
    f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1000.0
}
