//! A template from a bound operation: one walk that writes the shape and gathers what each step has to read.

use crate::catalog::Catalog;
use crate::catalog::binding::{Column, Connection, PageInfoField};
use crate::catalog::ids::TypeId;
use crate::catalog::schema::Field;
use crate::plan::PlanTemplate;
use crate::plan::filter;
use crate::plan::introspection::constant;
use crate::plan::keyset::{self, KeysetBound, Range};
use crate::plan::response_template::{Op, TemplateWriter};
use crate::plan::select::Select;
use crate::plan::sql::{Alias, ColumnOf, Condition, Operator, Parameters, Placeholder};
use crate::plan::statement::{self, PageStatement, Probe, Source};
use crate::plan::step::{CursorColumns, Layout, Parents, Slot, Step};
use crate::query::bind::page::End;
use crate::query::bind::{Bound, BoundConnection, BoundField, BoundLookup, BoundOperation, StepId};
use crate::value::ScalarType;

/// Plans an operation. Nothing can fail any more: whatever could is in the types already.
pub fn template<'a>(catalog: &'a Catalog, operation: &BoundOperation<'a>) -> PlanTemplate {
    let steps = operation.steps.iter().map(|_| None).collect();
    let mut planner = Planner { catalog, steps, shape: TemplateWriter::default() };
    planner.root(&operation.fields);
    PlanTemplate { steps: planner.steps.into_iter().flatten().collect(), shape: planner.shape.finish() }
}

struct Planner<'a> {
    catalog: &'a Catalog,
    steps: Vec<Option<Step>>,
    shape: TemplateWriter,
}

/// The row whose fields are being planned.
#[derive(Clone, Copy)]
struct Row<'a> {
    step: StepId,
    alias: Alias,
    /// Columns whose values are known before the row is read, because a point root looks for them, and where they are.
    known: &'a [(&'a str, Slot)],
}

