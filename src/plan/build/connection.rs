//! Connections, and the fields of connections, edges and `pageInfo`.

use std::mem;

use crate::catalog::binding::{Connection, PageInfoField};
use crate::catalog::result_type::ResultType;
use crate::cursor::CursorPosition;
use crate::plan::access_path::AccessPath;
use crate::plan::branch::{Branch, BranchRows};
use crate::plan::build::output::Output;
use crate::plan::build::page_range::PageRange;
use crate::plan::build::planner::{DraftRows, Planner, StepDraft};
use crate::plan::build::search::SearchTerms;
use crate::plan::keyset::{self, KeysetBound, KeysetRange, Nulls, Restriction, is_in_nulls};
use crate::plan::locator::Span;
use crate::plan::response_template::Op;
use crate::plan::result_columns::ResultColumns;
use crate::plan::select::{ReturnedSource, Select};
use crate::plan::sql::{Alias, ColumnOf, Condition, PageColumn};
use crate::plan::statement::{Count, Located, PageStatement, Parent};
use crate::plan::step::{CursorColumns, Layout, SearchColumns, Slot, Step};
use crate::query::bind::page_size::{End, Page};
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundPageInfoField, BoundSelection,
};

impl<'a> Planner<'a> {
    /// Plans a connection with that response key, of a row or at the root.
    pub(super) fn connection(
        &mut self,
        key: &str,
        bound: &BoundConnection<'a>,
        parent: Option<(&mut StepDraft<'a>, Alias)>,
    ) -> Branch<'a> {
        let (connection, arguments) = (bound.binding, bound.arguments);
        let sort_key = &connection.sort_keys[arguments.sort_key];
        let selected = SelectedPageFields::of(&bound.selections);
        let probes = selected.probes(bound);
        let counts = |selection: &BoundSelection<'_, _>| matches!(selection.field, BoundConnectionField::Count(_));
        let is_counted = arguments.count_up_to.is_some() && bound.selections.iter().any(counts);
        let window = self.catalog.search_window();
        let mut access_path =
            AccessPath::choose(connection, arguments.sort_key, &arguments.terms, probes, is_counted, window);

        let parent_step = parent.as_ref().map(|(draft, _)| draft.step);
        let (parent, mut conditions) = self.join_parent(connection, parent);
        let mut parameters = self.parameters(bound.step);
        let mut terms = SearchTerms::new(connection, sort_key, &arguments.terms);
        let positions = [arguments.page.after.as_ref(), arguments.page.before.as_ref()];
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
        let nulls = Nulls::of(sort_key, arguments.reverse);
        let range = PageRange { ascending: !arguments.reverse, nulls, after: after.as_ref(), before: before.as_ref() };
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

        let has_window = access_path.has_window();
        let mut select = Select::default();
        terms.semi_joined().for_each(|(key, values)| select.search(key, values));
        let backward = arguments.page.end == End::Back;
        let layout = layout(&selected, &arguments.page, is_counted, backward, &mut select, &mut self.columns);
        let search = has_window.then(|| SearchColumns {
            key: key.to_owned(),
            matches: select.other(ReturnedSource::Matches, ResultType::Boolean, &mut self.columns),
            number: select.other(ReturnedSource::Number, ResultType::Int8, &mut self.columns),
            window: i64::from(access_path.window),
            probe_window: i64::from(access_path.probe_window),
        });
        let rows = DraftRows::Page { size: None, has_window, has_flags: layout.present.is_some() };
        let mut draft = StepDraft { step: bound.step, select, children: Vec::new(), rows };
        self.response.push(Op::Connection { step: bound.step });
        match (self.output, parent_step) {
            (Output::Lines, None) => self.page_of_lines(&mut draft, &bound.selections),
            (Output::Lines, Some(_)) | (Output::Data, _) => self.page(&mut draft, &bound.selections),
        }
        self.response.push(Op::EndConnection);

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
        let cursor = (selected.cursors || has_window).then(|| self.cursor(bound, &mut draft));
        let before_page =
            layout.before_page.map(|_| span(range.before_page(), lookup_range.before_page(), !range.ascending));
        let after_page =
            layout.after_page.map(|_| span(range.after_page(), lookup_range.after_page(), range.ascending));
        let all = KeysetRange { above: None, below: None, inclusive: false, nulls: Nulls::Last };
        let count = count_limit.map(|limit| Count { span: span(all, all, true), limit });
        let size = if backward { self.size(&mut draft) } else { draft.size() };
        let statement = PageStatement {
            relation: &connection.relation,
            select: mem::take(&mut draft.select),
            parent,
            conditions,
            span: page,
            index: terms.index(&access_path),
            limit,
            probes: before_page.into_iter().chain(after_page).collect(),
            count,
            located,
        };
        self.steps[bound.step] =
            Step { parent: parent_step, backward, layout, cursor, access_path, search, ..Step::default() };
        let rows = BranchRows::Page(Box::new(statement));
        Branch { step: bound.step, rows, size, is_backward: backward, children: draft.children }
    }

