//! How the rows of a connection's page are found: its search terms, cursors and order as the parts of its SQL.

use crate::catalog::connection::{Connection, SortKey};
use crate::catalog::search_window::SearchWindow;
use crate::plan::access_path::{AccessPath, CountPath, Search};
use crate::plan::keyset::{self, KeysetBound, KeysetColumns, KeysetRange, Nulls, Restriction};
use crate::plan::locator::Span;
use crate::plan::page_sql::{Count, PageSql, Parent, Scan};
use crate::plan::parameters::{ParameterSource, Parameters};
use crate::plan::planner::page_fields::PageFields;
use crate::plan::planner::search::SearchTerms;
use crate::plan::select::Select;
use crate::plan::sql::{Comparand, Condition};
use crate::query::bind::page_size::FromEnd;
use crate::query::bind::shape::{CursorShape, PageShape, TermShape};

/// A page that a request asks for.
#[derive(Clone, Copy)]
pub(super) struct RequestedPage<'a, 's> {
    pub(super) connection: &'a Connection,
    pub(super) shape: &'s PageShape,
    /// The terms of its search.
    pub(super) terms: &'s [TermShape],
    pub(super) fields: &'s PageFields,
}

/// How the rows of a page are joined with the row above it.
pub(super) struct ParentJoin<'a> {
    pub(super) parent: Parent,
    pub(super) conditions: Vec<Condition<'a>>,
}

impl<'a> RequestedPage<'a, '_> {
    /// How its rows are found.
    pub(super) fn access_path(self, window: SearchWindow) -> AccessPath {
        let Self { connection, shape, terms, fields } = self;
        let search = Search::new(connection, shape.sort_key, terms);
        AccessPath::choose(search, fields.probes(), fields.is_counted, window)
    }

    /// The SQL of the page, which selects nothing yet.
    pub(super) fn sql(
        self,
        access_path: &AccessPath,
        join: ParentJoin<'a>,
        parameters: &mut Parameters<'_>,
    ) -> PageSql<'a> {
        let Self { connection, shape, fields, .. } = self;
        let ParentJoin { parent, mut conditions } = join;
        let (sort_key, relation) = (&connection.sort_keys[shape.sort_key], self.relation());
        let mut terms = SearchTerms::new(connection, shape.sort_key, self.terms, parameters);
        let mut cursors = shape.after.iter().chain(&shape.before);
        let compares_cursors = access_path.ties().is_none()
            && cursors.any(|cursor| !(sort_key.nullable && *cursor == CursorShape::InNulls));
        let restriction = terms.restriction(access_path, compares_cursors);
        let order = self.order(access_path, restriction, terms.parameters);
        let locator = terms.locator(access_path, relation, &conditions);
        let joined = conditions.clone();
        if locator.is_none() {
            conditions.extend(terms.prefix(access_path.prefix()));
        }
        let limit = terms.parameters.add(ParameterSource::Limit);
        let count_limit = fields.is_counted.then(|| terms.parameters.add(ParameterSource::CountLimit));

        let (ascending, backward) = (!shape.reverse, shape.end == FromEnd::Back);
        let before = fields.before_page.then(|| order.span(OrderPart::BeforePage, !ascending));
        let after = fields.after_page.then(|| order.span(OrderPart::AfterPage, ascending));
        let count = count_limit.map(|limit| {
            let (span, scan) = match &access_path.counted {
                None => (order.span(OrderPart::All, true), None),
                Some(path) => {
                    let (span, scan) = self.count_in_own_order(&joined, path, terms.parameters);
                    (span, Some(scan))
                }
            };
            Count { span, limit, scan }
        });
        let mut select = Select::default();
        terms.semi_joined().for_each(|(key, values)| select.search(key, values));
        PageSql {
            relation,
            select,
            parent,
            conditions,
            span: order.span(OrderPart::Page, ascending != backward),
            index: terms.index(access_path.prefix()),
            limit,
            probes: before.into_iter().chain(after).collect(),
            count,
            locator,
        }
    }

    /// The order that the page is taken from, with its cursors.
    fn order(
        self,
        access_path: &AccessPath,
        restriction: Restriction<'a>,
        parameters: &mut Parameters<'_>,
    ) -> PageOrder<'a> {
        let Self { connection, shape, .. } = self;
        let (sort_key, is_sorted) = (&connection.sort_keys[shape.sort_key], access_path.ties().is_some());
        let mut constant = connection.join.to.clone();
        if access_path.prefix().is_some_and(|prefix| prefix.is_sort_column) {
            constant.push(sort_key.columns[0].name.clone());
        }
        let is_restricted = !matches!(restriction, Restriction::None);
        let by_index = KeysetColumns { sort_key, constant: &constant, is_restricted };
        let by_position = KeysetColumns { sort_key, constant: &[], is_restricted: false };
        let of_index = access_path.scan().filter(|_| !is_sorted).map(|_| Cursors::of(by_index, shape, parameters));
        let of_lookups = access_path.is_looked_up().then(|| Cursors::of(by_position, shape, parameters));
        let of_merged = access_path.merges_values_of_order.then(|| {
            let first = std::slice::from_ref(&sort_key.columns[0].name);
            let in_range = KeysetColumns { sort_key, constant: first, is_restricted: true };
            Cursors::of(in_range, shape, parameters)
        });
        PageOrder { sort_key, ascending: !shape.reverse, restriction, of_index, of_lookups, of_merged, is_sorted }
    }

    /// The relation that its rows are read from.
    fn relation(self) -> &'a str {
        self.connection.searched_relation(|key| self.terms.iter().any(|term| term.key == key))
    }

    /// The rows that are counted, in an order of their own.
    fn count_in_own_order(
        self,
        joined: &[Condition<'a>],
        CountPath { sort_key, path, .. }: &CountPath,
        parameters: &mut Parameters<'_>,
    ) -> (Span<'a>, Scan<'a>) {
        let mut terms = SearchTerms::new(self.connection, *sort_key, self.terms, parameters);
        let restriction = terms.restriction(path, false);
        let locator = terms.locator(path, self.relation(), joined);
        let mut conditions = joined.to_vec();
        if locator.is_none() {
            conditions.extend(terms.prefix(path.prefix()));
        }
        let sort_key = &self.connection.sort_keys[*sort_key];
        let order = PageOrder {
            sort_key,
            ascending: true,
            restriction,
            of_index: None,
            of_lookups: None,
            of_merged: None,
            is_sorted: false,
        };
        (order.span(OrderPart::All, true), Scan { conditions, index: terms.index(path.prefix()), locator })
    }
}

