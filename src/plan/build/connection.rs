//! Connections, and the fields of connections, edges and `pageInfo`.

use crate::catalog::binding::{Column, Connection, PageInfoField};
use crate::cursor::CursorPosition;
use crate::plan::access_path::AccessPath;
use crate::plan::build::object::equal;
use crate::plan::build::page_range::PageRange;
use crate::plan::build::planner::{Planner, Row};
use crate::plan::build::search::SearchTerms;
use crate::plan::keyset::{self, KeysetBound, KeysetRange, Nulls, Restriction, is_in_nulls};
use crate::plan::locator::Span;
use crate::plan::response_template::Op;
use crate::plan::select::Select;
use crate::plan::sql::{Alias, ColumnOf, Condition, Parameters};
use crate::plan::statement::{Count, Located, PageStatement, ParentKeys};
use crate::plan::step::{CursorColumns, Layout, Parents, SearchColumns, Slot, Step};
use crate::query::bind::ids::StepId;
use crate::query::bind::page::{End, Page};
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundPageInfoField, BoundSelection,
};

impl<'a> Planner<'a> {
    /// Plans a connection with that response key, of a row or at the root.
    pub(super) fn connection(
        &mut self,
        key: &str,
        bound: &BoundConnection<'a>,
        parent: Option<(&mut Select<'a>, Row<'_>)>,
    ) {
        let connection = bound.binding;
        let sort_key = &connection.sort_keys[bound.sort_key];
        let selected = SelectedPageFields::of(&bound.selections);
        let probes = selected.probes(bound);
        let counts = |selection: &BoundSelection<'_, _>| matches!(selection.field, BoundConnectionField::Count(_));
        let is_counted = bound.count_up_to.is_some() && bound.selections.iter().any(counts);
        let window = self.catalog.search_window();
        let mut access_path = AccessPath::choose(connection, bound.sort_key, bound.terms, probes, is_counted, window);

        let mut parameters = Parameters::default();
        let (parents, parent_keys, mut conditions) = join_parents(connection, parent, &mut parameters);
        let mut terms = SearchTerms::new(connection, sort_key, bound.terms);
        let positions = [bound.page.after.as_ref(), bound.page.before.as_ref()];
        let compares_cursors = positions.iter().flatten().any(|position| !(sort_key.nullable && is_in_nulls(position)));
        let restriction = terms.restriction(&access_path, compares_cursors, &mut parameters);
        let mut constant = connection.join.to.clone();
        if access_path.prefix.is_some_and(|prefix| prefix.is_sort_column) {
            constant.push(sort_key.columns[0].name.clone());
        }
        let mut bounds = |constant: &[String], is_restricted| {
            let mut bound = |position: Option<&CursorPosition>, slot: fn(usize) -> Slot| {
                let position = position?;
                Some(KeysetBound::new(sort_key, constant, position, is_restricted, slot, &mut parameters))
            };
            [bound(positions[0], Slot::After), bound(positions[1], Slot::Before)]
        };
        let has_range = !access_path.is_exhaustive;
        let [after, before] = if has_range { bounds(&constant, restriction.is_some()) } else { [None, None] };
        let nulls = Nulls::of(sort_key, bound.reverse);
        let range = PageRange { ascending: !bound.reverse, nulls, after: after.as_ref(), before: before.as_ref() };
        // The rows of a look-up are compared with the whole position: they have no range.
        let has_lookups = !access_path.lookups.is_empty();
        let [lookup_after, lookup_before] = if has_lookups { bounds(&[], false) } else { [None, None] };
        let lookup_range = PageRange { after: lookup_after.as_ref(), before: lookup_before.as_ref(), ..range };
        let locator = terms.locator(&access_path, &connection.relation, &mut parameters);
        if locator.is_none() {
            conditions.extend(terms.prefix(&access_path, &mut parameters));
        }
        let located = locator.map(|locator| Located {
            locator,
            window: access_path.window,
            probe_window: access_path.probe_window,
        });
        let limit = parameters.add(Slot::Limit);

        let count_limit = is_counted.then(|| parameters.add(Slot::CountLimit));
        let layout = layout(&parents, &selected, bound.page, is_counted, access_path.has_window());
        let mut select = Select::new(layout.width);
        terms.semi_joined().for_each(|(key, values)| select.search(key, values));
        self.response.push(Op::Connection { step: bound.step });
        self.page(&mut select, bound.step, &bound.selections);
        self.response.push(Op::EndConnection);

        let backward = bound.page.end == End::Back;
        let span = |part: KeysetRange<'_, 'a>, of_lookups: KeysetRange<'_, 'a>, ascending| Span {
            segments: keyset::segments(sort_key, part, &restriction),
            lookup_segments: if of_lookups.is_bounded() {
                keyset::segments(sort_key, of_lookups, &Restriction::None)
            } else {
                Vec::new()
            },
            ascending,
            nulls,
        };
        let page = span(range.page(), lookup_range.page(), range.ascending != backward);
        access_path.parts = u32::try_from(page.segments.len()).unwrap_or(1);
        let mut index = |column: &'a Column| select.column(Alias::Base, &column.name);
        let cursor = (selected.cursors || access_path.has_window()).then(|| CursorColumns {
            tag: if bound.reverse { sort_key.tag.reversed() } else { sort_key.tag },
            columns: connection.cursor_columns(sort_key).map(|column| (index(column), column.scalar)).collect(),
        });
        let before_page =
            layout.before_page.map(|_| span(range.before_page(), lookup_range.before_page(), !range.ascending));
        let after_page =
            layout.after_page.map(|_| span(range.after_page(), lookup_range.after_page(), range.ascending));
        let all = KeysetRange { above: None, below: None, inclusive: false, nulls: Nulls::Last };
        let count = count_limit.map(|limit| Count { span: span(all, all, true), limit });
        let statement = PageStatement {
            relation: &connection.relation,
            select: &select,
            parent_keys,
            conditions,
            span: page,
            index: terms.index(&access_path),
            limit,
            probes: before_page.into_iter().chain(after_page).collect(),
            count,
            located,
        };
        let (sql, parents_text) = statement.text();
        let keys = statement.keys();
        let search = layout.search.map(|matches| SearchColumns {
            key: key.to_owned(),
            matches,
            number: matches + 1,
            window: i64::from(access_path.window),
        });
        let parameters = parameters.into_slots();
        self.steps[bound.step] =
            Step { sql, parameters, parents, backward, layout, cursor, access_path, search, parents_text, keys };
    }

