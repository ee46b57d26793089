//! The ranges of a list that are merged into the page's order.

use crate::query::bind::search_terms::BoundTerm;

/// The most values of a list whose ranges are merged where filters remain. Each range is read as far as the window reaches,
/// which is divided by their number.
const FEW_VALUES: u32 = 4;

/// How many rows are read first of each of so many ranges that are merged into `limit` rows. The other rows of a range are
/// needed only if all of these are among the `limit`, so of `limit / range_head` ranges at most. Few ranges are read at once.
pub(crate) fn range_head(limit: u32, ranges: usize) -> u32 {
    let ranges = u32::try_from(ranges).unwrap_or(u32::MAX);
    if ranges < 9 { limit.saturating_add(1) } else { limit.div_ceil(ranges.isqrt()).max(1) }
}

/// The number of a term's values, if it is no more than that of the ranges that are merged where filters remain.
pub(crate) fn few_values(term: &BoundTerm) -> Option<u32> {
    u32::try_from(term.values.len()).ok().filter(|values| *values <= FEW_VALUES)
}