/// The positions of the `after:` and `before:` cursors.
struct Cursors<'a> {
    after: Option<KeysetBound<'a>>,
    before: Option<KeysetBound<'a>>,
}

impl<'a> Cursors<'a> {
    fn of(columns: KeysetColumns<'_, 'a>, page: &PageShape, parameters: &mut Parameters<'_>) -> Self {
        let mut bound = |cursor: Option<_>, source: fn(usize) -> ParameterSource| {
            Some(KeysetBound::new(columns, cursor?, source, parameters))
        };
        let after = bound(page.after, ParameterSource::After);
        Self { after, before: bound(page.before, ParameterSource::Before) }
    }
}

/// The order that a page is taken from, which its cursors divide.
struct PageOrder<'a> {
    sort_key: &'a SortKey,
    /// Whether the response goes up the index. It goes down if the order is reversed.
    ascending: bool,
    restriction: Restriction<'a>,
    /// The cursors in the index, if the rows are read in its order.
    of_index: Option<Cursors<'a>>,
    /// The cursors for the rows of a look-up. The rows are compared with the whole position, because they have no range.
    of_lookups: Option<Cursors<'a>>,
    /// The cursors in the ranges of a look-up, if all rows of a range have one value in the first column.
    of_merged: Option<Cursors<'a>>,
    /// Whether rows are read by the first column alone, and sorted.
    is_sorted: bool,
}

/// A part of the order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrderPart {
    /// The rows between the cursors.
    Page,
    /// The rows at or before the `after:` cursor.
    BeforePage,
    /// The rows at or after the `before:` cursor.
    AfterPage,
    All,
}

impl<'a> PageOrder<'a> {
    /// A part, read in a direction of the index.
    fn span(&self, part: OrderPart, ascending: bool) -> Span<'a> {
        let of_lookups = self.range(part, self.of_lookups.as_ref());
        let unrestricted = |range| keyset::segments(self.sort_key, range, &Restriction::None);
        let sorted = match part {
            OrderPart::Page => Some(0),
            OrderPart::BeforePage => Some(1),
            OrderPart::AfterPage => Some(2),
            OrderPart::All => None,
        };
        let segments = if self.is_sorted {
            keyset::segments_of_values(self.sort_key, of_lookups, &self.restriction)
        } else {
            keyset::segments(self.sort_key, self.range(part, self.of_index.as_ref()), &self.restriction)
        };
        Span {
            segments,
            sorted: sorted.filter(|_| self.is_sorted),
            lookup_segments: if of_lookups.is_bounded() { unrestricted(of_lookups) } else { Vec::new() },
            merged_segments: self.of_merged.as_ref().map(|cursors| {
                let restriction = Restriction::Equal(Some(Comparand::Element));
                keyset::segments(self.sort_key, self.range(part, Some(cursors)), &restriction)
            }),
            ascending,
            nulls: self.nulls(),
        }
    }

    fn range<'r>(&self, part: OrderPart, cursors: Option<&'r Cursors<'a>>) -> KeysetRange<'r, 'a> {
        let after = cursors.and_then(|cursors| cursors.after.as_ref());
        let before = cursors.and_then(|cursors| cursors.before.as_ref());
        let (from, to) = match part {
            OrderPart::Page => (after, before),
            OrderPart::BeforePage => (None, after),
            OrderPart::AfterPage => (before, None),
            OrderPart::All => (None, None),
        };
        let (above, below) = if self.ascending { (from, to) } else { (to, from) };
        // The order of all rows does not matter.
        let nulls = if part == OrderPart::All { Nulls::Last } else { self.nulls() };
        KeysetRange { above, below, inclusive: part != OrderPart::Page, nulls }
    }

    fn nulls(&self) -> Nulls {
        Nulls::of(self.sort_key, !self.ascending)
    }
}
