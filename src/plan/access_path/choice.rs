//! Decides how the rows of a page are found.

use crate::catalog::connection::ListIndex;
use crate::catalog::search_window::SearchWindow;
use crate::plan::access_path::path::{AccessPath, CountPath, FoundBy, FoundFor, Lookup, Prefix};
use crate::plan::access_path::search::Search;
use crate::plan::access_path::work::{ONCE, TWICE};

impl AccessPath {
    /// The path of a search's page. `probes` is the number of flags that need rows outside of the page. If all rows are
    /// counted as well, and no index returns them alone, the page and the count have half of the window each.
    pub(crate) fn choose(own: Search<'_>, probes: u32, is_counted: bool, window: SearchWindow) -> Self {
        let Search { connection, sort_key, terms, .. } = own;
        let search = |sort_key: usize| Search::new(connection, sort_key, terms);
        if let ListIndex::Parent { at_most } = connection.found_by {
            return Self { probes, is_counted, ..own.by_parent(at_most) };
        }
        if let Some(path) = own.by_primary_key().filter(|_| !own.is_below_row()) {
            return Self { probes, is_counted, ..path };
        }
        let mut path = Self { probes, is_counted, ..own.ranges() };
        let mut window = window;
        if is_counted && !path.is_in_order() {
            // The order of the page is the first of several that are as good, and the only one below a row, where the join chooses the range.
            let others = (0..connection.sort_keys.len()).filter(|other| *other != sort_key && !own.is_below_row());
            let ranked = std::iter::once(sort_key).chain(others).map(|order| (order, search(order).ranges()));
            let counted = ranked.min_by_key(|(order, path)| search(*order).count_rank(path));
            path.counted = counted.map(|(order, counted)| {
                let whole = window;
                window = if counted.is_in_order() { window } else { window.half() };
                Box::new(search(order).count_path(counted, whole))
            });
        }
        own.divide(&mut path, window, TWICE);
        path
    }
}

impl Search<'_> {
    /// Whether the rows belong to a row above, by a join.
    fn is_below_row(&self) -> bool {
        !self.connection.join.to.is_empty()
    }

    /// The ranges of the index of the order that terms choose and bound, and the terms that remain.
    fn ranges(&self) -> AccessPath {
        let is_below_row = self.is_below_row();
        let prefix = self.prefix().filter(|_| !is_below_row);
        let found_for = if is_below_row { FoundFor::PageBelowRow } else { FoundFor::Page };
        let mut path = AccessPath { found_for, index: self.index(prefix), prefix, ..AccessPath::default() };
        let is_of_prefix = |term: usize| prefix.is_some_and(|prefix| prefix.terms().any(|other| other == term));
        for term in (0..self.terms.len()).filter(|term| !is_of_prefix(*term)) {
            if self.bounds_range(prefix, term) { path.range.push(term) } else { path.filters.push(term) }
        }
        path.checked = self.names(&path.filters);
        path
    }

    /// Rows are counted where few others are examined, whatever their order is, and where an index has all that is compared.
    fn count_rank(&self, path: &AccessPath) -> impl Ord + use<> {
        let rank = path.prefix.map(|prefix| self.prefix_rank(&prefix));
        (path.filters.len(), path.prefix.is_none(), rank, !self.reads_index_alone(path))
    }

    /// The path of a count in these ranges, with half of the window, or all of it if an index alone is read, which takes a third of the time.
    fn count_path(&self, mut path: AccessPath, window: SearchWindow) -> CountPath {
        path.found_for = FoundFor::Count;
        let window = if self.reads_index_alone(&path) { window } else { window.half() };
        self.divide(&mut path, window, ONCE);
        CountPath { sort_key: self.sort_key, ranges: self.merged_ranges(path.prefix), path }
    }

    /// The path of a search that has values of the primary key, if the page is in another order: a look-up finds all rows.
    fn by_primary_key(&self) -> Option<AccessPath> {
        let identifies = |term: &usize| self.is_equality(*term) && self.identifies(*term) && !self.is_on_order(*term);
        let term = (0..self.terms.len()).find(identifies)?;
        Some(AccessPath {
            filters: (0..self.terms.len()).collect(),
            lookups: vec![Lookup {
                terms: vec![term],
                columns: vec![self.key(term).column.name.clone()],
                rows: 0,
                is_of_pair: false,
                is_text: false,
            }],
            found_by: FoundBy::Key,
            ..AccessPath::default()
        })
    }

    /// The path to the rows of a parent that has at most this many.
    fn by_parent(&self, at_most: u32) -> AccessPath {
        AccessPath {
            found_for: FoundFor::PageBelowRow,
            found_by: FoundBy::Parent { at_most },
            filters: (0..self.terms.len()).collect(),
            lookups: vec![Lookup {
                terms: Vec::new(),
                columns: self.connection.join.to.clone(),
                rows: at_most,
                is_of_pair: false,
                is_text: false,
            }],
            ..AccessPath::default()
        }
    }

    fn index(&self, prefix: Option<Prefix>) -> Vec<String> {
        let of_terms = prefix.into_iter().flat_map(|prefix| prefix.terms().collect::<Vec<_>>());
        let mut columns: Vec<_> = of_terms.map(|term| self.key(term).column.name.clone()).collect();
        for column in &self.sort.columns {
            if !columns.contains(&column.name) {
                columns.push(column.name.clone());
            }
        }
        columns
    }
}