    fn page(
        &mut self,
        select: &mut Select<'a>,
        step: StepId,
        selections: &[BoundSelection<'a, BoundConnectionField<'a>>],
    ) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundConnectionField::TypeName(object) => self.type_name(*object),
                BoundConnectionField::Edges(edge) => {
                    self.response.literal("[");
                    let opening = self.response.reserve();
                    let start = self.response.position();
                    self.response.enter_list(step);
                    self.edge(select, step, edge);
                    self.response.close(opening, |end| Op::FirstRow { end }, Op::NextRow { start });
                    self.response.literal("]");
                }
                BoundConnectionField::PageInfo(page_info) => self.page_info(page_info),
                BoundConnectionField::Count(_) => self.response.push(Op::Count),
            }
        }
        self.response.close_object();
    }

    fn edge(&mut self, select: &mut Select<'a>, step: StepId, selections: &[BoundSelection<'a, BoundEdgeField<'a>>]) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundEdgeField::TypeName(object) => self.type_name(*object),
                BoundEdgeField::Node(node) => self.object(select, Row { step, alias: Alias::Base, known: &[] }, node),
                BoundEdgeField::Cursor => self.response.push(Op::Cursor),
            }
        }
        self.response.close_object();
    }

    fn page_info(&mut self, selections: &[BoundSelection<'a, BoundPageInfoField>]) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundPageInfoField::TypeName(object) => self.type_name(*object),
                BoundPageInfoField::Field(field) => self.response.push(match field {
                    PageInfoField::HasNextPage => Op::HasNextPage,
                    PageInfoField::HasPreviousPage => Op::HasPreviousPage,
                    PageInfoField::StartCursor => Op::StartCursor,
                    PageInfoField::EndCursor => Op::EndCursor,
                }),
            }
        }
        self.response.close_object();
    }
}