impl<'a> Planner<'a> {
    fn root(&mut self, fields: &[BoundField<'a>]) {
        self.shape.open_object();
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::Lookup(point) => self.point(point),
                Bound::Connection(connection) => self.connection(connection, None),
                Bound::Constant(value) => constant(value, &mut self.shape),
                // The root has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.close_object();
    }

    fn type_name(&mut self, object: TypeId) {
        self.shape.literal("\"");
        self.shape.literal(self.catalog.get(object).name());
        self.shape.literal("\"");
    }

    fn point(&mut self, point: &BoundLookup<'a>) {
        let binding = point.binding;
        let keys = point.keys.iter().enumerate();
        let known = keys.map(|(given, (place, _))| (binding.keys[*place].name.as_str(), Slot::Key(point.step, given)));
        let known: Vec<_> = known.collect();
        let mut parameters = Parameters::default();
        let conditions: Vec<_> = known.iter().map(|(column, slot)| equal(column, parameters.add(*slot))).collect();
        let key = self.catalog.entity(binding.target).map_or(&[][..], |entity| &entity.key);
        let is_unique = key.iter().all(|column| known.iter().any(|(name, _)| *name == column.name));

        let mut select = Select::new(0);
        let (non_null, place) = (point.field.ty.is_non_null(), self.shape.place());
        let begin = self.shape.push(Op::Lookup { step: point.step, non_null, place, end: 0 });
        self.object(&mut select, Row { step: point.step, alias: Alias::Base, known: &known }, &point.fields);
        self.shape.close(begin, Op::EndLookup);
        self.steps[point.step] = Some(Step {
            sql: statement::point(&binding.relation, &select, &conditions, if is_unique { &[] } else { key }),
            parameters: parameters.into_slots(),
            parents: Parents::Known,
            backward: false,
            layout: Layout::default(),
            cursor: None,
        });
    }

    /// The fields of a row, of the step's own relation or of an object joined to it.
    fn object(&mut self, select: &mut Select<'a>, row: Row<'_>, fields: &[BoundField<'a>]) {
        self.shape.open_object();
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::Column(field, column) => {
                    let place = select.column(row.alias, &column.name);
                    self.value(place, column.scalar, field);
                }
                Bound::Aggregate(field, aggregate) => {
                    let column = select.aggregate(row.alias, aggregate);
                    self.value(column, ScalarType::Int, field);
                }
                Bound::One(field, one, fields) => {
                    let alias = select.join(self.catalog, row.alias, one);
                    // A joined row has the columns that it was joined by.
                    let present = one.join.to.first().map_or(0, |column| select.column(alias, column));
                    let (non_null, place) = (field.ty.is_non_null(), self.shape.place());
                    let begin = self.shape.push(Op::Object { present, non_null, place, end: 0 });
                    self.object(select, Row { step: row.step, alias, known: &[] }, fields);
                    self.shape.close(begin, Op::EndObject);
                }
                Bound::Connection(connection) => self.connection(connection, Some((select, row))),
                // An object has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.close_object();
    }

    fn value(&mut self, column: usize, scalar: ScalarType, field: &Field) {
        let (non_null, place) = (field.ty.is_non_null(), self.shape.place());
        self.shape.push(Op::Column { column, scalar, non_null, place });
    }

    fn connection(&mut self, bound: &BoundConnection<'a>, parent: Option<(&mut Select<'a>, Row<'_>)>) {
        let connection = bound.binding;
        let sort_key = &connection.sort_keys[bound.sort_key];
        let wanted = Wanted::of(&bound.fields);

        let mut parameters = Parameters::default();
        let (parents, source, mut conditions) = belonging(connection, parent, &mut parameters);
        for (place, term) in bound.terms.iter().enumerate() {
            conditions.push(filter::condition(connection, term, Slot::Term(place), &mut parameters));
        }
        let mut place = |position, slot: fn(usize) -> Slot| {
            KeysetBound::new(sort_key, &connection.join.to, position, slot, &mut parameters)
        };
        let after = bound.page.after.as_ref().map(|position| place(position, Slot::After));
        let before = bound.page.before.as_ref().map(|position| place(position, Slot::Before));
        let walk = Walk { up: !bound.reverse, after: after.as_ref(), before: before.as_ref() };
        let limit = parameters.add(Slot::Limit);

        let layout = layout(&parents, &wanted, &walk);
        let mut select = Select::new(layout.width);
        self.shape.push(Op::Connection { step: bound.step });
        self.page(&mut select, bound.step, &bound.fields);
        self.shape.push(Op::EndConnection);

        let segments = keyset::segments(sort_key, walk.page());
        let varies = |name: &str| !connection.join.to.iter().any(|joined| joined == name);
        let order: Vec<_> = sort_key.columns.iter().filter(|column| varies(&column.name)).collect();
        let mut places = |columns: &[&'a Column]| -> Vec<_> {
            columns.iter().map(|column| select.column(Alias::Base, &column.name)).collect()
        };
        let order_places = if segments.len() > 1 { places(&order) } else { Vec::new() };
        let cursor = wanted.cursors.then(|| {
            let columns: Vec<_> = sort_key.columns.iter().collect();
            let columns = places(&columns).into_iter().zip(columns.iter().map(|column| column.scalar)).collect();
            CursorColumns { tag: if bound.reverse { sort_key.tag.reversed() } else { sort_key.tag }, columns }
        });
        let backward = bound.page.end == End::Back;
        let probe = |range, ascending| Probe { segments: keyset::segments(sort_key, range), ascending };
        let before_page = layout.before_page.map(|_| probe(walk.before_page(), !walk.up));
        let behind_page = layout.behind_page.map(|_| probe(walk.behind_page(), walk.up));
        let sql = PageStatement {
            relation: &connection.relation,
            select: &select,
            source,
            conditions,
            segments,
            order,
            order_places,
            ascending: walk.up != backward,
            limit,
            probes: before_page.into_iter().chain(behind_page).collect(),
        }
        .text();
        self.steps[bound.step] =
            Some(Step { sql, parameters: parameters.into_slots(), parents, backward, layout, cursor });
    }

    /// The fields of a connection.
    fn page(&mut self, select: &mut Select<'a>, step: StepId, fields: &[BoundField<'a>]) {
        self.shape.open_object();
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::Edges(fields) => {
                    self.shape.literal("[");
                    let begin = self.shape.push(Op::FirstRow { end: 0 });
                    let start = self.shape.here();
                    self.shape.in_list(step);
                    self.edge(select, step, fields);
                    self.shape.close(begin, Op::NextRow { start });
                    self.shape.literal("]");
                }
                Bound::PageInfo(fields) => self.page_info(fields),
                // A connection has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.close_object();
    }

    fn edge(&mut self, select: &mut Select<'a>, step: StepId, fields: &[BoundField<'a>]) {
        self.shape.open_object();
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::Node(fields) => self.object(select, Row { step, alias: Alias::Base, known: &[] }, fields),
                Bound::Cursor => {
                    self.shape.push(Op::Cursor);
                }
                // An edge has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.close_object();
    }

