//! Connections, and the fields of connections, edges and `pageInfo`.

use crate::catalog::binding::{Column, Connection, PageInfoField};
use crate::plan::build::object::equal;
use crate::plan::build::page_range::PageRange;
use crate::plan::build::planner::{Planner, Row};
use crate::plan::filter;
use crate::plan::keyset::{self, KeysetBound};
use crate::plan::response_template::Op;
use crate::plan::select::Select;
use crate::plan::sql::{Alias, ColumnOf, Condition, Parameters};
use crate::plan::statement::{PageStatement, ParentKeys, Probe};
use crate::plan::step::{CursorColumns, Layout, Parents, Slot, Step};
use crate::query::bind::ids::StepId;
use crate::query::bind::page::End;
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundPageInfoField, BoundSelection,
};

impl<'a> Planner<'a> {
    pub(super) fn connection(&mut self, bound: &BoundConnection<'a>, parent: Option<(&mut Select<'a>, Row<'_>)>) {
        let connection = bound.binding;
        let sort_key = &connection.sort_keys[bound.sort_key];
        let selected = SelectedPageFields::of(&bound.selections);

        let mut parameters = Parameters::default();
        let (parents, parent_keys, mut conditions) = join_parents(connection, parent, &mut parameters);
        for (index, term) in bound.terms.iter().enumerate() {
            conditions.push(filter::condition(connection, term, Slot::Term(index), &mut parameters));
        }
        let mut keyset_bound = |position, slot: fn(usize) -> Slot| {
            KeysetBound::new(sort_key, &connection.join.to, position, slot, &mut parameters)
        };
        let after = bound.page.after.as_ref().map(|position| keyset_bound(position, Slot::After));
        let before = bound.page.before.as_ref().map(|position| keyset_bound(position, Slot::Before));
        let range = PageRange { ascending: !bound.reverse, after: after.as_ref(), before: before.as_ref() };
        let limit = parameters.add(Slot::Limit);

        let layout = layout(&parents, &selected, &range);
        let mut select = Select::new(layout.width);
        self.response.push(Op::Connection { step: bound.step });
        self.page(&mut select, bound.step, &bound.selections);
        self.response.push(Op::EndConnection);

        let segments = keyset::segments(sort_key, range.page());
        let varies = |name: &str| !connection.join.to.iter().any(|joined| joined == name);
        let order: Vec<_> = sort_key.columns.iter().filter(|column| varies(&column.name)).collect();
        let mut index = |column: &'a Column| select.column(Alias::Base, &column.name);
        let order_indexes =
            if segments.len() > 1 { order.iter().map(|column| index(column)).collect() } else { Vec::new() };
        let cursor = selected.cursors.then(|| CursorColumns {
            tag: if bound.reverse { sort_key.tag.reversed() } else { sort_key.tag },
            columns: sort_key.columns.iter().map(|column| (index(column), column.scalar)).collect(),
        });
        let backward = bound.page.end == End::Back;
        let probe = |range, ascending| Probe { segments: keyset::segments(sort_key, range), ascending };
        let before_page = layout.before_page.map(|_| probe(range.before_page(), !range.ascending));
        let after_page = layout.after_page.map(|_| probe(range.after_page(), range.ascending));
        let sql = PageStatement {
            relation: &connection.relation,
            select: &select,
            parent_keys,
            conditions,
            segments,
            order,
            order_indexes,
            ascending: range.ascending != backward,
            limit,
            probes: before_page.into_iter().chain(after_page).collect(),
        }
        .text();
        self.steps[bound.step] = Step { sql, parameters: parameters.into_slots(), parents, backward, layout, cursor };
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
    let known = |name: &str| row.known.iter().find(|(column, _)| *column == name).map(|(_, slot)| *slot);
    let all_known: Option<Vec<_>> = connection.join.by.iter().map(|column| known(&column.name)).collect();
    if let Some(slots) = all_known {
        let conditions = slots.into_iter().zip(&connection.join.to);
        let conditions = conditions.map(|(slot, to)| equal(to, parameters.add(slot))).collect();
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
                BoundConnectionField::TypeName(_) => {}
                BoundConnectionField::Edges(edge) => {
                    selected.cursors |= edge.iter().any(|selection| matches!(selection.field, BoundEdgeField::Cursor));
                }
                BoundConnectionField::PageInfo(page_info) => selected.add_page_info(page_info),
            }
        }
        selected
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

fn layout(parents: &Parents, selected: &SelectedPageFields, range: &PageRange<'_>) -> Layout {
    let mut width = 0;
    let mut next = |is_there: bool| {
        is_there.then(|| {
            width += 1;
            width - 1
        })
    };
    let ordinal = next(*parents != Parents::Known);
    let before_page = next(selected.has_previous_page && range.after.is_some());
    let after_page = next(selected.has_next_page && range.before.is_some());
    let present = next(before_page.is_some() || after_page.is_some());
    Layout { ordinal, before_page, after_page, present, width }
}
