//! Connections, and the fields of connections, edges and `pageInfo`.

use std::mem;

use crate::catalog::binding::PageInfoField;
use crate::catalog::connection::{Connection, Join};
use crate::catalog::result_type::ResultType;
use crate::plan::access_path::SortLimit;
use crate::plan::page_sql::Parent;
use crate::plan::planner::output::Output;
use crate::plan::planner::page::{ParentJoin, RequestedPage};
use crate::plan::planner::page_fields::PageFields;
use crate::plan::planner::{PageDraft, Planner, StepDraft};
use crate::plan::response_template::Op;
use crate::plan::select::{ReturnedSource, Select};
use crate::plan::sql::{Alias, ColumnOf, Condition, Identifier, List, Relation, SqlOperator, WhereNull};
use crate::plan::statement_sql::{BranchRows, StepBranch};
use crate::plan::step::{CursorColumns, SearchColumns, Step, StepRows};
use crate::query::bind::page_size::FromEnd;
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundPageInfoField, BoundRows, BoundSelection,
};
use crate::query::bind::shape::PageShape;

impl<'a> Planner<'a> {
    /// Plans a connection with that response key, of a row or at the root.
    pub(super) fn connection(
        &mut self,
        key: &'a str,
        bound: &BoundConnection<'a>,
        parent: Option<(&mut StepDraft<'a>, Alias)>,
    ) -> StepBranch<'a> {
        let shape = match bound.rows {
            BoundRows::Page(shape) => shape,
            BoundRows::Changes(changes) => return self.changes(key, bound, changes),
        };
        let (mut fields, terms) = (PageFields::of(bound), self.terms.of(bound.step));
        self.limited_by = self.limited_by.and(bound.binding.limited_by);
        let requested = RequestedPage { connection: bound.binding, shape, terms, fields: &fields };
        let mut access_path = requested.access_path(self.catalog.search_window());
        let parent_step = parent.as_ref().map(|(draft, _)| draft.step);
        let join = self.join_parent(bound.binding, access_path.sort_limit().is_some(), parent);
        let mut page = requested.sql(&access_path, join, &mut self.parameters(bound.step));
        access_path.parts = page.parts();

        let mut select = mem::take(&mut page.select);
        fields.is_bounded = access_path.sort_limit().is_some();
        let layout = fields.layout(shape.end, &mut select, &mut self.columns);
        let search = access_path.window().map(|_| self.search_columns(&mut select));
        let draft = PageDraft { size: None, has_window: search.is_some(), has_flags: layout.present.is_some() };
        let mut draft = StepDraft { step: bound.step, select, children: Vec::new(), page: Some(draft) };
        let (name, ()) = self.inside(key, |planner| match (access_path.sort_limit(), layout.is_too_long) {
            (Some(limit), Some(is_too_long)) => {
                let index = index_in_order(page.relation, bound.binding, shape.sort_key);
                planner.bounded_list(&mut draft, (is_too_long, limit, index), &bound.selections);
            }
            _ => planner.page(&mut draft, parent_step.is_none(), &bound.selections),
        });
        let cursor = (fields.cursors || search.is_some()).then(|| self.cursor((bound.binding, shape), &mut draft));
        let backward = shape.end == FromEnd::Back;
        if backward {
            self.size(&mut draft);
        }
        page.set_select(draft.select);
        self.steps[bound.step] = Step {
            name,
            relation: page.relation.to_owned(),
            parent: parent_step,
            end: self.end(bound.step, &draft.children),
            is_written_in_order: fields.is_in_order,
            layout,
            cursor,
            access_path,
            rows: StepRows::Page { backward, search },
        };
        StepBranch {
            step: bound.step,
            rows: BranchRows::Page(Box::new(page)),
            size: draft.page.and_then(|page| page.size),
            is_backward: backward,
            children: draft.children,
        }
    }

    /// The columns of a search whose page may end with its window.
    fn search_columns(&mut self, select: &mut Select<'a>) -> SearchColumns {
        SearchColumns {
            matches: select.other(ReturnedSource::Matches, ResultType::Boolean, &mut self.columns),
            number: select.other(ReturnedSource::Number, ResultType::Int8, &mut self.columns),
        }
    }

