//! A plan from a bound operation: one walk that writes the shape and gathers what each step has to read.

use crate::catalog::Catalog;
use crate::catalog::binding::{Column, Connection, PageFact};
use crate::catalog::schema::TypeId;
use crate::plan::Plan;
use crate::plan::filter;
use crate::plan::keyset::{self, Bound as Place, Range};
use crate::plan::select::Select;
use crate::plan::shape::{Op, ShapeWriter};
use crate::plan::sql::{Alias, ColumnOf, Parameters};
use crate::plan::statement::{self, PageStatement, Probe, Source};
use crate::plan::step::{CursorColumns, Layout, Parameter, Parents, Step};
use crate::query::bind::page::End;
use crate::query::bind::{Bound, BoundConnection, BoundField, BoundOperation, BoundPoint, StepId};
use crate::value::{ScalarType, Value};

/// Plans an operation. Nothing can fail any more: whatever could is in the types already.
pub fn plan(catalog: &Catalog, operation: &BoundOperation<'_>) -> Plan {
    let steps = (0..operation.steps).map(|_| None).collect();
    let mut planner = Planner { catalog, steps, shape: ShapeWriter::default() };
    planner.root(&operation.fields);
    Plan { steps: planner.steps.into_iter().flatten().collect(), shape: planner.shape.finish() }
}

struct Planner<'a> {
    catalog: &'a Catalog,
    steps: Vec<Option<Step>>,
    shape: ShapeWriter,
}

/// The row whose fields are being planned.
#[derive(Clone, Copy)]
struct Row<'a> {
    step: StepId,
    alias: Alias,
    /// Columns whose values are known before the row is read, because a point root looked for them.
    known: &'a [(&'a str, &'a Value)],
}

