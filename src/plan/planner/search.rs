//! The search terms of a connection as parts of its statement, as the access path says.

use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, SortKey};
use crate::catalog::search_key::{ScopeKey, SearchKey, SemiJoin};
use crate::catalog::stored_type::StoredType;
use crate::plan::access_path::{
    AccessPath, FoundFor, HiddenRows, IndexScan, JoinedRows, KeyLookup, Lookup, ParentRows, Prefix, Strategy, Window,
};
use crate::plan::keyset::{RangeTerm, Restriction};
use crate::plan::locator::{CountedLookup, LocatedRows, Locator, MergedLookup, RangesSql, RowSource, WindowSql};
use crate::plan::lookup_source::{JoinedRange, LookupSource};
use crate::plan::parameters::{ParameterSource, Parameters, Placeholder};
use crate::plan::rare_words::Words;
use crate::plan::scope_sql;
use crate::plan::sql::{Alias, ColumnOf, Comparand, Condition, IndexOrder, InnerIndex, SqlOperator};
use crate::plan::value_list::{OtherList, ValueList};
use crate::query::bind::shape::TermShape;
use crate::search::Comparator;
use crate::value::ScalarType;

/// The search terms of a connection.
pub(super) struct SearchTerms<'a, 't, 'p> {
    connection: &'a Connection,
    sort_key: &'a SortKey,
    terms: Vec<PlannedTerm<'a>>,
    /// The parameters of the statement, to which those of the terms are added.
    pub(super) parameters: &'t mut Parameters<'p>,
}

/// A search term, and the placeholders of its value that the statement uses.
struct PlannedTerm<'a> {
    key: &'a SearchKey,
    comparator: Comparator,
    /// How many values it has, if these are few and all plans that share the statement have as many.
    few: Option<u32>,
    value: Option<Placeholder>,
    values: Option<Placeholder>,
}

impl<'a, 't, 'p> SearchTerms<'a, 't, 'p> {
    /// The terms of a search for rows in the order of the sort key with that index.
    pub(super) fn new(
        connection: &'a Connection,
        sort_key: usize,
        terms: &[TermShape],
        parameters: &'t mut Parameters<'p>,
    ) -> Self {
        let term = |term: &TermShape| {
            let key = &connection.search_keys[term.key];
            PlannedTerm { key, comparator: term.comparator, few: term.few, value: None, values: None }
        };
        let (sort_key, terms) = (&connection.sort_keys[sort_key], terms.iter().map(term).collect());
        Self { connection, sort_key, terms, parameters }
    }

    /// The value of a term.
    fn value(&mut self, index: usize) -> Placeholder {
        *self.terms[index].value.get_or_insert_with(|| self.parameters.add(ParameterSource::Term(index)))
    }

    /// The values of a term as an array.
    fn values(&mut self, index: usize) -> Placeholder {
        *self.terms[index].values.get_or_insert_with(|| self.parameters.add(ParameterSource::TermValues(index)))
    }

    /// Whether ranges of a scope's values are merged, by the index's first column, which has text.
    fn is_of_scope(&self, prefix: Prefix, term: usize) -> bool {
        let key = self.terms[term].key;
        prefix.is_merged() && term == prefix.term && key.scope.is_some() && key.column.stored == StoredType::Text
    }

