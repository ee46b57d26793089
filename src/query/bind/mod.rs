//! Operation and variables to an operation whose every value is known: conditions decided, page sizes inside the limits,
//! search terms typed, cursors read. Whatever comes after cannot fail.

pub mod argument;
pub mod error;
pub mod page;
pub mod terms;
mod variable;

use crate::catalog::Catalog;
use crate::catalog::binding::{Aggregate, Binding, Column, Connection, One, PageFact, Point};
use crate::catalog::schema::{Field, FieldId, TypeId};
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
pub struct BoundOperation<'a> {
    /// What is selected from the root.
    pub fields: Vec<BoundField<'a>>,
    /// How many steps it takes: its connections and point roots, numbered in document order.
    pub steps: usize,
}

/// A selected field.
#[derive(Debug)]
pub struct BoundField<'a> {
    /// Its key in the response.
    pub key: &'a str,
    /// Where it is selected.
    pub location: Location,
    /// What it selects.
    pub kind: Bound<'a>,
}

/// What a selected field selects.
#[derive(Debug)]
pub enum Bound<'a> {
    /// `__typename`.
    TypeName(TypeId),
    /// A column.
    Column(&'a Field, &'a Column),
    /// An aggregate.
    Aggregate(&'a Field, &'a Aggregate),
    /// A joined object and what is selected from it.
    One(&'a Field, &'a One, Vec<BoundField<'a>>),
    /// A root that finds one row.
    Point(BoundPoint<'a>),
    /// A connection.
    Connection(Box<BoundConnection<'a>>),
    /// `edges`, and what is selected from each.
    Edges(Vec<BoundField<'a>>),
    /// `node`, and what is selected from it.
    Node(Vec<BoundField<'a>>),
    /// `pageInfo`, and what is selected from it.
    PageInfo(Vec<BoundField<'a>>),
    /// `cursor` of an edge.
    Cursor,
    /// A field of `pageInfo`.
    PageFact(PageFact),
}

/// The place of a step in the plan, the cost weights and the row counts.
pub type StepId = usize;

/// A root that finds one row.
#[derive(Debug)]
pub struct BoundPoint<'a> {
    /// Its place among the steps.
    pub step: StepId,
    /// The root.
    pub field: &'a Field,
    /// How it finds the row.
    pub binding: &'a Point,
    /// The keys to look for: their place among the root's keys, and the values.
    pub keys: Vec<(usize, Value)>,
    /// What is selected from the row.
    pub fields: Vec<BoundField<'a>>,
}

/// A page of a connection.
#[derive(Debug)]
pub struct BoundConnection<'a> {
    /// Its place among the steps.
    pub step: StepId,
    /// The field.
    pub field: &'a Field,
    /// Where its rows are.
    pub binding: &'a Connection,
    /// How much is asked for, from which end, between which cursors.
    pub page: Page,
    /// The search terms.
    pub terms: Vec<BoundTerm>,
    /// The sort key's place among the connection's.
    pub sort_key: usize,
    /// Whether the walk goes from the other end.
    pub reverse: bool,
    /// What is selected from it.
    pub fields: Vec<BoundField<'a>>,
}

/// Decides every value of an operation. All violations are reported, in document order.
pub fn bind<'a>(
    catalog: &'a Catalog,
    operation: &'a Operation,
    variables: &Variables,
    limits: &Limits,
) -> Result<BoundOperation<'a>, Refusals> {
    let values = variable::coerce(catalog, &operation.variables, variables)?;
    let conditional = operation.conditional;
    let mut binder = Binder { catalog, limits, values, conditional, steps: 0, found: Vec::new() };
    let fields = binder.fields(&operation.selections);
    Refusals::check(binder.found)?;
    Ok(BoundOperation { fields, steps: binder.steps })
}

struct Binder<'a, 'v> {
    catalog: &'a Catalog,
    limits: &'v Limits,
    values: Values<'v>,
    conditional: bool,
    steps: usize,
    found: Vec<Refusal>,
}

impl<'a> Binder<'a, '_> {
    fn fields(&mut self, selections: &'a [Selection]) -> Vec<BoundField<'a>> {
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

    fn field(&mut self, selection: &'a Selection) -> BoundField<'a> {
        let kind = match selection.target {
            Target::TypeName(object) => Bound::TypeName(object),
            Target::Field(field) => self.kind(selection, field),
        };
        BoundField { key: &selection.key, location: selection.location, kind }
    }

    fn kind(&mut self, selection: &'a Selection, id: FieldId) -> Bound<'a> {
        let field = self.catalog.field(id);
        match &field.binding {
            Binding::Column(column) => Bound::Column(field, column),
            Binding::Aggregate(aggregate) => Bound::Aggregate(field, aggregate),
            Binding::One(one) => Bound::One(field, one, self.fields(&selection.selections)),
            Binding::Point(point) => self.point(selection, field, point),
            Binding::Connection(connection) => self.connection(selection, field, connection),
            Binding::Edges => Bound::Edges(self.fields(&selection.selections)),
            Binding::Node => Bound::Node(self.fields(&selection.selections)),
            Binding::PageInfo => Bound::PageInfo(self.fields(&selection.selections)),
            Binding::Cursor => Bound::Cursor,
            Binding::PageFact(fact) => Bound::PageFact(*fact),
        }
    }

    fn point(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Point) -> Bound<'a> {
        let step = self.next_step();
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let keys = argument::keys(&arguments, binding).unwrap_or_else(|errors| {
            self.found.extend(errors.iter().map(|error| Refusal::new(error, [selection.location])));
            Vec::new()
        });
        Bound::Point(BoundPoint { step, field, binding, keys, fields: self.fields(&selection.selections) })
    }

    fn connection(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Connection) -> Bound<'a> {
        let step = self.next_step();
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let mut errors = Vec::new();
        let (sort_key, reverse) = argument::order(&arguments, binding);
        let (end, size) = page::size(&arguments, self.limits, &mut errors);
        let terms = terms::terms(&arguments, binding, &mut errors);
        let (after, before) = page::cursors(&arguments, &binding.sort_keys[sort_key], reverse, &mut errors);
        let page = Page { size, end, after, before };
        self.found.extend(errors.iter().map(|error| Refusal::new(error, [selection.location])));
        let fields = self.fields(&selection.selections);
        Bound::Connection(Box::new(BoundConnection { step, field, binding, page, terms, sort_key, reverse, fields }))
    }

    fn next_step(&mut self) -> StepId {
        self.steps += 1;
        self.steps - 1
    }
}
