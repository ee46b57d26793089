//! Decides how the rows of a page are found.

use crate::catalog::binding::Connection;
use crate::catalog::search_window::SearchWindow;
use crate::plan::access_path::path::{AccessPath, Lookup, Prefix};
use crate::plan::access_path::search::Search;
use crate::query::bind::search_terms::BoundTerm;

impl AccessPath {
    /// The path of a connection's page. `probes` is the number of flags that need rows outside of the page. If all rows are
    /// counted as well, the page and the count have half of the window each.
    pub(crate) fn choose(
        connection: &Connection,
        sort_key: usize,
        terms: &[BoundTerm],
        probes: u32,
        is_counted: bool,
        window: SearchWindow,
    ) -> Self {
        let sort = &connection.sort_keys[sort_key];
        let search = Search { connection, sort_key, sort, terms };
        if let Some(path) = search.by_primary_key() {
            return Self { probes, is_counted, ..path };
        }
        let prefix = search.prefix();
        let mut path = Self { index: search.index(prefix), prefix, probes, is_counted, ..Self::default() };
        for index in
            (0..terms.len()).filter(|index| !prefix.is_some_and(|prefix| prefix.terms().any(|term| term == *index)))
        {
            if search.bounds_range(prefix, index) { path.range.push(index) } else { path.filters.push(index) }
        }
        if !path.filters.is_empty() {
            path.checked = search.names(&path.filters);
            search.divide(&mut path, if is_counted { window.half() } else { window });
        }
        path
    }
}

impl Search<'_> {
    /// The path of a search that has values of the primary key, if the page is in another order: a look-up finds all rows.
    fn by_primary_key(&self) -> Option<AccessPath> {
        let identifies = |term: &usize| self.is_equality(*term) && self.identifies(*term) && !self.is_on_order(*term);
        let term = (0..self.terms.len()).find(identifies)?;
        let rows = u32::try_from(self.terms[term].values.len()).unwrap_or(u32::MAX);
        Some(AccessPath {
            filters: (0..self.terms.len()).collect(),
            lookups: vec![Lookup {
                terms: vec![term],
                columns: vec![self.key(term).column.name.clone()],
                rows,
                is_of_pair: false,
                is_text: false,
            }],
            is_exhaustive: true,
            ..AccessPath::default()
        })
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
