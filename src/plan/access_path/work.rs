//! How many rows each part of a search may examine.

use crate::catalog::search_window::SearchWindow;
use crate::plan::access_path::merged_ranges::few_values;
use crate::plan::access_path::path::{AccessPath, Prefix};
use crate::plan::access_path::search::Search;

/// The most look-ups that are tried, one after the other.
const MAX_LOOKUPS: usize = 2;

/// The part of the window that look-ups may examine: a fifth. The rows that they find lie anywhere in the table, so each takes
/// longer than one of the window, which are read from an index.
const LOOKUP_SHARE: u32 = 5;

/// How many rows of a window a look-up in another relation weighs as much as. It takes about as long as passing over ten rows
/// in an index.
const SEMI_JOIN_WEIGHT: u32 = 8;

/// The same for a computed column, which takes several look-ups.
const COMPUTED_WEIGHT: u32 = 20;

impl Search<'_> {
    /// Divides the window among the look-ups, the page and the flags, where filters remain.
    pub(super) fn divide(&self, path: &mut AccessPath, window: SearchWindow) {
        let probes = path.probes;
        let weight: u32 = path.filters.iter().map(|term| self.weight(*term)).sum();
        let divisor = 1 + weight;
        // A prefix that identifies rows leaves so few that nothing finds them faster.
        let is_identified = path.prefix.is_some_and(|prefix| self.identifies(prefix.term));
        let mut lookups = if is_identified { Vec::new() } else { self.lookups(path) };
        lookups.truncate(MAX_LOOKUPS);
        let count = u32::try_from(lookups.len()).unwrap_or(1);
        let share = if lookups.is_empty() { 0 } else { window.rows() / LOOKUP_SHARE };
        for lookup in &mut lookups {
            // The other filters are checked for each row. The rows of a semi-join are found one by one, and joined one by one.
            let rows = (share / count).min(window.rows() / (count + 1 + probes));
            let own: u32 = lookup.terms.iter().map(|term| self.weight(*term)).sum();
            lookup.rows = (rows / (divisor + own)).max(1);
        }
        // A window that ends is read twice, the second time for its last row.
        let list = path.prefix.filter(Prefix::is_merged).and_then(|prefix| prefix.list);
        let ranges = list.and_then(|term| few_values(&self.terms[term])).unwrap_or(1).max(1);
        let rows = (window.rows() - share) / 2 / divisor / ranges;
        path.probe_window = (rows / 4).checked_div(probes).map_or(0, |rows| rows.max(1));
        path.window = rows.saturating_sub(path.probe_window * probes).max(1);
        path.lookups = lookups;
    }

    /// How many rows of a window the comparison of one row weighs as much as.
    fn weight(&self, term: usize) -> u32 {
        let key = self.key(term);
        if key.is_computed {
            COMPUTED_WEIGHT
        } else if key.semi_join.is_some() {
            SEMI_JOIN_WEIGHT
        } else {
            0
        }
    }
}
