//! A search: the terms and the order that decide how its rows are found.

use crate::catalog::connection::{Connection, SortKey};
use crate::catalog::search_key::{PairIndex, SearchKey};
use crate::query::bind::shape::TermShape;
use crate::search::Comparator;
use crate::value::ScalarType;

/// The terms of a search, and the order of its page.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(super) connection: &'a Connection,
    pub(super) sort_key: usize,
    pub(super) sort: &'a SortKey,
    pub(super) terms: &'a [TermShape],
}

impl<'a> Search<'a> {
    /// A search in the order of the connection's sort key with that index.
    pub(crate) fn new(connection: &'a Connection, sort_key: usize, terms: &'a [TermShape]) -> Self {
        Self { connection, sort_key, sort: &connection.sort_keys[sort_key], terms }
    }

    /// Whether the rows belong to a row above, by a join.
    pub(super) fn is_below_row(&self) -> bool {
        !self.connection.join.to.is_empty()
    }

    pub(super) fn key(&self, term: usize) -> &'a SearchKey {
        &self.connection.search_keys[self.terms[term].key]
    }

    /// The names of the terms' keys, each once.
    pub(super) fn names(&self, terms: &[usize]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for term in terms {
            let name = &self.key(*term).name;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    pub(super) fn is_list(&self, term: usize) -> bool {
        self.terms[term].comparator == Comparator::In
    }

    pub(super) fn is_equality(&self, term: usize) -> bool {
        matches!(self.terms[term].comparator, Comparator::Equals | Comparator::In)
    }

    /// Whether the term is on the sort key's column.
    pub(super) fn is_on_order(&self, term: usize) -> bool {
        let key = self.key(term);
        key.semi_join.is_none() && key.column.name == self.sort.columns[0].name
    }

    /// Whether the term searches text for words.
    pub(super) fn is_text(&self, term: usize) -> bool {
        self.terms[term].comparator == Comparator::Matches
    }

    pub(super) fn is_range_of_order(&self, term: usize) -> bool {
        self.is_on_order(term) && !self.is_equality(term)
    }

    /// Ranges compare values of a type that the statement names. The type of a boolean column is not known.
    pub(super) fn has_type(&self, term: usize) -> bool {
        self.key(term).column.scalar != ScalarType::Boolean
    }

    /// The terms on the keys of an index on two keys.
    pub(super) fn pair(&self, index: &PairIndex) -> Option<[usize; 2]> {
        let term = |key| (0..self.terms.len()).find(|term| self.terms[*term].key == key && self.is_equality(*term));
        let [first, second] = index.keys;
        Some([term(first)?, term(second)?])
    }

    /// Whether the key is the primary key.
    pub(super) fn identifies(&self, term: usize) -> bool {
        let key = self.key(term);
        key.semi_join.is_none() && matches!(self.sort.primary_key(), [only] if only.name == key.column.name)
    }
}