    /// The columns of the rows' cursors.
    fn cursor(&mut self, bound: &BoundConnection<'a>, draft: &mut StepDraft<'a>) -> CursorColumns {
        let sort_key = &bound.binding.sort_keys[bound.arguments.sort_key];
        let columns = bound.binding.cursor_columns(sort_key);
        let columns =
            columns.map(|column| (draft.select.column(Alias::Base, column, &mut self.columns), column.scalar));
        CursorColumns {
            tag: if bound.arguments.reverse { sort_key.tag.reversed() } else { sort_key.tag },
            columns: columns.collect(),
        }
    }

    /// The parent of a connection's rows, and how they are joined to it.
    fn join_parent(
        &mut self,
        connection: &'a Connection,
        parent: Option<(&mut StepDraft<'a>, Alias)>,
    ) -> (Parent, Vec<Condition<'a>>) {
        let Some((draft, alias)) = parent else { return (Parent::None, Vec::new()) };
        let columns = connection.join.to.iter().zip(&connection.join.by);
        let conditions = columns.map(|(to, by)| {
            let key = PageColumn { step: draft.step, index: draft.select.key(alias, &by.name) };
            Condition::OfParent(ColumnOf(Alias::Base, to), key)
        });
        let conditions = conditions.collect();
        (self.parent(draft), conditions)
    }

    fn page(&mut self, draft: &mut StepDraft<'a>, selections: &[BoundSelection<'a, BoundConnectionField<'a>>]) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundConnectionField::TypeName(object) => self.type_name(*object),
                BoundConnectionField::Edges(edge) => {
                    self.response.literal("[");
                    let opening = self.response.reserve();
                    let start = self.response.position();
                    self.response.enter_list(draft.step);
                    self.edge(draft, edge);
                    self.response.close(
                        opening,
                        |end| Op::FirstRow { end },
                        Op::NextRow { start, separator: Some(b',') },
                    );
                    self.response.literal("]");
                }
                BoundConnectionField::PageInfo(page_info) => self.page_info(page_info),
                BoundConnectionField::Count(_) => self.response.push(Op::Count),
            }
        }
        self.response.close_object();
    }

    fn edge(&mut self, draft: &mut StepDraft<'a>, selections: &[BoundSelection<'a, BoundEdgeField<'a>>]) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundEdgeField::TypeName(object) => self.type_name(*object),
                BoundEdgeField::Node(node) => self.object(draft, Alias::Base, node),
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
        u32::from(self.has_previous_page && bound.arguments.page.after.is_some())
            + u32::from(self.has_next_page && bound.arguments.page.before.is_some())
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

fn layout(
    selected: &SelectedPageFields,
    page: &Page,
    is_counted: bool,
    backward: bool,
    select: &mut Select<'_>,
    columns: &mut ResultColumns,
) -> Layout {
    let mut flags = 0;
    let mut flag = |is_there: bool, ty, select: &mut Select<'_>, columns: &mut ResultColumns| {
        is_there.then(|| {
            flags += 1;
            select.other(ReturnedSource::Flag(flags - 1), ty, columns)
        })
    };
    let has_before = selected.has_previous_page && page.after.is_some();
    let before_page = flag(has_before, ResultType::Boolean, select, columns);
    let has_after = selected.has_next_page && page.before.is_some();
    let after_page = flag(has_after, ResultType::Boolean, select, columns);
    let count = flag(is_counted, ResultType::Int8, select, columns);
    let mut other = |is_there: bool, source| is_there.then(|| select.other(source, ResultType::Boolean, columns));
    let present = other(has_before || has_after || is_counted, ReturnedSource::Present);
    let beyond_page = other(backward, ReturnedSource::BeyondPage);
    Layout { before_page, after_page, count, present, beyond_page }
}
