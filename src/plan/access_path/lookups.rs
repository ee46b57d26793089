//! The searches by an index of their own that are tried first.

use crate::catalog::search_key::{PairIndex, SemiJoin};
use crate::plan::access_path::prefix::Prefix;
use crate::plan::access_path::scan::{FilteredScan, is_of_prefix};
use crate::plan::access_path::search::Search;

/// A search by the index of one key, or of two. It is used if it finds few rows, which are then sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The terms that bound the range of the index, by its first column, and by the next columns if the terms before equal values.
    pub terms: Vec<usize>,
    /// The first columns of the index, as many as are bound. Several terms can bound the last one.
    pub columns: Vec<String>,
    /// The most matching rows with which it is used, a part of the configured window. [`AccessPath::lookup_rows`](super::AccessPath::lookup_rows) has the number for a request.
    pub rows: u32,
    /// Whether the index is one on two keys. The first column of such an index is descending.
    pub is_of_pair: bool,
    /// Whether the index is one on the words of a text. Such an index has no order, and is used if a word is rare.
    pub is_text: bool,
    /// Which of the rows are read that join the rows of another relation, if the terms are on columns of that.
    pub joined: JoinedRows,
}

/// The rows that join rows of another relation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JoinedRows {
    /// All of them.
    #[default]
    All,
    /// The range of these terms, by an index on the columns of the join and the terms' column.
    Range(Vec<usize>),
    /// As many as the page needs, by an index that has the rows of each joined row in the page's order. These ranges are merged, so
    /// [`Lookup::rows`] is the most rows of the other relation.
    Merged,
}

impl Lookup {
    /// The terms that the rows match without a comparison of each.
    pub(crate) fn served(&self) -> impl Iterator<Item = usize> + Clone {
        let range = if let JoinedRows::Range(range) = &self.joined { range.as_slice() } else { &[] };
        self.terms.iter().chain(range).copied()
    }

    /// Whether the rows are ranges that are merged.
    pub fn is_merged(&self) -> bool {
        self.joined == JoinedRows::Merged
    }
}