impl Planner<'_> {
    fn root(&mut self, fields: &[BoundField<'_>]) {
        self.shape.literal("{");
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::Point(point) => self.point(point),
                Bound::Connection(connection) => self.connection(connection, None),
                // The root has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.literal("}");
    }

    fn type_name(&mut self, object: TypeId) {
        self.shape.literal("\"");
        self.shape.literal(self.catalog.get(object).name());
        self.shape.literal("\"");
    }

    fn point(&mut self, point: &BoundPoint<'_>) {
        let binding = point.binding;
        let known: Vec<_> =
            point.keys.iter().map(|(place, value)| (binding.keys[*place].name.as_str(), value)).collect();
        let mut parameters = Parameters::default();
        let conditions: Vec<_> = known
            .iter()
            .map(|(column, value)| {
                let placeholder = parameters.add(Parameter::Value(Some((*value).clone())));
                format!("{} = {placeholder}", ColumnOf(Alias::Base, column))
            })
            .collect();
        let key = self.catalog.entity(binding.target).map_or(&[][..], |entity| &entity.key);
        let is_unique = key.iter().all(|column| known.iter().any(|(name, _)| *name == column.name));

        let mut select = Select::new(0);
        let begin = self.shape.push(Op::Point { step: point.step, end: 0 });
        self.object(&mut select, Row { step: point.step, alias: Alias::Base, known: &known }, &point.fields);
        self.shape.close(begin, Op::EndPoint);
        self.steps[point.step] = Some(Step {
            sql: statement::point(&binding.relation, &select, &conditions, if is_unique { &[] } else { key }),
            parameters: parameters.into_values(),
            parents: Parents::Known,
            size: 1,
            backward: false,
            layout: Layout::default(),
            cursor: None,
        });
    }

    /// The fields of a row, of the step's own relation or of an object joined to it.
    fn object<'a>(&mut self, select: &mut Select<'a>, row: Row<'_>, fields: &[BoundField<'a>]) {
        self.shape.literal("{");
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::Column(field, column) => {
                    let place = select.column(row.alias, &column.name);
                    let non_null = field.ty.is_non_null();
                    self.shape.push(Op::Column { column: place, scalar: column.scalar, non_null });
                }
                Bound::Aggregate(_, aggregate) => {
                    let column = select.aggregate(row.alias, aggregate);
                    self.shape.push(Op::Column { column, scalar: ScalarType::Int, non_null: true });
                }
                Bound::One(_, one, fields) => {
                    let alias = select.join(self.catalog, row.alias, one);
                    // A joined row has the columns that it was joined by.
                    let present = one.join.to.first().map_or(0, |column| select.column(alias, column));
                    let begin = self.shape.push(Op::Object { present, end: 0 });
                    self.object(select, Row { step: row.step, alias, known: &[] }, fields);
                    self.shape.close(begin, Op::EndObject);
                }
                Bound::Connection(connection) => self.connection(connection, Some((select, row))),
                // An object has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.literal("}");
    }

    fn connection(&mut self, bound: &BoundConnection<'_>, parent: Option<(&mut Select<'_>, Row<'_>)>) {
        let connection = bound.binding;
        let sort_key = &connection.sort_keys[bound.sort_key];
        let wanted = Wanted::of(&bound.fields);

        let mut parameters = Parameters::default();
        let (parents, source, mut conditions) = belonging(connection, parent, &mut parameters);
        conditions.extend(bound.terms.iter().map(|term| filter::condition(connection, term, &mut parameters)));
        let mut place = |position| Place::new(sort_key, &connection.join.to, position, &mut parameters);
        let (after, before) = (bound.page.after.as_ref().map(&mut place), bound.page.before.as_ref().map(place));
        let walk = Walk { up: !bound.reverse, after: after.as_ref(), before: before.as_ref() };
        let limit = parameters.add(Parameter::Limit(i64::from(bound.page.size.get()) + 1));

        let layout = layout(&parents, &wanted, &walk);
        let mut select = Select::new(layout.width);
        self.shape.push(Op::Connection { step: bound.step });
        self.page(&mut select, bound.step, &bound.fields);
        self.shape.push(Op::EndConnection);

        let segments = keyset::segments(sort_key, walk.page());
        let varies = |name: &str| !connection.join.to.iter().any(|joined| joined == name);
        let order: Vec<_> = sort_key.columns.iter().filter(|column| varies(&column.name)).collect();
        let mut places = |columns: &[&Column]| -> Vec<_> {
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
        self.steps[bound.step] = Some(Step {
            sql,
            parameters: parameters.into_values(),
            parents,
            size: bound.page.size.get(),
            backward,
            layout,
            cursor,
        });
    }

    /// The fields of a connection.
    fn page<'a>(&mut self, select: &mut Select<'a>, step: StepId, fields: &[BoundField<'a>]) {
        self.shape.literal("{");
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::Edges(fields) => {
                    self.shape.literal("[");
                    let begin = self.shape.push(Op::FirstRow { end: 0 });
                    let start = self.shape.here();
                    self.edge(select, step, fields);
                    self.shape.close(begin, Op::NextRow { start });
                    self.shape.literal("]");
                }
                Bound::PageInfo(fields) => self.page_info(fields),
                // A connection has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.literal("}");
    }

    fn edge<'a>(&mut self, select: &mut Select<'a>, step: StepId, fields: &[BoundField<'a>]) {
        self.shape.literal("{");
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
        self.shape.literal("}");
    }

    fn page_info(&mut self, fields: &[BoundField<'_>]) {
        self.shape.literal("{");
        for (index, field) in fields.iter().enumerate() {
            self.shape.key(field.key, index == 0);
            match &field.kind {
                Bound::TypeName(object) => self.type_name(*object),
                Bound::PageFact(fact) => {
                    self.shape.push(match fact {
                        PageFact::HasNextPage => Op::HasNextPage,
                        PageFact::HasPreviousPage => Op::HasPreviousPage,
                        PageFact::StartCursor => Op::StartCursor,
                        PageFact::EndCursor => Op::EndCursor,
                    });
                }
                // `pageInfo` has no other fields.
                _ => self.shape.literal("null"),
            }
        }
        self.shape.literal("}");
    }
}

/// How a connection's rows belong to their parents.
fn belonging(
    connection: &Connection,
    parent: Option<(&mut Select<'_>, Row<'_>)>,
    parameters: &mut Parameters,
) -> (Parents, Source, Vec<String>) {
    let Some((select, row)) = parent else { return (Parents::Known, Source::Alone, Vec::new()) };
    let pairs = || connection.join.by.iter().zip(&connection.join.to);
    let known = |name: &str| row.known.iter().find(|(column, _)| *column == name).map(|(_, value)| (*value).clone());
    let all_known: Option<Vec<_>> = connection.join.by.iter().map(|column| known(&column.name)).collect();
    if let Some(values) = all_known {
        let condition = |(value, to): (Value, &String)| {
            let placeholder = parameters.add(Parameter::Value(Some(value)));
            format!("{} = {placeholder}", ColumnOf(Alias::Base, to))
        };
        let conditions = values.into_iter().zip(&connection.join.to).map(condition).collect();
        return (Parents::Known, Source::Alone, conditions);
    }
    let columns = connection.join.by.iter().map(|column| select.key(row.alias, column)).collect();
    let arrays = connection.join.by.iter().enumerate();
    let arrays = arrays.map(|(place, column)| (parameters.add(Parameter::ParentKeys(place)), column.clone()));
    let arrays = arrays.collect();
    let conditions = pairs().enumerate().map(|(place, (_, to))| format!("{} = k.k{place}", ColumnOf(Alias::Base, to)));
    (Parents::Rows { step: row.step, columns }, Source::Parents(arrays), conditions.collect())
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
                Bound::Cursor | Bound::PageFact(PageFact::StartCursor | PageFact::EndCursor) => self.cursors = true,
                Bound::PageFact(PageFact::HasNextPage) => self.has_next_page = true,
                Bound::PageFact(PageFact::HasPreviousPage) => self.has_previous_page = true,
                _ => {}
            }
        }
    }
}

/// A walk with its cursors: up the index, or down it where it is reversed.
struct Walk<'a> {
    up: bool,
    after: Option<&'a Place<'a>>,
    before: Option<&'a Place<'a>>,
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
