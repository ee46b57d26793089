//! Credits, in which prices are counted.

use crate::catalog::prices::ROWS_SUMMED;

/// Credits. Sums and products saturate: a cost too large to count is too large to admit.
pub type Cost = u64;

/// The cost of adding up this many rows, for each relation that they are read from.
pub(super) fn credits_of(rows: u64) -> Cost {
    rows.div_ceil(ROWS_SUMMED)
}