    /// The conditions of terms that are checked row by row.
    fn filters(&mut self, terms: &[usize]) -> Vec<Condition<'a>> {
        terms.iter().map(|index| self.filter(*index)).collect()
    }

    /// The condition of a term that is checked row by row. The value of a list is an array; with a semi-join, so is the value of an
    /// equality.
    fn filter(&mut self, index: usize) -> Condition<'a> {
        let PlannedTerm { key, comparator, .. } = self.terms[index];
        if let Some(ScopeKey::Row(condition)) = &key.scope {
            return scope_sql::condition(condition, self.parameters);
        }
        let alias = if key.semi_join.is_some() { Alias::Inner } else { Alias::Base };
        let column = ColumnOf(alias, &key.column.name);
        let condition = match comparator {
            Comparator::Equals if alias == Alias::Base => {
                Condition::Compare(column, SqlOperator::Equal, self.value(index))
            }
            // The type of a boolean column is the database's: boolean, or text. Its lists are short.
            Comparator::In if key.column.scalar != ScalarType::Boolean => {
                Condition::InSet(column, self.values(index), key.column.stored)
            }
            _ => self.index_condition(index, alias),
        };
        let Some(semi_join) = &key.semi_join else { return condition };
        let is_of_row = key.is_computed || range_operator(comparator).is_some();
        let inner = if is_of_row { InnerIndex::OfRow } else { InnerIndex::OfValue };
        Condition::Exists(&semi_join.relation, &semi_join.by, Box::new(condition), inner)
    }

    /// The condition of a term that an index serves, on the relation that has its column. The value of an equality is an array, as the
    /// value of a list is.
    fn index_condition(&mut self, index: usize, alias: Alias) -> Condition<'a> {
        let PlannedTerm { key, comparator, .. } = self.terms[index];
        let column = ColumnOf(alias, &key.column.name);
        if let Some(language) = &key.language {
            return Condition::Matches(column, language, self.value(index));
        }
        match range_operator(comparator) {
            Some(operator) => Condition::Compare(column, operator, self.value(index)),
            None => Condition::Among(column, self.values(index)),
        }
    }

    /// The terms on the first column of the order. With `compares_cursors`, their values are compared with a cursor's.
    pub(super) fn restriction(&mut self, path: &AccessPath, compares_cursors: bool) -> Restriction<'a> {
        let Column { stored, collation, .. } = self.sort_key.columns[0];
        let value = |term, parameters: &mut Parameters<'_>| {
            compares_cursors
                .then(|| Comparand::Parameter(parameters.add(ParameterSource::Term(term)), stored, collation))
        };
        let Some(scan) = path.scan() else { return Restriction::None };
        match scan.prefix {
            Some(prefix) if prefix.is_sort_column && prefix.is_list() => Restriction::Equal(Some(Comparand::Element)),
            Some(prefix) if prefix.is_sort_column => Restriction::Equal(value(prefix.term, self.parameters)),
            _ if scan.range.is_empty() => Restriction::None,
            _ => {
                let mut ranges = Vec::new();
                for index in scan.range.iter().copied() {
                    let PlannedTerm { key, comparator, .. } = self.terms[index];
                    let placeholder = self.value(index);
                    let value = value(index, self.parameters);
                    let operators = match range_operator(comparator) {
                        Some(operator) => vec![operator],
                        // As a range, because PostgreSQL drops columns that equal a value from the order.
                        None => vec![SqlOperator::GreaterOrEqual, SqlOperator::LessOrEqual],
                    };
                    ranges.extend(operators.into_iter().map(|operator| {
                        let condition =
                            Condition::Compare(ColumnOf(Alias::Base, &key.column.name), operator, placeholder);
                        RangeTerm { condition, operator, value }
                    }));
                }
                Restriction::Ranges(ranges)
            }
        }
    }

    /// The keys of terms on other relations, and the arrays of their values, as far as conditions have them.
    pub(super) fn semi_joined(&self) -> impl Iterator<Item = (&'a SearchKey, Placeholder)> {
        let terms = self.terms.iter().filter(|term| term.key.semi_join.is_some());
        terms.filter_map(|term| Some((term.key, term.values?)))
    }

    /// The conditions of the prefix.
    pub(super) fn prefix(&mut self, prefix: Option<Prefix>) -> Vec<Condition<'a>> {
        let Some(prefix) = prefix else { return Vec::new() };
        let condition = |(position, term): (usize, usize)| {
            let column = ColumnOf(Alias::Base, &self.terms[term].key.column.name);
            match (prefix.list == Some(term), position) {
                (true, 0) => Condition::IsElement(column),
                (true, _) => Condition::Equals(column, Comparand::Element),
                (false, _) if prefix.other_list == Some(term) => Condition::Equals(column, Comparand::OtherElement),
                (false, 0) => self.index_condition(term, Alias::Base),
                // The order of the index's first column decides which index is used, so this column need not be in the order.
                (false, _) => Condition::Compare(column, SqlOperator::Equal, self.value(term)),
            }
        };
        prefix.terms().enumerate().map(condition).collect()
    }

    /// The locator of the rows, if finding them takes more than one range of the index. `joined` are the conditions that join the rows with
    /// the parent.
    pub(super) fn locator(
        &mut self,
        path: &AccessPath,
        relation: &'a str,
        joined: &[Condition<'a>],
    ) -> Option<Locator<'a>> {
        let rows = match &path.strategy {
            Strategy::Order(IndexScan { prefix, ties, .. })
                if prefix.is_none_or(|prefix| !prefix.is_list())
                    && (ties.is_none() || path.found_for == FoundFor::Count) =>
            {
                return None;
            }
            Strategy::Order(scan) => LocatedRows::Ranges(self.ranges(scan, path.found_for != FoundFor::Count)),
            Strategy::Window(window) => LocatedRows::Window(self.window(path, window)),
            Strategy::Key(KeyLookup { term, filters, .. }) => {
                let (condition, column) =
                    (self.index_condition(*term, Alias::Base), &self.terms[*term].key.column.name);
                LocatedRows::Key(self.in_base(vec![condition], std::slice::from_ref(column), filters))
            }
            Strategy::Parent(ParentRows { filters, at_most, .. }) => {
                let rows = self.in_base(joined.to_vec(), &self.connection.join.to, filters);
                LocatedRows::Parent { rows, at_most: *at_most }
            }
        };
        Some(Locator { source: self.source(relation, joined), rows })
    }

    fn source(&self, relation: &'a str, joined: &[Condition<'a>]) -> RowSource<'a> {
        let sort: Vec<_> = self.sort_key.columns.iter().map(|column| column.name.as_str()).collect();
        let key = self.sort_key.primary_key().iter().map(|column| column.name.as_str()).collect();
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
        RowSource { relation, key, sort, columns, joined: joined.to_vec() }
    }

    fn window(&mut self, path: &AccessPath, window: &Window) -> WindowSql<'a> {
        let ranges = self.ranges(&window.scan, false);
        let is_paid = path.found_for == FoundFor::Totals && !window.lookups.is_empty();
        let paid = is_paid.then(|| self.parameters.add(ParameterSource::PageSize));
        let found = window.lookups.iter().filter_map(|lookup| self.lookup(path, (lookup, window.hidden_rows), paid));
        let lookups = found.collect();
        let is_count = path.found_for == FoundFor::Count;
        let rows = if is_count { ParameterSource::CountWindow } else { ParameterSource::Window };
        let rows = self.parameters.add(rows);
        let filters = self.filters(&window.filters);
        // A parameter has to be in the text.
        let is_probed_among_hidden = path.probes > 0 && window.hidden_rows == HiddenRows::All;
        let probe_rows = self.parameters.row_bound(window.probe_rows, is_probed_among_hidden);
        WindowSql { ranges, filters, lookups, rows, probe_rows }
    }

    fn ranges(&mut self, scan: &IndexScan, is_page_in_order: bool) -> RangesSql<'a> {
        let (prefix, list) = (self.prefix(scan.prefix), self.list(scan.prefix, is_page_in_order));
        RangesSql { index: self.index(scan.prefix), list, prefix, ties: scan.ties }
    }

    /// The list of values whose ranges the rows are in, if there is one.
    fn list(&mut self, prefix: Option<Prefix>, is_page_in_order: bool) -> Option<ValueList> {
        let prefix = prefix?;
        let term = prefix.list?;
        let PlannedTerm { key, few, .. } = self.terms[term];
        let reads_heads = prefix.is_merged() && is_page_in_order;
        Some(ValueList {
            values: self.values(term),
            stored: key.column.stored,
            collation: key.column.collation,
            is_merged: prefix.is_merged(),
            head: (reads_heads && few.is_none()).then(|| self.parameters.add(ParameterSource::RangeHead(term))),
            ranges: few.filter(|few| *few > 0 && self.is_of_scope(prefix, term)),
            other: prefix.other_list.and_then(|other| {
                let stored = self.terms[other].key.column.stored;
                Some(OtherList { values: self.values(other), stored, length: self.terms[other].few? })
            }),
        })
    }

    /// A look-up by an index of the rows' own relation that begins with these columns.
    fn in_base(
        &mut self,
        conditions: Vec<Condition<'a>>,
        columns: &'a [String],
        filters: &[usize],
    ) -> LookupSource<'a> {
        LookupSource {
            conditions,
            is_first_descending: false,
            order: columns.iter().map(|column| ColumnOf(Alias::Base, column)).collect(),
            words: None,
            semi_join: None,
            joined_range: None,
            filters: self.filters(filters),
        }
    }

    fn lookup(
        &mut self,
        path: &AccessPath,
        (lookup, hidden_rows): (&Lookup, HiddenRows),
        paid: Option<Placeholder>,
    ) -> Option<CountedLookup<'a>> {
        let key = self.terms[*lookup.terms.first()?].key;
        let alias = if key.semi_join.is_some() { Alias::Inner } else { Alias::Base };
        let is_continued = lookup.columns.len() > 2;
        let mut conditions = Vec::new();
        for (position, index) in lookup.terms.iter().copied().enumerate() {
            if lookup.is_of_pair && position == 1 {
                let column = ColumnOf(alias, &self.terms[index].key.column.name);
                let value = self.value(index);
                // As a range: PostgreSQL drops columns that equal a value from the order, and the order decides which index is used. If a
                // range continues the index, its column is in the order, and PostgreSQL begins to read the index at the range only after an
                // equality.
                let [equal, range] =
                    [[SqlOperator::Equal].as_slice(), &[SqlOperator::GreaterOrEqual, SqlOperator::LessOrEqual]];
                let operators = if is_continued { equal } else { range };
                conditions.extend(operators.iter().map(|operator| Condition::Compare(column, *operator, value)));
            } else if !lookup.is_text {
                conditions.push(self.index_condition(index, alias));
            }
        }
        let column = |index: usize| self.terms[index].key.column.name.as_str();
        let first = column(*lookup.terms.first()?);
        let mut others = lookup.terms.iter().map(|index| column(*index)).filter(|column| *column != first);
        let second = if is_continued { others.next_back() } else { others.next() };
        let order = std::iter::once(first).chain(second).map(|column| ColumnOf(alias, column)).collect();
        let words = key.language.as_ref().map(|language| Words {
            column: &key.column.name,
            language,
            value: self.value(lookup.terms[0]),
        });
        let rows = self.parameters.row_bound(lookup.rows, hidden_rows != HiddenRows::None);
        let merged = key.semi_join.as_ref().filter(|_| lookup.is_merged());
        let merged = merged.map(|join| self.merged(join, lookup.rows, path.found_for == FoundFor::Count));
        let others = (0..self.terms.len()).filter(|index| !lookup.served().any(|served| served == *index));
        let others = if merged.is_some() { Vec::new() } else { others.collect() };
        let source = LookupSource {
            conditions,
            is_first_descending: lookup.is_of_pair && key.semi_join.is_none(),
            order,
            words,
            semi_join: key.semi_join.as_ref(),
            joined_range: self.joined_range(lookup),
            filters: self.filters(&others),
        };
        let paid = paid.filter(|_| merged.is_none());
        Some(CountedLookup { source, rows, paid, merged })
    }

    /// The range of the rows that join a row of another relation, if terms bound one.
    fn joined_range(&mut self, lookup: &Lookup) -> Option<JoinedRange<'a>> {
        let JoinedRows::Range(range) = &lookup.joined else { return None };
        let column = ColumnOf(Alias::Base, &self.terms[*range.first()?].key.column.name);
        let conditions = range.iter().map(|term| self.index_condition(*term, Alias::Base)).collect();
        Some(JoinedRange { column, conditions })
    }

    /// The ranges of the rows that join rows of another relation, in the page's order.
    fn merged(&mut self, semi_join: &'a SemiJoin, rows: u32, is_count: bool) -> MergedLookup<'a> {
        let by = || semi_join.by.iter().map(String::as_str);
        let sort = self.sort_key.columns.iter().map(|column| column.name.as_str());
        let sort = sort.filter(|column| !by().any(|joined| joined == *column));
        let index = IndexOrder { columns: by().chain(sort).collect(), is_first_descending: false };
        let prefix = by().map(|column| Condition::IsElement(ColumnOf(Alias::Base, column))).collect();
        MergedLookup {
            ranges: RangesSql { index, list: None, prefix, ties: None },
            head: (!is_count).then(|| self.parameters.add(ParameterSource::JoinedRangeHead(rows))),
        }
    }

    /// The columns of the index that has the order, without the columns of the connection's join. Of the first column alone there are more
    /// indexes, so that these columns choose one.
    pub(super) fn index(&self, prefix: Option<Prefix>) -> IndexOrder<'a> {
        if prefix.is_none() && self.sort_key.ties.is_some() {
            let first = self.sort_key.columns.first().map(|column| column.name.as_str());
            let columns = self.connection.join.to.iter().map(String::as_str).chain(first).collect();
            return IndexOrder { columns, is_first_descending: false };
        }
        let of_terms = prefix.into_iter().flat_map(|prefix| prefix.terms().collect::<Vec<_>>());
        let mut columns: Vec<_> = of_terms.map(|term| self.terms[term].key.column.name.as_str()).collect();
        for column in self.sort_key.columns.iter().map(|column| column.name.as_str()) {
            if !columns.contains(&column) && !self.connection.join.to.iter().any(|joined| joined == column) {
                columns.push(column);
            }
        }
        IndexOrder { columns, is_first_descending: prefix.is_some_and(|prefix| prefix.is_descending) }
    }
}

/// The operator of a range; `None` of other comparators.
fn range_operator(comparator: Comparator) -> Option<SqlOperator> {
    match comparator {
        Comparator::Equals | Comparator::In | Comparator::Matches => None,
        Comparator::Greater => Some(SqlOperator::Greater),
        Comparator::GreaterOrEqual => Some(SqlOperator::GreaterOrEqual),
        Comparator::Less => Some(SqlOperator::Less),
        Comparator::LessOrEqual => Some(SqlOperator::LessOrEqual),
    }
}
