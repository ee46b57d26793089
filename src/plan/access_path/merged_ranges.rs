//! The ranges of a list that are merged into the page's order.

/// How many rows are read first of each range, if this many ranges are merged into `limit` rows. The other rows of a range are needed only
/// if all of its first rows are among the `limit`. This concerns `limit / range_head` ranges at most. If there are few ranges, all rows are
/// read at once.
pub(crate) fn range_head(limit: u32, ranges: usize) -> u32 {
    let ranges = u32::try_from(ranges).unwrap_or(u32::MAX);
    if ranges < 9 { limit.saturating_add(1) } else { limit.div_ceil(ranges.isqrt()).max(1) }
}
