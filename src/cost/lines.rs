//! The fields of an operation that have a price, each with what it adds: the one walk over a bound operation that everything
//! about its cost and depth is computed from.

use crate::catalog::aggregate::AggregateFunction;
use crate::catalog::connection::{Connection, ListIndex};
use crate::catalog::prices::{AGGREGATE, OBJECT, ROWS_LISTED, SCALAR, UNINDEXED_TERM};
use crate::catalog::schema::Field;
use crate::cost::price::Cost;
use crate::error::graphql_error::Location;
use crate::query::bind::page_size::SizeSource;
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundGroupField, BoundObjectField, BoundOperation,
    BoundRootField, BoundSelection, BoundTotalsField,
};
use crate::query::bind::step_id::StepId;

/// The response keys from the root to a field, `edges` and `node` among them, without the indexes of list elements.
pub(super) type Path<'a> = Vec<&'a str>;

/// A selected field that has a price, or that has such fields inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct CostLine<'a> {
    /// The number of the line that it is selected from; `None` at the root.
    pub(super) parent: Option<usize>,
    pub(super) key: &'a str,
    pub(super) location: Location,
    /// Levels of object nesting down to it: a root field is level 1, each object or connection inside it one more; `edges`,
    /// `node`, `pageInfo` and fragments add none.
    pub(super) level: u32,
    /// The step for each of whose rows it is fetched; `None` if it is fetched once.
    pub(super) around: Option<StepId>,
    pub(super) kind: LineKind<'a>,
    /// The field's name.
    pub(super) field: &'a str,
    /// Its cost without its selection, each time that it is fetched; of totals, without the rows that are summed up.
    pub(super) own: Cost,
    /// The cost of its search terms, or of reading a bounded list.
    pub(super) penalty: Cost,
    /// How many of its search terms no selective index serves.
    pub(super) unindexed_terms: u64,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum LineKind<'a> {
    /// A scalar or an aggregate.
    Leaf,
    /// `count` of a root connection: paid once, not for each row.
    Count,
    /// `edges`, `node` or `groups`. The price of each row is the connection's; fields of groups are paid once.
    List,
    /// A joined object.
    Object,
    Lookup(StepId),
    /// A connection.
    Page(StepId, WrittenSize<'a>),
    /// Totals, how many relations a row is read from, and the number of rows unless that is the default.
    Totals(StepId, u64, Option<WrittenSize<'a>>),
}

/// The argument with a number of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenSize<'a> {
    /// The argument that has it.
    pub(super) argument: &'static str,
    pub(super) source: SizeSource<'a>,
}

impl<'a> CostLine<'a> {
    /// The step that fetches its rows, if it is a connection, a lookup or totals.
    pub(super) fn step(&self) -> Option<StepId> {
        match self.kind {
            LineKind::Lookup(step) | LineKind::Page(step, ..) | LineKind::Totals(step, ..) => Some(step),
            LineKind::Leaf | LineKind::Count | LineKind::List | LineKind::Object => None,
        }
    }

    /// Its number of rows, if the request gives one.
    pub(super) fn written_size(&self) -> Option<WrittenSize<'a>> {
        match self.kind {
            LineKind::Page(_, size) => Some(size),
            LineKind::Totals(.., size) => size,
            LineKind::Leaf | LineKind::Count | LineKind::List | LineKind::Object | LineKind::Lookup(_) => None,
        }
    }

    /// Whether it is an object, or has objects.
    pub(super) fn is_object(&self) -> bool {
        matches!(self.kind, LineKind::Object) || self.step().is_some()
    }

    /// The response keys that lead to it.
    pub(super) fn path(&self, lines: &[Self]) -> Path<'a> {
        let parent = |line: &Self| line.parent.map(|parent| lines[parent]);
        let mut path: Path<'a> = std::iter::successors(Some(*self), parent).map(|line| line.key).collect();
        path.reverse();
        path
    }
}

/// Visits the lines of an operation in query order, each before the lines inside it.
pub(super) fn visit_lines<'a>(operation: &'a BoundOperation<'a>, visit: impl FnMut(CostLine<'a>)) {
    LineWalk { count: 0, visit }.inside(&operation.selections, LinePlace { line: None, step: None, level: 0 });
}

/// The lines of an operation, in the same order.
pub(super) fn lines<'a>(operation: &'a BoundOperation<'a>) -> Vec<CostLine<'a>> {
    let mut lines = Vec::new();
    visit_lines(operation, |line| lines.push(line));
    lines
}

struct LineWalk<V> {
    /// How many lines there are so far.
    count: usize,
    visit: V,
}

/// The place of fields: the line and the step around them, and its level.
#[derive(Clone, Copy)]
struct LinePlace {
    line: Option<usize>,
    step: Option<StepId>,
    level: u32,
}