/// How a connection's rows are joined to their parents.
fn join_parents<'a>(
    connection: &'a Connection,
    parent: Option<(&mut Select<'a>, Row<'_>)>,
    parameters: &mut Parameters,
) -> (Parents, ParentKeys<'a>, Vec<Condition<'a>>) {
    let Some((select, row)) = parent else { return (Parents::Known, ParentKeys::None, Vec::new()) };
    let known = |name: &str| row.known.iter().find(|(column, _)| column.name == name);
    let all_known: Option<Vec<_>> = connection.join.by.iter().map(|column| known(&column.name)).collect();
    if let Some(keys) = all_known {
        let conditions = keys.into_iter().zip(&connection.join.to);
        let conditions = conditions.map(|((column, slot), to)| equal(to, parameters.add_key(*slot, column))).collect();
        return (Parents::Known, ParentKeys::None, conditions);
    }
    let columns = connection.join.by.iter().map(|column| select.key(row.alias, column)).collect();
    let arrays = connection.join.by.iter().enumerate();
    let arrays = arrays.map(|(index, column)| (parameters.add(Slot::ParentKeys(index)), column));
    let arrays = arrays.collect();
    let conditions = connection.join.to.iter().enumerate();
    let conditions = conditions.map(|(index, to)| Condition::OfParent(ColumnOf(Alias::Base, to), index));
    (Parents::Rows { step: row.step, columns }, ParentKeys::Arrays(arrays), conditions.collect())
}

/// What is selected of a page beside its rows.
#[derive(Default)]
struct SelectedPageFields {
    cursors: bool,
    has_next_page: bool,
    has_previous_page: bool,
}

impl SelectedPageFields {
    fn of(selections: &[BoundSelection<'_, BoundConnectionField<'_>>]) -> Self {
        let mut selected = Self::default();
        for selection in selections {
            match &selection.field {
                BoundConnectionField::TypeName(_) | BoundConnectionField::Count(_) => {}
                BoundConnectionField::Edges(edge) => {
                    selected.cursors |= edge.iter().any(|selection| matches!(selection.field, BoundEdgeField::Cursor));
                }
                BoundConnectionField::PageInfo(page_info) => selected.add_page_info(page_info),
            }
        }
        selected
    }

    /// The number of flags that need rows outside of the page.
    fn probes(&self, bound: &BoundConnection<'_>) -> u32 {
        u32::from(self.has_previous_page && bound.page.after.is_some())
            + u32::from(self.has_next_page && bound.page.before.is_some())
    }

    fn add_page_info(&mut self, selections: &[BoundSelection<'_, BoundPageInfoField>]) {
        for selection in selections {
            match &selection.field {
                BoundPageInfoField::TypeName(_) => {}
                BoundPageInfoField::Field(field) => match field {
                    PageInfoField::StartCursor | PageInfoField::EndCursor => self.cursors = true,
                    PageInfoField::HasNextPage => self.has_next_page = true,
                    PageInfoField::HasPreviousPage => self.has_previous_page = true,
                },
            }
        }
    }
}

fn layout(parents: &Parents, selected: &SelectedPageFields, page: &Page, is_counted: bool, has_window: bool) -> Layout {
    let mut width = 0;
    let mut next = |is_there: bool| {
        is_there.then(|| {
            width += 1;
            width - 1
        })
    };
    let ordinal = next(*parents != Parents::Known);
    let before_page = next(selected.has_previous_page && page.after.is_some());
    let after_page = next(selected.has_next_page && page.before.is_some());
    let count = next(is_counted);
    let present = next(before_page.is_some() || after_page.is_some() || is_counted);
    let search = next(has_window);
    // Two columns: whether the row matches, and its number.
    next(has_window);
    Layout { ordinal, before_page, after_page, count, present, search, width }
}
