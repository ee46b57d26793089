//! The scan of the index that has the page's order.

use crate::plan::access_path::prefix::Prefix;
use crate::plan::access_path::search::Search;

/// Ranges of an index that has rows in the page's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexScan {
    /// The columns of the index.
    pub columns: Vec<String>,
    /// The terms whose values choose ranges of this index, by its first columns.
    pub prefix: Option<Prefix>,
    /// The terms that bound a range of this index, by the sort key's column. All rows of the range match them.
    pub range: Vec<usize>,
    /// The most rows with one value in the last column, if the order has further columns. The rows are sorted by these.
    pub ties: Option<u32>,
}

/// Such a scan, and the terms that it leaves to be checked row by row.
pub(super) struct FilteredScan {
    pub(super) scan: IndexScan,
    pub(super) filters: Vec<usize>,
}

impl Search<'_> {
    /// The ranges of the index of the order that terms choose and bound, and the terms that remain. Below a row the join chooses the range.
    pub(super) fn filtered_scan(&self) -> FilteredScan {
        let prefix = self.prefix().filter(|_| !self.is_below_row());
        let others = (0..self.terms.len()).filter(|term| !is_of_prefix(prefix, *term));
        let (range, filters) = others.partition(|term| self.bounds_range(prefix, *term));
        let ties = self.sort.ties.filter(|_| prefix.is_none());
        FilteredScan { scan: IndexScan { columns: self.index(prefix), prefix, range, ties }, filters }
    }

    fn index(&self, prefix: Option<Prefix>) -> Vec<String> {
        if self.sort.ties.is_some() && prefix.is_none() {
            let first = self.sort.columns.first().map(|column| &column.name);
            return self.connection.join.to.iter().chain(first).cloned().collect();
        }
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

/// Whether a term is one of those that choose ranges.
pub(super) fn is_of_prefix(prefix: Option<Prefix>, term: usize) -> bool {
    prefix.is_some_and(|prefix| prefix.terms().any(|other| other == term))
}
