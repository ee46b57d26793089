//! Decides how the rows of a page are found.

use crate::catalog::connection::ListIndex;
use crate::catalog::search_window::SearchWindow;
use crate::plan::access_path::parent_rows::ParentRows;
use crate::plan::access_path::path::{AccessPath, CountPath, Strategy};
use crate::plan::access_path::scan::FilteredScan;
use crate::plan::access_path::search::Search;
use crate::plan::access_path::window::{FoundFor, Window};
use crate::plan::access_path::work::Reads;

impl AccessPath {
    /// The path of a search's page. `probes` is the number of flags that need rows outside of the page. If all rows are
    /// counted as well, and no index returns them alone, the page and the count have half of the window each.
    pub(crate) fn choose(own: Search<'_>, probes: u32, is_counted: bool, window: SearchWindow) -> Self {
        let found_for = if own.is_below_row() { FoundFor::PageBelowRow } else { FoundFor::Page };
        let path = |strategy| {
            let merges_values_of_order = own.merges_values_of_order(&strategy);
            Self { found_for, strategy, probes, is_counted, merges_values_of_order, ..Self::default() }
        };
        if let ListIndex::Parent { at_most } = own.connection.found_by {
            let (columns, filters) = (own.connection.join.to.clone(), (0..own.terms.len()).collect());
            return path(Strategy::Parent(ParentRows { columns, filters, at_most }));
        }
        if let Some(key) = own.by_primary_key().filter(|_| !own.is_below_row()) {
            return path(Strategy::Key(key));
        }
        let (found, reads) = (own.filtered_scan(), Reads::of_page(probes));
        if !is_counted || found.filters.is_empty() {
            return path(own.checked(found, window, reads));
        }
        let (order, counted) = own.cheapest_to_count();
        let left = if counted.filters.is_empty() { window } else { window.half() };
        let counted = order.count_path(counted, window);
        Self { counted: Some(Box::new(counted)), ..path(own.checked(found, left, reads)) }
    }
}

impl Search<'_> {
    /// Whether a look-up merges ranges of which each has one value in the page's first column.
    fn merges_values_of_order(&self, strategy: &Strategy) -> bool {
        let Strategy::Window(Window { lookups, .. }) = strategy else { return false };
        let merged = lookups.iter().filter(|lookup| lookup.is_merged());
        let mut joins = merged.filter_map(|lookup| self.key(*lookup.terms.first()?).semi_join.as_ref());
        joins.any(|semi_join| self.joins_by_sort_column(semi_join))
    }

    /// The same search in the order in which it is counted. The order of the page is the first of several that are as good, and the only
    /// one below a row, where the join chooses the range.
    fn cheapest_to_count(&self) -> (Self, FilteredScan) {
        let others = 0..self.connection.sort_keys.len();
        let others = others.filter(|other| *other != self.sort_key && !self.is_below_row());
        let others = others.map(|sort_key| Search::new(self.connection, sort_key, self.terms));
        let mut best = (*self, self.filtered_scan());
        for search in others {
            let found = search.filtered_scan();
            if search.count_rank(&found) < best.0.count_rank(&best.1) {
                best = (search, found);
            }
        }
        best
    }

    /// Rows are counted where few others are examined, whatever their order is, and where an index has all that is compared.
    fn count_rank(&self, FilteredScan { scan, filters }: &FilteredScan) -> impl Ord + use<> {
        let rank = scan.prefix.map(|prefix| self.prefix_rank(&prefix));
        (filters.len(), scan.prefix.is_none(), rank, !self.reads_index_alone(scan.prefix))
    }

    /// The path of a count in these ranges, with half of the window, or all of it if an index alone is read, which takes a third of the time.
    fn count_path(&self, found: FilteredScan, window: SearchWindow) -> CountPath {
        let prefix = found.scan.prefix;
        let window = if self.reads_index_alone(prefix) { window } else { window.half() };
        let strategy = self.checked(found, window, Reads::of_count());
        let path = AccessPath { found_for: FoundFor::Count, strategy, ..AccessPath::default() };
        CountPath { sort_key: self.sort_key, ranges: self.merged_ranges(prefix), path }
    }
}
