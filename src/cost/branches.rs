//! The branches of an operation that cost most: its most expensive connections and lookups.

use std::cmp::Reverse;

use crate::cost::lines::Path;
use crate::cost::pages::Pages;
use crate::cost::price::Cost;

/// The most branches that an error reports.
const MAX_BRANCHES: usize = 5;

/// A step that costs much.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    pub(super) path: Path<'a>,
    /// Its part of the price, with everything inside it.
    pub(super) total: Cost,
}

/// The most expensive branches, the most expensive first. The total of a branch includes the branches inside it.
pub(super) fn most_expensive<'a>(pages: &Pages<'a>) -> Vec<Branch<'a>> {
    let mut shares: Vec<_> = pages.shares().into_iter().enumerate().collect();
    shares.sort_by_key(|(_, total)| Reverse(*total));
    shares.into_iter().take(MAX_BRANCHES).map(|(step, total)| Branch { path: pages.path(step), total }).collect()
}

/// The share of a part in a whole, from 0 to 1, in thousandths.
pub(super) fn share(part: Cost, whole: Cost) -> f64 {
    let thousandths = u128::from(part) * 1000 / u128::from(whole.max(1));
    f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1000.0
}
