//! The ranges of an index that terms choose by its first columns.

use crate::catalog::stored_type::StoredType;
use crate::plan::access_path::search::Search;

/// The terms whose values choose ranges of an index. Terms are named by their index in the search string, as in the path that has the
/// prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The term on the index's first column.
    pub term: usize,
    /// The term on the index's second column, if it is an index on two keys. The first column of such an index is descending, so that an
    /// order of both columns fits no other index.
    pub second: Option<usize>,
    /// The first of these terms that has several values. Its ranges are read one after the other, or merged. The path does not say how
    /// many there are: a request's bound has their number.
    pub list: Option<usize>,
    /// The second term, if both have a few values: each pair of values chooses a range.
    pub other_list: Option<usize>,
    /// Whether the index's first column is descending: it is an index on two keys, of which the second is the sort key's column or `second`.
    pub is_descending: bool,
    /// Whether the index's first column is the sort key's. Then the ranges of a list follow each other in the page's order, and are not
    /// merged.
    pub is_sort_column: bool,
}

impl Prefix {
    /// Whether a term has several values.
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// The terms, in the order of the index's columns.
    pub(crate) fn terms(&self) -> impl Iterator<Item = usize> + Clone {
        std::iter::once(self.term).chain(self.second)
    }

    /// The terms with several values.
    pub(crate) fn lists(&self) -> impl Iterator<Item = usize> + use<> {
        self.list.into_iter().chain(self.other_list)
    }

    /// Whether the ranges of a list are merged into the page's order. They are not if that is the order of the list.
    pub(crate) fn is_merged(&self) -> bool {
        self.is_list() && !self.is_sort_column
    }
}

impl Search<'_> {
    /// The prefix that probably matches fewest rows.
    pub(super) fn prefix(&self) -> Option<Prefix> {
        let candidates = self.pair_prefixes().chain(self.single_prefixes()).filter(|prefix| self.is_bounded(prefix));
        candidates.min_by_key(|prefix| self.prefix_rank(prefix))
    }

    /// The rank of a prefix, the lowest for the best. In this order: the primary key before all, two keys before one, a value before a list,
    /// other columns before the sort key's column, and a selective key before others. A value of the sort key's column can bound the range
    /// of another prefix.
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
        self.terms[list].few.is_some() || others.all(|other| self.bounds_range(Some(*prefix), other))
    }

    fn single_prefixes(&self) -> impl Iterator<Item = Prefix> {
        let equalities = (0..self.terms.len()).filter(|term| self.is_equality(*term) && self.has_type(*term));
        equalities.filter_map(|term| {
            let is_sort_column = self.is_on_order(term) && self.sort.ties.is_none();
            let is_served = is_sort_column || self.key(term).in_order_of.contains(&self.sort_key);
            let is_descending = !is_served && self.connection.has_pair_order(self.terms[term].key, self.sort);
            let list = self.is_list(term).then_some(term);
            let prefix = Prefix { term, second: None, list, other_list: None, is_descending, is_sort_column };
            (is_served || is_descending).then_some(prefix)
        })
    }

    /// The prefixes of indexes on two keys. One of the terms may be a list; both may, if the first has a few values that a scope limits the
    /// caller to, and the second a few that are asked for.
    fn pair_prefixes(&self) -> impl Iterator<Item = Prefix> {
        let indexes = self.connection.pair_indexes.iter();
        let in_order = indexes.filter(|index| index.in_order_of.contains(&self.sort_key));
        in_order.filter_map(|index| {
            let [term, second] = self.pair(index)?;
            let mut lists = [term, second].into_iter().filter(|term| self.is_list(*term));
            let (list, other_list) = (lists.next(), lists.next());
            let is_divided =
                self.key(term).scope.is_some() && self.is_of_few_texts(term) && self.is_of_few_texts(second);
            let second = Some(second);
            let prefix = Prefix { term, second, list, other_list, is_descending: true, is_sort_column: false };
            (other_list.is_none() || is_divided).then_some(prefix)
        })
    }

    /// Whether the term has a few values, all distinct as they are.
    fn is_of_few_texts(&self, term: usize) -> bool {
        let is_few = self.terms[term].few.is_some_and(|few| few > 0);
        is_few && self.key(term).column.stored == StoredType::Text
    }

    /// Whether the term bounds the range of the index by the sort key's column. Beside a prefix, or if rows are sorted by the other columns,
    /// that column can also equal a value.
    pub(super) fn bounds_range(&self, prefix: Option<Prefix>, term: usize) -> bool {
        let is_value = (prefix.is_some() || self.sort.ties.is_some())
            && self.is_equality(term)
            && !self.is_list(term)
            && self.has_type(term);
        prefix.is_none_or(|prefix| !prefix.is_sort_column)
            && (self.is_range_of_order(term) || is_value && self.is_on_order(term))
    }

    /// How many ranges of a prefix are merged, if these are few; otherwise one.
    pub(super) fn merged_ranges(&self, prefix: Option<Prefix>) -> u32 {
        let lists = prefix.filter(Prefix::is_merged).into_iter().flat_map(|prefix| prefix.lists());
        lists.map(|term| self.terms[term].few.unwrap_or(1).max(1)).product()
    }
}
