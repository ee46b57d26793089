//! The branches of an operation that cost most: its most expensive connections and lookups.

use crate::cost::pages::Pages;
use crate::cost::price::Cost;
use crate::query::bind::ids::StepId;

/// The most branches that an error reports.
const MAX_BRANCHES: usize = 5;

/// What a step adds to the price, with everything inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) step: StepId,
    /// What it adds.
    pub(super) total: Cost,
}

/// The most expensive branches, the most expensive first. The total of a branch includes the branches inside it.
pub(super) fn most_expensive(pages: &Pages<'_>) -> Vec<Branch> {
    let shares = pages.shares().into_iter().enumerate();
    let mut branches: Vec<_> = shares.map(|(step, total)| Branch { step, total }).collect();
    let order = |a: &Branch, b: &Branch| b.total.cmp(&a.total).then(a.step.cmp(&b.step));
    if branches.len() > MAX_BRANCHES {
        branches.select_nth_unstable_by(MAX_BRANCHES, order);
        branches.truncate(MAX_BRANCHES);
    }
    branches.sort_unstable_by(order);
    branches
}

/// The share of a part in a whole, from 0 to 1, in thousandths.
pub(super) fn share(part: Cost, whole: Cost) -> f64 {
    let thousandths = u128::from(part) * 1000 / u128::from(whole.max(1));
    f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1000.0
}
