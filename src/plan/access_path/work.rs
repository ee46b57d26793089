//! How many rows each part of a search may examine.

use crate::catalog::scoped_relation::ScopeCondition;
use crate::catalog::search_key::ScopeKey;
use crate::catalog::search_window::SearchWindow;
use crate::plan::access_path::lookups::Lookup;
use crate::plan::access_path::path::Strategy;
use crate::plan::access_path::prefix::Prefix;
use crate::plan::access_path::scan::{FilteredScan, is_of_prefix};
use crate::plan::access_path::search::Search;
use crate::plan::access_path::window::{HiddenRows, Window};

/// The most look-ups that are tried, one after the other.
const MAX_LOOKUPS: usize = 2;

/// The part of the window that look-ups may examine: a fifth. The rows that they find lie anywhere in the table, so each takes
/// longer than one of the window, which are read from an index.
const LOOKUP_SHARE: u32 = 5;

/// The part of look-ups that read the index alone: a half. Then the window takes as many rows as its look-up.
const COVERED_LOOKUP_SHARE: u32 = 2;

/// How many rows of a window a look-up in another relation weighs as much as. It takes about as long as passing over ten rows
/// in an index.
const SEMI_JOIN_WEIGHT: u32 = 8;

/// How many rows of each range are read at first, if the ranges that join many rows are merged into a page of 50 rows.
const MERGED_HEAD: u32 = 4;

/// The weight of a computed column, which takes several look-ups.
const COMPUTED_WEIGHT: u32 = 20;

/// The weight of a search in text, which may be stored apart from its row.
const TEXT_WEIGHT: u32 = 4;

/// What reads a window.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    /// The flags that need rows outside of the page.
    probes: u32,
    /// How often a window is read that ends: for a page the second time for its last row, for a count once.
    times: u32,
}

impl Reads {
    pub(super) fn of_page(probes: u32) -> Self {
        Self { probes, times: 2 }
    }

    pub(super) fn of_count() -> Self {
        Self { probes: 0, times: 1 }
    }
}

/// The most rows of another relation whose ranges are merged. Each range is looked up, for the page and for each flag. Counting reads the
/// indexes alone, which takes a third of the time, so twice as many rows may be counted: as many as a search without a count has.
fn merged_rows(window: SearchWindow, Reads { probes, times }: Reads) -> u32 {
    let window = if times == 1 { 2 * window.rows() } else { window.rows() };
    (window / (SEMI_JOIN_WEIGHT + MERGED_HEAD + probes * (SEMI_JOIN_WEIGHT + 1))).max(1)
}

impl Search<'_> {
    /// Reads a scan: to its end if every row matches, and otherwise as far as a window, which the look-ups, the page and the flags share.
    pub(super) fn checked(&self, found: FilteredScan, window: SearchWindow, reads: Reads) -> Strategy {
        if found.filters.is_empty() {
            return Strategy::Order(found.scan);
        }
        let Reads { probes, times } = reads;
        let hidden_rows = self.hidden_rows(found.scan.prefix);
        let [of_lookups, of_windows] = hidden_rows.times();
        let mut lookups = self.useful_lookups(&found, reads);
        let count = u32::try_from(lookups.len()).unwrap_or(1);
        let mut share = 0;
        for lookup in &mut lookups {
            if lookup.is_merged() {
                lookup.rows = merged_rows(window, reads);
                // If they are more, they are only counted.
                share += lookup.rows;
                continue;
            }
            let part = if self.is_covered(lookup) { COVERED_LOOKUP_SHARE } else { LOOKUP_SHARE };
            let rows = (window.rows() / part / count).min(window.rows() / (count + 1 + probes));
            share += rows;
            // Its rows are found one by one in another relation, or the filters are checked for each. The few rows of another relation that
            // match two keys have many rows each, which lie together.
            let terms = found.filters.iter().filter(|term| !lookup.served().any(|served| served == **term));
            let is_of_few = lookup.is_of_pair && self.key(lookup.terms[0]).semi_join.is_some();
            let found_by = if is_of_few { 1 } else { self.weights(lookup.terms.iter()) };
            lookup.rows = (rows * of_lookups / (1 + found_by + self.weights(terms))).max(1);
        }
        let FilteredScan { scan, filters } = found;
        // The second time without filters, but a view may compute its columns.
        let again = filters.iter().filter(|term| times > 1 && self.key(**term).semi_join.is_none());
        let weights = times * self.merged_ranges(scan.prefix) + self.weights(filters.iter().chain(again));
        let rows = (window.rows() - share) * of_windows / weights;
        let probe_rows = (rows / 4).checked_div(probes).map_or(0, |rows| rows.max(1));
        let rows = rows.saturating_sub(probe_rows * probes).max(1);
        let checked = self.names(&filters);
        Strategy::Window(Window { scan, filters, checked, lookups, rows, probe_rows, hidden_rows })
    }

    /// The look-ups that may find few rows.
    fn useful_lookups(&self, found: &FilteredScan, reads: Reads) -> Vec<Lookup> {
        let prefix = found.scan.prefix;
        // A prefix that identifies rows leaves so few that nothing finds them faster.
        if prefix.is_some_and(|prefix| self.identifies(prefix.term)) {
            return Vec::new();
        }
        let mut lookups = self.lookups(found);
        if reads.times == 1 && prefix.is_some_and(|prefix| self.key(prefix.term).indexed) {
            // More rows are counted in the range of a selective key than by keys that are not.
            lookups.retain(|lookup| lookup.terms.len() > 1 || self.key(lookup.terms[0]).indexed);
        }
        lookups.truncate(MAX_LOOKUPS);
        lookups
    }

    /// Where rows are examined that the caller does not see. Ranges that the values of all the caller's scopes choose have none of these.
    fn hidden_rows(&self, prefix: Option<Prefix>) -> HiddenRows {
        let is_limit = |term: &usize| self.key(*term).scope.is_some();
        let counts_hidden =
            |term: usize| self.key(term).semi_join.as_ref().is_some_and(|join| join.unlimited.is_some());
        let terms = 0..self.terms.len();
        if terms.clone().filter(is_limit).any(|term| !is_of_prefix(prefix, term)) {
            HiddenRows::All
        } else if terms.clone().any(|term| is_limit(&term) || counts_hidden(term)) {
            HiddenRows::Lookups
        } else {
            HiddenRows::None
        }
    }

    fn weights<'t>(&self, terms: impl Iterator<Item = &'t usize>) -> u32 {
        terms.map(|term| self.weight(*term)).sum()
    }

    /// How many rows of a window the comparison of one row weighs as much as.
    fn weight(&self, term: usize) -> u32 {
        let key = self.key(term);
        let computed = if key.is_computed { COMPUTED_WEIGHT } else { 0 };
        let is_of_own =
            matches!(key.scope, Some(ScopeKey::Row(ScopeCondition::Values { .. } | ScopeCondition::None { .. })));
        let joined = if key.semi_join.is_some() && !is_of_own { SEMI_JOIN_WEIGHT } else { 0 };
        let text = if key.language.is_some() { TEXT_WEIGHT } else { 0 };
        computed + joined + text
    }
}
