//! Operation and variables to an operation whose every value is known: conditions decided, page sizes inside the limits,
//! search terms typed, cursors read. Whatever comes after cannot fail.

pub mod argument;
pub mod error;
pub mod page;
pub mod terms;
mod variable;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, Connection, PageFact};
use crate::catalog::schema::{FieldId, TypeId};
use crate::limits::Limits;
use crate::query::Variables;
use crate::query::bind::argument::Arguments;
use crate::query::bind::page::Page;
use crate::query::bind::terms::BoundTerm;
use crate::query::bind::variable::Values;
use crate::query::operation::{Condition, Operation, Selection, Target};
use crate::refusal::{Location, Refusal, Refusals};
use crate::value::Value;

/// An operation in which nothing is left to decide.
#[derive(Debug)]
pub struct BoundOperation<'op> {
    /// What is selected from the root.
    pub fields: Vec<BoundField<'op>>,
    /// How many steps it takes: its connections and point roots, numbered in document order.
    pub steps: usize,
}

/// A selected field.
#[derive(Debug)]
pub struct BoundField<'op> {
    /// Its key in the response.
    pub key: &'op str,
    /// Where it is selected.
    pub location: Location,
    /// What it selects.
    pub kind: Bound<'op>,
}

/// What a selected field selects.
#[derive(Debug)]
pub enum Bound<'op> {
    /// `__typename`.
    TypeName(TypeId),
    /// A column.
    Column(FieldId),
    /// An aggregate.
    Aggregate(FieldId),
    /// A joined object and what is selected from it.
    One(FieldId, Vec<BoundField<'op>>),
    /// A root that finds one row.
    Point(BoundPoint<'op>),
    /// A connection.
    Connection(Box<BoundConnection<'op>>),
    /// `edges`, and what is selected from each.
    Edges(Vec<BoundField<'op>>),
    /// `node`, and what is selected from it.
    Node(Vec<BoundField<'op>>),
    /// `pageInfo`, and what is selected from it.
    PageInfo(Vec<BoundField<'op>>),
    /// `cursor` of an edge.
    Cursor,
    /// A field of `pageInfo`.
    PageFact(PageFact),
}

/// The place of a step in the plan, the cost weights and the row counts.
pub type StepId = usize;

/// A root that finds one row.
#[derive(Debug)]
pub struct BoundPoint<'op> {
    /// Its place among the steps.
    pub step: StepId,
    /// The root.
    pub field: FieldId,
    /// The keys to look for: their place among the root's keys, and the values.
    pub keys: Vec<(usize, Value)>,
    /// What is selected from the row.
    pub fields: Vec<BoundField<'op>>,
}

/// A page of a connection.
#[derive(Debug)]
pub struct BoundConnection<'op> {
    /// Its place among the steps.
    pub step: StepId,
    /// The field.
    pub field: FieldId,
    /// How much is asked for, from which end, between which cursors.
    pub page: Page,
    /// The search terms.
    pub terms: Vec<BoundTerm>,
    /// The sort key's place among the connection's.
    pub sort_key: usize,
    /// Whether the walk goes from the other end.
    pub reverse: bool,
    /// What is selected from it.
    pub fields: Vec<BoundField<'op>>,
}

/// Decides every value of an operation. All violations are reported, in document order.
pub fn bind<'op>(
    catalog: &Catalog,
    operation: &'op Operation,
    variables: &Variables,
    limits: &Limits,
) -> Result<BoundOperation<'op>, Refusals> {
    let values = variable::coerce(catalog, &operation.variables, variables)?;
    let conditional = operation.conditional;
    let mut binder = Binder { catalog, limits, values, conditional, steps: 0, found: Vec::new() };
    let fields = binder.fields(&operation.selections);
    Refusals::check(binder.found)?;
    Ok(BoundOperation { fields, steps: binder.steps })
}

struct Binder<'a> {
    catalog: &'a Catalog,
    limits: &'a Limits,
    values: Values<'a>,
    conditional: bool,
    steps: usize,
    found: Vec<Refusal>,
}

impl Binder<'_> {
    fn fields<'op>(&mut self, selections: &'op [Selection]) -> Vec<BoundField<'op>> {
        if self.conditional {
            let mut selected: Vec<_> = selections.iter().filter_map(|s| Some((self.first_occurrence(s)?, s))).collect();
            selected.sort_by_key(|(order, _)| *order);
            selected.into_iter().map(|(_, selection)| self.field(selection)).collect()
        } else {
            selections.iter().map(|selection| self.field(selection)).collect()
        }
    }

    /// The place of the first occurrence whose conditions hold: it decides where the key stands in the response.
    fn first_occurrence(&self, selection: &Selection) -> Option<u32> {
        let holds = |condition: &Condition| self.values.truth(condition.variable) == Some(condition.wanted);
        let occurrence = selection.occurrences.iter().find(|occurrence| occurrence.conditions.iter().all(holds));
        occurrence.map(|occurrence| occurrence.order)
    }

    fn field<'op>(&mut self, selection: &'op Selection) -> BoundField<'op> {
        let kind = match selection.target {
            Target::TypeName(object) => Bound::TypeName(object),
            Target::Field(field) => self.kind(selection, field),
        };
        BoundField { key: &selection.key, location: selection.location, kind }
    }

    fn kind<'op>(&mut self, selection: &'op Selection, id: FieldId) -> Bound<'op> {
        let catalog = self.catalog;
        match &catalog.field(id).binding {
            Binding::Column(_) => Bound::Column(id),
            Binding::Aggregate(_) => Bound::Aggregate(id),
            Binding::One(_) => Bound::One(id, self.fields(&selection.selections)),
            Binding::Point(_) => self.point(selection, id),
            Binding::Connection(connection) => self.connection(selection, id, connection),
            Binding::Edges => Bound::Edges(self.fields(&selection.selections)),
            Binding::Node => Bound::Node(self.fields(&selection.selections)),
            Binding::PageInfo => Bound::PageInfo(self.fields(&selection.selections)),
            Binding::Cursor => Bound::Cursor,
            Binding::PageFact(fact) => Bound::PageFact(*fact),
        }
    }

    fn point<'op>(&mut self, selection: &'op Selection, id: FieldId) -> Bound<'op> {
        let step = self.next_step();
        let field = self.catalog.field(id);
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let keys = argument::keys(&arguments).unwrap_or_else(|errors| {
            self.found.extend(errors.iter().map(|error| Refusal::new(error, [selection.location])));
            Vec::new()
        });
        Bound::Point(BoundPoint { step, field: id, keys, fields: self.fields(&selection.selections) })
    }

    fn connection<'op>(&mut self, selection: &'op Selection, id: FieldId, connection: &Connection) -> Bound<'op> {
        let step = self.next_step();
        let field = self.catalog.field(id);
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let mut errors = Vec::new();
        let (sort_key, reverse) = argument::order(&arguments, connection);
        let page = page::page(&arguments, &connection.sort_keys[sort_key], reverse, self.limits, &mut errors);
        let terms = terms::terms(&arguments, connection, &mut errors);
        self.found.extend(errors.iter().map(|error| Refusal::new(error, [selection.location])));
        let fields = self.fields(&selection.selections);
        Bound::Connection(Box::new(BoundConnection { step, field: id, page, terms, sort_key, reverse, fields }))
    }

    fn next_step(&mut self) -> StepId {
        self.steps += 1;
        self.steps - 1
    }
}