impl<'a, V: FnMut(CostLine<'a>)> LineWalk<V> {
    fn inside<F: Priced<'a> + 'a>(&mut self, selections: &'a [BoundSelection<'a, F>], place: LinePlace) {
        let LinePlace { line: parent, step: around, level } = place;
        for BoundSelection { key, location, field } in selections {
            let (location, kind) = (*location, LineKind::Leaf);
            let (own, penalty, unindexed_terms) = (0, 0, 0);
            let line =
                CostLine { parent, key, location, level, around, kind, field: "", own, penalty, unindexed_terms };
            field.add(line, self);
        }
    }

    /// Adds a line. Returns where its selection is.
    fn add(&mut self, line: CostLine<'a>) -> LinePlace {
        let place = LinePlace { line: Some(self.count), step: line.step().or(line.around), level: line.level };
        self.count += 1;
        (self.visit)(line);
        place
    }

    fn leaf(&mut self, line: CostLine<'a>, field: &'a Field, own: Cost) {
        self.add(CostLine { field: &field.name, own, ..line });
    }

    fn list<F: Priced<'a> + 'a>(&mut self, line: CostLine<'a>, selections: &'a [BoundSelection<'a, F>]) {
        let place = self.add(CostLine { kind: LineKind::List, ..line });
        self.inside(selections, place);
    }

    fn object(&mut self, line: CostLine<'a>, field: &'a Field, kind: LineKind<'a>) -> LinePlace {
        self.add(CostLine { field: &field.name, level: line.level + 1, own: OBJECT, kind, ..line })
    }

    fn connection(&mut self, line: CostLine<'a>, connection: &'a BoundConnection<'a>) {
        let unindexed_terms = connection.rows.page().map_or(0, |page| page.unindexed_terms);
        let Connection { found_by, sort_keys, .. } = connection.binding;
        let sorted = match found_by {
            ListIndex::Order => connection.rows.page().and_then(|page| sort_keys[page.sort_key].ties),
            ListIndex::Parent { at_most } => Some(*at_most),
        };
        let reading = sorted.map_or(0, |rows| rows.div_ceil(ROWS_LISTED).into());
        let penalty = search_penalty(unindexed_terms).saturating_add(reading);
        let size = WrittenSize { argument: connection.rows.end().argument(), source: connection.size_source };
        let line = CostLine { penalty, unindexed_terms, ..line };
        let place = self.object(line, connection.field, LineKind::Page(connection.step, size));
        self.inside(&connection.selections, place);
    }
}

/// The cost of search terms that no selective index serves.
fn search_penalty(unindexed_terms: u64) -> Cost {
    UNINDEXED_TERM.saturating_mul(unindexed_terms)
}

/// A field of a level that has priced fields.
trait Priced<'a> {
    /// Adds the line of the field, and the lines of its selection. `line` says where the field is selected.
    fn add<V: FnMut(CostLine<'a>)>(&'a self, line: CostLine<'a>, walk: &mut LineWalk<V>);
}

impl<'a> Priced<'a> for BoundRootField<'a> {
    fn add<V: FnMut(CostLine<'a>)>(&'a self, line: CostLine<'a>, walk: &mut LineWalk<V>) {
        match self {
            Self::TypeName(_) | Self::Introspection(_) => {}
            Self::Lookup(lookup) => {
                let place = walk.object(line, lookup.field, LineKind::Lookup(lookup.step));
                walk.inside(&lookup.selections, place);
            }
            Self::Connection(connection) => walk.connection(line, connection),
            Self::Totals(totals) => {
                let (unindexed_terms, around) = (totals.rows.unindexed_terms, line.around);
                let line = CostLine { penalty: search_penalty(unindexed_terms), unindexed_terms, ..line };
                let size = totals.rows_source.map(|source| WrittenSize { argument: "rows", source });
                let place = walk.object(line, totals.field, LineKind::Totals(totals.step, totals.relations, size));
                // A selection is paid once, not for each row that is summed up.
                walk.inside(&totals.selections, LinePlace { step: around, ..place });
            }
        }
    }
}

impl<'a> Priced<'a> for BoundTotalsField<'a> {
    fn add<V: FnMut(CostLine<'a>)>(&'a self, line: CostLine<'a>, walk: &mut LineWalk<V>) {
        match self {
            Self::TypeName(_) => {}
            Self::Groups(groups) => walk.list(line, groups),
            Self::Field(field, _) => walk.leaf(line, field, SCALAR),
        }
    }
}

impl<'a> Priced<'a> for BoundGroupField<'a> {
    fn add<V: FnMut(CostLine<'a>)>(&'a self, line: CostLine<'a>, walk: &mut LineWalk<V>) {
        match self {
            Self::TypeName(_) => {}
            Self::Field(field, _) => walk.leaf(line, field, SCALAR),
        }
    }
}

impl<'a> Priced<'a> for BoundObjectField<'a> {
    fn add<V: FnMut(CostLine<'a>)>(&'a self, line: CostLine<'a>, walk: &mut LineWalk<V>) {
        match self {
            Self::TypeName(_) => {}
            Self::Column(field, _) => walk.leaf(line, field, SCALAR),
            Self::Aggregate(field, aggregate) => match aggregate.function {
                AggregateFunction::CountDistinct => walk.leaf(line, field, AGGREGATE),
                AggregateFunction::Lowest => walk.leaf(line, field, SCALAR),
            },
            Self::Object(object) => {
                let place = walk.object(line, object.field, LineKind::Object);
                walk.inside(&object.selections, place);
            }
            Self::Connection(connection) => walk.connection(line, connection),
        }
    }
}

impl<'a> Priced<'a> for BoundConnectionField<'a> {
    fn add<V: FnMut(CostLine<'a>)>(&'a self, line: CostLine<'a>, walk: &mut LineWalk<V>) {
        match self {
            Self::TypeName(_) | Self::PageInfo(_) => {}
            Self::Edges(edges) => walk.list(line, edges),
            Self::Count(field) => walk.leaf(CostLine { kind: LineKind::Count, ..line }, field, AGGREGATE),
        }
    }
}

impl<'a> Priced<'a> for BoundEdgeField<'a> {
    fn add<V: FnMut(CostLine<'a>)>(&'a self, line: CostLine<'a>, walk: &mut LineWalk<V>) {
        match self {
            Self::TypeName(_) | Self::Cursor => {}
            Self::Node(node) => walk.list(line, node),
        }
    }
}
