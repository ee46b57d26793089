//! The ranges of an index that terms choose by its first columns.

use crate::plan::access_path::merged_ranges::few_values;
use crate::plan::access_path::path::Prefix;
use crate::plan::access_path::search::Search;

impl Search<'_> {
    /// The prefix that probably matches fewest rows.
    pub(super) fn prefix(&self) -> Option<Prefix> {
        let candidates = self.pair_prefixes().chain(self.single_prefixes()).filter(|prefix| self.is_bounded(prefix));
        candidates.min_by_key(|prefix| self.prefix_rank(prefix))
    }

    /// Of the primary key before all, of two keys before one, a selective key before others, a value before a list. A value of
    /// the sort key's column can bound the range of another prefix.
    pub(super) fn prefix_rank(&self, prefix: &Prefix) -> impl Ord + use<> {
        let primary = self.sort.primary_key();
        let is_of_key = |term: usize| primary.iter().any(|column| column.name == self.key(term).column.name);
        let is_whole = prefix.is_sort_column && is_of_key(prefix.term);
        let is_selective = prefix.terms().any(|term| self.key(term).indexed);
        (!is_whole, prefix.second.is_none(), prefix.is_list(), prefix.is_sort_column, !is_selective)
    }

    /// Whether the ranges of a list, if they are merged, can be read with a bound: as far as the page reaches if every row
    /// matches, and otherwise a part of the window of each of a few.
    fn is_bounded(&self, prefix: &Prefix) -> bool {
        let Some(list) = prefix.list.filter(|_| prefix.is_merged()) else { return true };
        let is_of_prefix = |term: usize| prefix.terms().any(|other| other == term);
        let mut others = (0..self.terms.len()).filter(|term| !is_of_prefix(*term));
        few_values(&self.terms[list]).is_some() || others.all(|other| self.bounds_range(Some(*prefix), other))
    }

    fn single_prefixes(&self) -> impl Iterator<Item = Prefix> {
        let equalities = (0..self.terms.len()).filter(|term| self.is_equality(*term) && self.has_type(*term));
        equalities.filter_map(|term| {
            let is_sort_column = self.is_on_order(term);
            let is_served = is_sort_column || self.key(term).in_order_of.contains(&self.sort_key);
            let list = self.is_list(term).then_some(term);
            is_served.then_some(Prefix { term, second: None, list, is_sort_column })
        })
    }

    /// The prefixes of indexes on two keys. One of the terms may be a list.
    fn pair_prefixes(&self) -> impl Iterator<Item = Prefix> {
        let indexes = self.connection.pair_indexes.iter();
        let in_order = indexes.filter(|index| index.in_order_of.contains(&self.sort_key));
        in_order.filter_map(|index| {
            let [term, second] = self.pair(index)?;
            let mut lists = [term, second].into_iter().filter(|term| self.is_list(*term));
            let list = lists.next();
            lists.next().is_none().then_some(Prefix { term, second: Some(second), list, is_sort_column: false })
        })
    }
}