    fn page_info(&mut self, fields: &[BoundField<'_>]) {
        self.shape.open_object();
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::PageInfoField(fact) => {
                    self.shape.push(match fact {
                        PageInfoField::HasNextPage => Op::HasNextPage,
                        PageInfoField::HasPreviousPage => Op::HasPreviousPage,
                        PageInfoField::StartCursor => Op::StartCursor,
                        PageInfoField::EndCursor => Op::EndCursor,
                    });
                }
                // `pageInfo` has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.close_object();
    }
}

/// How a connection's rows belong to their parents.
fn belonging<'a>(
    connection: &'a Connection,
    parent: Option<(&mut Select<'a>, Row<'_>)>,
    parameters: &mut Parameters,
) -> (Parents, Source<'a>, Vec<Condition<'a>>) {
    let Some((select, row)) = parent else { return (Parents::Known, Source::Alone, Vec::new()) };
    let known = |name: &str| row.known.iter().find(|(column, _)| *column == name).map(|(_, slot)| *slot);
    let all_known: Option<Vec<_>> = connection.join.by.iter().map(|column| known(&column.name)).collect();
    if let Some(slots) = all_known {
        let conditions = slots.into_iter().zip(&connection.join.to);
        let conditions = conditions.map(|(slot, to)| equal(to, parameters.add(slot))).collect();
        return (Parents::Known, Source::Alone, conditions);
    }
    let columns = connection.join.by.iter().map(|column| select.key(row.alias, column)).collect();
    let arrays = connection.join.by.iter().enumerate();
    let arrays = arrays.map(|(place, column)| (parameters.add(Slot::ParentKeys(place)), column));
    let arrays = arrays.collect();
    let conditions = connection.join.to.iter().enumerate();
    let conditions = conditions.map(|(place, to)| Condition::OfParent(ColumnOf(Alias::Base, to), place));
    (Parents::Rows { step: row.step, columns }, Source::Parents(arrays), conditions.collect())
}

fn equal(column: &str, value: Placeholder) -> Condition<'_> {
    Condition::Compare(ColumnOf(Alias::Base, column), Operator::Equal, value)
}

/// What is selected of a connection beside its rows.
#[derive(Default)]
struct Wanted {
    cursors: bool,
    has_next_page: bool,
    has_previous_page: bool,
}

impl Wanted {
    fn of(fields: &[BoundField<'_>]) -> Self {
        let mut wanted = Self::default();
        wanted.add(fields);
        wanted
    }

    fn add(&mut self, fields: &[BoundField<'_>]) {
        for field in fields {
            match &field.kind {
                Bound::Edges(fields) | Bound::PageInfo(fields) => self.add(fields),
                Bound::Cursor | Bound::PageInfoField(PageInfoField::StartCursor | PageInfoField::EndCursor) => {
                    self.cursors = true;
                }
                Bound::PageInfoField(PageInfoField::HasNextPage) => self.has_next_page = true,
                Bound::PageInfoField(PageInfoField::HasPreviousPage) => self.has_previous_page = true,
                _ => {}
            }
        }
    }
}

/// A walk with its cursors: up the index, or down it where it is reversed.
struct Walk<'a> {
    up: bool,
    after: Option<&'a KeysetBound<'a>>,
    before: Option<&'a KeysetBound<'a>>,
}

impl<'a> Walk<'a> {
    /// What lies between the cursors.
    fn page(&self) -> Range<'a> {
        let (above, below) = if self.up { (self.after, self.before) } else { (self.before, self.after) };
        Range { above, below, inclusive: false }
    }

    /// What lies at or before the `after:` cursor.
    fn before_page(&self) -> Range<'a> {
        let (above, below) = if self.up { (None, self.after) } else { (self.after, None) };
        Range { above, below, inclusive: true }
    }

    /// What lies at or behind the `before:` cursor.
    fn behind_page(&self) -> Range<'a> {
        let (above, below) = if self.up { (self.before, None) } else { (None, self.before) };
        Range { above, below, inclusive: true }
    }
}

fn layout(parents: &Parents, wanted: &Wanted, walk: &Walk<'_>) -> Layout {
    let mut width = 0;
    let mut next = |is_there: bool| {
        is_there.then(|| {
            width += 1;
            width - 1
        })
    };
    let ordinal = next(*parents != Parents::Known);
    let before_page = next(wanted.has_previous_page && walk.after.is_some());
    let behind_page = next(wanted.has_next_page && walk.before.is_some());
    let present = next(before_page.is_some() || behind_page.is_some());
    Layout { ordinal, before_page, behind_page, present, width }
}