impl Search<'_> {
    /// The look-ups by terms that have an index. The one that probably matches fewest rows comes first. The ends of a range are one
    /// look-up. The prefix is among them if its index is continued by a range.
    pub(super) fn lookups(&self, found: &FilteredScan) -> Vec<Lookup> {
        let prefix = found.scan.prefix.map(|prefix| prefix.term);
        let continued = |term: usize| self.continued(&self.key(term).in_order_of, &found.filters);
        let of_prefix = prefix.into_iter().filter(|term| !continued(*term).is_empty());
        let mut ranked: Vec<(u8, Lookup)> = self.pair_lookup(found).map(|lookup| (0, lookup)).into_iter().collect();
        for term in of_prefix.chain(found.filters.iter().copied()).filter(|term| self.is_looked_up(*term)) {
            let key = self.key(term);
            let is_text = self.is_text(term);
            let is_range = !self.is_equality(term) && !is_text;
            // Fewer rows match both.
            if ranked.iter().any(|(_, lookup)| lookup.is_of_pair && lookup.terms.contains(&term)) {
                continue;
            }
            let has_term =
                |lookup: &Lookup| lookup.terms.iter().any(|other| self.terms[*other].key == self.terms[term].key);
            if is_range && let Some((_, lookup)) = ranked.iter_mut().find(|(_, lookup)| has_term(lookup)) {
                if !lookup.terms.contains(&term) {
                    lookup.terms.push(term);
                }
                continue;
            }
            let range = if is_range || is_text { Vec::new() } else { continued(term) };
            let rank = match (is_range, self.is_list(term), key.indexed) {
                _ if !range.is_empty() => 0,
                _ if is_text => 3,
                (false, false, true) => 1,
                (false, true, true) => 2,
                (false, false, false) => 3,
                (true, _, _) => 4,
                (false, true, false) => 5,
            };
            let second = range.first().map(|term| self.key(*term).column.name.clone());
            let columns = std::iter::once(key.column.name.clone()).chain(second).collect();
            let terms = std::iter::once(term).chain(range).collect();
            let joined = JoinedRows::All;
            ranked.push((rank, Lookup { terms, columns, rows: 0, is_of_pair: false, is_text, joined }));
        }
        for (_, lookup) in &mut ranked {
            lookup.joined = self.joined_rows(lookup, found);
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, lookup)| lookup).collect()
    }

    /// Which of the rows are read that join the rows of a look-up in another relation.
    fn joined_rows(&self, lookup: &Lookup, found: &FilteredScan) -> JoinedRows {
        let is_equal = lookup.terms.iter().all(|term| self.is_equality(*term));
        let semi_join = lookup.terms.first().and_then(|term| self.key(*term).semi_join.as_ref());
        let Some(semi_join) = semi_join.filter(|join| is_equal && join.unlimited.is_none()) else {
            return JoinedRows::All;
        };
        let is_whole = found.filters.iter().all(|term| lookup.terms.contains(term));
        // The range of such terms would be on the column of the join.
        let is_open = found.scan.range.is_empty() || !self.joins_by_sort_column(semi_join);
        let is_in_order =
            semi_join.in_order_of.contains(&self.sort_key) && self.sort.ties.is_none() && !self.is_below_row();
        if is_whole && is_open && is_in_order && found.scan.prefix.is_none() {
            return JoinedRows::Merged;
        }
        let range = self.continued(&semi_join.in_order_of, &found.filters);
        if range.is_empty() { JoinedRows::All } else { JoinedRows::Range(range) }
    }

    /// Whether the joined rows of each row have one value in the page's first column.
    pub(super) fn joins_by_sort_column(&self, semi_join: &SemiJoin) -> bool {
        semi_join.by.contains(&self.sort.columns[0].name)
    }

    /// Whether a look-up may find few rows of the term: of the values that a caller sees, one may be as rare as one that is asked for.
    fn is_looked_up(&self, term: usize) -> bool {
        let key = self.key(term);
        key.lookup && !(key.scope.is_some() && self.is_list(term))
    }

    /// A look-up by two terms and a range that continues them, or by two terms, if that is not what the prefix does. The first may be
    /// a list.
    fn pair_lookup(&self, found: &FilteredScan) -> Option<Lookup> {
        let pairs = self.connection.pair_indexes.iter().filter_map(|index| {
            let pair = self.pair(index).filter(|[_, second]| !self.is_list(*second))?;
            let range = self.continued(&index.in_order_of, &found.filters);
            (!range.is_empty() || !pair.iter().all(|term| is_of_prefix(found.scan.prefix, *term)))
                .then_some((pair, range))
        });
        let (pair, range) = pairs.min_by_key(|(_, range)| range.is_empty())?;
        let of_pair = pair.iter().chain(range.first());
        let columns = of_pair.map(|term| self.key(*term).column.name.clone()).collect();
        Some(Lookup {
            terms: pair.into_iter().chain(range).collect(),
            columns,
            rows: 0,
            is_of_pair: true,
            is_text: false,
            joined: JoinedRows::All,
        })
    }

    /// Whether the rows of these ranges are read from an index alone.
    pub(super) fn reads_index_alone(&self, prefix: Option<Prefix>) -> bool {
        prefix.is_some_and(|prefix| {
            let terms: Vec<_> = prefix.terms().collect();
            let of_terms = terms.iter().map(|term| &self.key(*term).column.name);
            let columns = of_terms.chain(self.sort.columns.first().map(|column| &column.name)).cloned().collect();
            let (is_of_pair, joined) = (prefix.second.is_some(), JoinedRows::All);
            self.is_covered(&Lookup { terms, columns, rows: 0, is_of_pair, is_text: false, joined })
        })
    }

    /// Whether the look-up reads an index alone: one that has all columns of the terms, of the order and of the primary key.
    pub(super) fn is_covered(&self, lookup: &Lookup) -> bool {
        if let JoinedRows::Range(range) = &lookup.joined {
            return self.is_covered_by_joined_index(lookup, range);
        }
        let Some(include) = self.included(lookup).filter(|include| !include.is_empty()) else { return false };
        let key = self.sort.primary_key().iter().map(|column| &column.name);
        let known = key.chain(&lookup.columns).chain(include);
        let columns = self.sort.columns.iter().map(|column| &column.name);
        let of_terms = (0..self.terms.len()).flat_map(|term| {
            let key = self.key(term);
            key.semi_join.as_ref().map_or(std::slice::from_ref(&key.column.name), |semi_join| &semi_join.by)
        });
        columns.chain(of_terms).all(|column| known.clone().any(|known| known == column))
    }

    /// Whether the index on the columns of the join and the range's column has all columns. It has no others but the primary key's.
    fn is_covered_by_joined_index(&self, lookup: &Lookup, range: &[usize]) -> bool {
        let semi_join = lookup.terms.first().and_then(|term| self.key(*term).semi_join.as_ref());
        let by = semi_join.into_iter().flat_map(|join| &join.by);
        let ranges = range.iter().map(|term| &self.key(*term).column.name);
        let known = self.sort.primary_key().iter().map(|column| &column.name).chain(by).chain(ranges);
        let is_known = |name: &String| known.clone().any(|known| known == name);
        (0..self.terms.len()).all(|term| lookup.served().any(|served| served == term))
            && self.sort.columns.iter().all(|column| is_known(&column.name))
    }

    /// The further columns of the index that a look-up reads.
    fn included(&self, lookup: &Lookup) -> Option<&[String]> {
        let term = lookup.terms.first()?;
        if lookup.is_of_pair {
            let is_used = |index: &&PairIndex| self.pair(index).is_some_and(|pair| lookup.terms.starts_with(&pair));
            return Some(&self.connection.pair_indexes.iter().find(is_used)?.include);
        }
        // A second column is the first column of an order. The further columns are known for the first of the orders.
        let key = self.key(*term);
        let second = key.in_order_of.first().map(|index| &self.connection.sort_keys[*index].columns[0].name);
        (lookup.columns.len() == 1 || lookup.columns.last() == second).then_some(&key.include)
    }

    /// The range terms among the filters that continue an index in the order of one of these sort keys: they bound its first column.
    fn continued(&self, in_order_of: &[usize], filters: &[usize]) -> Vec<usize> {
        let columns = in_order_of.iter().map(|sort_key| &self.connection.sort_keys[*sort_key].columns[0].name);
        let is_on = |filter: &usize, column: &String| {
            let key = self.key(*filter);
            !self.is_equality(*filter) && key.semi_join.is_none() && key.column.name == *column
        };
        let mut ranges = columns.map(|column| filters.iter().copied().filter(|filter| is_on(filter, column)).collect());
        ranges.find(|range: &Vec<usize>| !range.is_empty()).unwrap_or_default()
    }
}
