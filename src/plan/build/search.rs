//! The search terms of a connection as parts of its statement, as the access path says.

use crate::catalog::binding::{Connection, SearchKey, SortKey};
use crate::plan::access_path::{AccessPath, Lookup};
use crate::plan::filter::{compare, condition, range_operator};
use crate::plan::keyset::{RangeTerm, Restriction};
use crate::plan::locator::{Locator, LookupSource, ValueList};
use crate::plan::sql::{Alias, ColumnOf, Comparand, Condition, Parameters, Placeholder};
use crate::plan::step::Slot;
use crate::query::bind::terms::BoundTerm;
use crate::search::Comparator;

/// The search terms of a connection.
pub(super) struct SearchTerms<'a> {
    connection: &'a Connection,
    sort_key: &'a SortKey,
    terms: Vec<Term<'a>>,
}

/// A search term, and the placeholder of its value: an array unless it is a range.
struct Term<'a> {
    key: &'a SearchKey,
    comparator: Comparator,
    value: Placeholder,
}

impl<'a> SearchTerms<'a> {
    /// Adds a parameter for each term.
    pub(super) fn new(
        connection: &'a Connection,
        sort_key: &'a SortKey,
        terms: &[BoundTerm],
        parameters: &mut Parameters,
    ) -> Self {
        let slot = |index, comparator| match range_operator(comparator) {
            Some(_) => Slot::Term(index),
            None => Slot::TermValues(index),
        };
        let term = |(index, term): (usize, &BoundTerm)| Term {
            key: &connection.search_keys[term.key],
            comparator: term.comparator,
            value: parameters.add(slot(index, term.comparator)),
        };
        Self { connection, sort_key, terms: terms.iter().enumerate().map(term).collect() }
    }

    /// The terms on the first column of the order. With `compares_cursors`, their values are compared with a cursor's.
    pub(super) fn restriction(
        &self,
        path: &AccessPath,
        compares_cursors: bool,
        parameters: &mut Parameters,
    ) -> Restriction<'a> {
        let scalar = self.sort_key.columns[0].scalar;
        let mut value = |term| compares_cursors.then(|| Comparand::Parameter(parameters.add(Slot::Term(term)), scalar));
        match path.prefix {
            Some(prefix) if prefix.is_sort_column && prefix.is_list => Restriction::Equal(Some(Comparand::Element)),
            Some(prefix) if prefix.is_sort_column => Restriction::Equal(value(prefix.term)),
            _ if path.range.is_empty() => Restriction::None,
            _ => {
                let range = path.range.iter().filter_map(|index| {
                    let operator = range_operator(self.terms[*index].comparator)?;
                    Some(RangeTerm { condition: self.condition(*index), operator, value: value(*index) })
                });
                Restriction::Ranges(range.collect())
            }
        }
    }

    /// The condition of the prefix, if it has one value.
    pub(super) fn prefix(&self, path: &AccessPath) -> Option<Condition<'a>> {
        path.prefix.filter(|prefix| !prefix.is_list).map(|prefix| self.condition(prefix.term))
    }

    /// What finds the rows, if it takes more than one range of the index.
    pub(super) fn locator(&self, path: &AccessPath, relation: &'a str) -> Option<Locator<'a>> {
        let list = path.prefix.filter(|prefix| prefix.is_list);
        if path.is_in_order() && list.is_none() {
            return None;
        }
        let sort: Vec<_> = self.sort_key.columns.iter().map(|column| column.name.as_str()).collect();
        let key = sort[usize::from(self.sort_key.nullable)..].to_vec();
        let of_terms = self.terms.iter().flat_map(|term| match &term.key.semi_join {
            None => std::slice::from_ref(&term.key.column.name),
            Some(semi_join) => semi_join.by.as_slice(),
        });
        let mut columns: Vec<&str> = Vec::new();
        for column in sort.iter().copied().chain(of_terms.map(String::as_str)) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Some(Locator {
            relation,
            key,
            sort,
            index: self.index(path),
            columns,
            list: list.map(|prefix| ValueList {
                values: self.terms[prefix.term].value,
                scalar: self.terms[prefix.term].key.column.scalar,
                is_sort_column: prefix.is_sort_column,
            }),
            prefix: match list {
                Some(prefix) => {
                    let column = &self.terms[prefix.term].key.column.name;
                    Some(Condition::IsElement(ColumnOf(Alias::Base, column)))
                }
                None => self.prefix(path),
            },
            filters: path.filters.iter().map(|index| self.condition(*index)).collect(),
            lookups: path.lookups.iter().filter_map(|lookup| self.lookup(lookup)).collect(),
            is_exhaustive: path.is_exhaustive,
        })
    }

    fn lookup(&self, lookup: &Lookup) -> Option<LookupSource<'a>> {
        let key = self.terms[*lookup.terms.first()?].key;
        let alias = if key.semi_join.is_some() { Alias::Inner } else { Alias::Base };
        let on_key = |index: &usize| {
            let term = &self.terms[*index];
            compare(term.key, term.comparator, term.value, alias)
        };
        let others = (0..self.terms.len()).filter(|index| !lookup.terms.contains(index));
        Some(LookupSource {
            conditions: lookup.terms.iter().map(on_key).collect(),
            column: ColumnOf(alias, &key.column.name),
            semi_join: key.semi_join.as_ref().map(|join| (join.relation.as_str(), join.by.as_slice())),
            rows: lookup.rows,
            filters: others.map(|index| self.condition(index)).collect(),
        })
    }

    fn condition(&self, index: usize) -> Condition<'a> {
        let term = &self.terms[index];
        condition(term.key, term.comparator, term.value)
    }

    /// The columns of the index that has the order, those of the connection's join left out.
    pub(super) fn index(&self, path: &AccessPath) -> Vec<&'a str> {
        let first = path.prefix.map(|prefix| self.terms[prefix.term].key.column.name.as_str());
        let sort = self.sort_key.columns.iter().map(|column| column.name.as_str());
        let index = first.into_iter().chain(sort.filter(|column| Some(*column) != first));
        index.filter(|column| !self.connection.join.to.iter().any(|joined| joined == column)).collect()
    }
}