    /// The columns of the rows' cursors.
    fn cursor(
        &mut self,
        (connection, shape): (&'a Connection, &PageShape),
        draft: &mut StepDraft<'a>,
    ) -> CursorColumns {
        let sort_key = &connection.sort_keys[shape.sort_key];
        let columns = connection.cursor_columns(sort_key);
        let columns =
            columns.map(|column| (draft.select.column(Alias::Base, column, &mut self.columns), column.scalar));
        CursorColumns {
            tag: if shape.reverse { sort_key.tag.reversed() } else { sort_key.tag },
            columns: columns.collect(),
        }
    }

    /// The parent of a connection's rows, and how they are joined to it.
    fn join_parent(
        &mut self,
        connection: &'a Connection,
        is_sorted: bool,
        parent: Option<(&mut StepDraft<'a>, Alias)>,
    ) -> ParentJoin<'a> {
        let Some((draft, alias)) = parent else { return ParentJoin { parent: Parent::None, conditions: Vec::new() } };
        let Join { by, to, where_null } = &connection.join;
        let (last, mut conditions) = (to.len() - 1, Vec::with_capacity(to.len()));
        for (index, (to, by)) in to.iter().zip(by).enumerate() {
            let (column, step, key) = (ColumnOf(Alias::Base, to), draft.step, draft.select.key(alias, &by.name));
            let compare = |operator| Condition::OfParent(column, operator, step, key);
            // The order decides which index is used. PostgreSQL drops columns that equal a value from the order.
            if is_sorted && index == 0 {
                conditions.push(Condition::IsOfParent(column, step, key));
            } else if is_sorted && index == last {
                conditions.extend([SqlOperator::GreaterOrEqual, SqlOperator::LessOrEqual].map(compare));
            } else {
                conditions.push(compare(SqlOperator::Equal));
            }
        }
        conditions.extend(where_null.as_ref().map(|column| Condition::IsNull(ColumnOf(Alias::Base, column))));
        ParentJoin { parent: self.parent(draft), conditions }
    }

    /// Plans the output of a page.
    pub(super) fn page(
        &mut self,
        draft: &mut StepDraft<'a>,
        is_root: bool,
        selections: &[BoundSelection<'a, BoundConnectionField<'a>>],
    ) {
        self.response.push(Op::Connection { step: draft.step });
        match self.output {
            Output::Lines { .. } if is_root => self.page_of_lines(draft, selections),
            Output::Lines { .. } | Output::Data => self.page_object(draft, selections),
        }
        self.response.push(Op::EndConnection);
    }

    /// Plans the output of a page of a list that is null if it has too many rows.
    fn bounded_list(
        &mut self,
        draft: &mut StepDraft<'a>,
        (is_too_long, limit, index): (usize, SortLimit, Box<str>),
        selections: &[BoundSelection<'a, BoundConnectionField<'a>>],
    ) {
        let (step, path, opening) = (draft.step, self.response.path(), self.response.reserve());
        self.page_object(draft, selections);
        self.response.push(Op::EndObject);
        let list = |end| Op::BoundedList { step, is_too_long, limit, index, path, end };
        self.response.close(opening, list, Op::EndConnection);
    }

    fn page_object(&mut self, draft: &mut StepDraft<'a>, selections: &[BoundSelection<'a, BoundConnectionField<'a>>]) {
        self.fields(selections, |planner, _, field| match field {
            BoundConnectionField::TypeName(object) => planner.type_name(*object),
            BoundConnectionField::Edges(edge) => {
                planner.response.literal("[");
                let opening = planner.response.reserve();
                let start = planner.response.position();
                planner.response.enter_list(draft.step);
                planner.edge(draft, edge);
                let closing = Op::NextRow { start, separator: Some(b',') };
                planner.response.close(opening, |end| Op::FirstRow { end }, closing);
                planner.response.literal("]");
            }
            BoundConnectionField::PageInfo(page_info) => planner.page_info(page_info),
            BoundConnectionField::Count(_) => planner.response.push(Op::Count),
        });
    }

    fn edge(&mut self, draft: &mut StepDraft<'a>, selections: &[BoundSelection<'a, BoundEdgeField<'a>>]) {
        self.fields(selections, |planner, _, field| match field {
            BoundEdgeField::TypeName(object) => planner.type_name(*object),
            BoundEdgeField::Node(node) => planner.object(draft, Alias::Base, node),
            BoundEdgeField::Cursor => planner.response.push(Op::Cursor),
        });
    }

    fn page_info(&mut self, selections: &[BoundSelection<'a, BoundPageInfoField>]) {
        self.fields(selections, |planner, _, field| match field {
            BoundPageInfoField::TypeName(object) => planner.type_name(*object),
            BoundPageInfoField::Field(field) => planner.response.push(match field {
                PageInfoField::HasNextPage => Op::HasNextPage,
                PageInfoField::HasPreviousPage => Op::HasPreviousPage,
                PageInfoField::StartCursor => Op::StartCursor,
                PageInfoField::EndCursor => Op::EndCursor,
            }),
        });
    }
}

/// The statement that makes an index which has the rows of a parent in the order of a sort key.
fn index_in_order(relation: &str, connection: &Connection, sort_key: usize) -> Box<str> {
    let to = connection.join.to.iter().map(String::as_str);
    let order = connection.sort_keys[sort_key].columns.iter().map(|column| column.name.as_str());
    let order = order.filter(|column| connection.join.to.iter().all(|joined| joined != column));
    let columns = List(to.chain(order).map(Identifier));
    let rows = WhereNull(connection.join.where_null.as_deref());
    format!("CREATE INDEX CONCURRENTLY ON {} ({columns}){rows};", Relation(relation)).into()
}
