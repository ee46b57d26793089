//! Operation and variables to an operation whose every value is known.
//!
//! - [`resolve`](mod@resolve): the values: conditions decided, page sizes inside the limits, search terms typed, cursors
//!   read. All that can be refused is refused here.
//! - [`bind`]: the operation with these values, as a tree. Neither it nor whatever comes after can fail.
//!
//! They are two because requests with the same text and other values mostly need the first alone: their statements are the
//! same, and known from before.

pub mod argument;
pub mod error;
pub mod introspection;
pub mod page;
pub mod resolve;
pub mod terms;
mod variable;

use crate::catalog::Catalog;
use crate::catalog::binding::{Aggregate, Binding, Column, Connection, Lookup, One, PageInfoField};
use crate::catalog::ids::{FieldId, TypeId};
use crate::catalog::schema::Field;
use crate::error::graphql_error::Location;
use crate::query::bind::introspection::Constant;
use crate::query::bind::page::{Page, SizeSource};
use crate::query::bind::resolve::{Resolved, StepArguments};
use crate::query::bind::terms::BoundTerm;
use crate::query::operation::{Operation, Selection, Target};
use crate::value::Value;

/// An operation in which nothing is left to decide.
#[derive(Debug)]
pub struct BoundOperation<'a> {
    /// What is selected from the root.
    pub fields: Vec<BoundField<'a>>,
    /// What its steps take: its connections and point roots, in the order of the response.
    pub steps: &'a [StepArguments],
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
    Lookup(BoundLookup<'a>),
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
    PageInfoField(PageInfoField),
    /// What introspection answers.
    Constant(&'a Constant<'a>),
}

impl<'a> Bound<'a> {
    /// What is selected from it; nothing from leaves.
    pub fn fields(&self) -> &[BoundField<'a>] {
        match self {
            Self::One(_, _, fields) | Self::Edges(fields) | Self::Node(fields) | Self::PageInfo(fields) => fields,
            Self::Lookup(point) => &point.fields,
            Self::Connection(connection) => &connection.fields,
            Self::TypeName(_)
            | Self::Column(..)
            | Self::Aggregate(..)
            | Self::Cursor
            | Self::PageInfoField(_)
            | Self::Constant(_) => &[],
        }
    }
}

/// The place of a step in the plan, the cost weights and the row counts.
pub type StepId = usize;

/// A root that finds one row.
#[derive(Debug)]
pub struct BoundLookup<'a> {
    /// Its place among the steps.
    pub step: StepId,
    /// The root.
    pub field: &'a Field,
    /// How it finds the row.
    pub binding: &'a Lookup,
    /// The keys to look for: their place among the root's keys, and the values.
    pub keys: &'a [(usize, Value)],
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
    pub page: &'a Page,
    /// Where the page size is written.
    pub size_written: SizeSource<'a>,
    /// The search terms.
    pub terms: &'a [BoundTerm],
    /// The sort key's place among the connection's.
    pub sort_key: usize,
    /// Whether the walk goes from the other end.
    pub reverse: bool,
    /// What is selected from it.
    pub fields: Vec<BoundField<'a>>,
}

/// Puts an operation and its values together.
pub fn bind<'a>(catalog: &'a Catalog, operation: &'a Operation, resolved: &'a Resolved<'a>) -> BoundOperation<'a> {
    let mut binder = Binder { catalog, operation, resolved, steps: 0, constants: 0 };
    let fields = binder.fields(&operation.selections);
    BoundOperation { fields, steps: &resolved.steps }
}

struct Binder<'a> {
    catalog: &'a Catalog,
    operation: &'a Operation,
    resolved: &'a Resolved<'a>,
    /// The steps, and the answers of introspection, that were met so far: they were resolved in the same order.
    steps: usize,
    constants: usize,
}

impl<'a> Binder<'a> {
    fn fields(&mut self, selections: &'a [Selection]) -> Vec<BoundField<'a>> {
        if self.operation.conditions.is_empty() {
            selections.iter().map(|selection| self.field(selection)).collect()
        } else {
            let selected = self.resolved.values.selected(selections);
            selected.into_iter().map(|selection| self.field(selection)).collect()
        }
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
            Binding::Lookup(point) => self.point(selection, field, point),
            Binding::Connection(connection) => self.connection(selection, field, connection),
            Binding::Edges => Bound::Edges(self.fields(&selection.selections)),
            Binding::Node => Bound::Node(self.fields(&selection.selections)),
            Binding::PageInfo => Bound::PageInfo(self.fields(&selection.selections)),
            Binding::Cursor => Bound::Cursor,
            Binding::PageInfoField(fact) => Bound::PageInfoField(*fact),
            Binding::Introspection(_) => {
                self.constants += 1;
                Bound::Constant(&self.resolved.constants[self.constants - 1])
            }
        }
    }

    fn point(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Lookup) -> Bound<'a> {
        let (step, StepArguments::Lookup { keys }) = self.next_step() else { unreachable!("a point root has keys") };
        Bound::Lookup(BoundLookup { step, field, binding, keys, fields: self.fields(&selection.selections) })
    }

    fn connection(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Connection) -> Bound<'a> {
        let (step, StepArguments::Connection { sort_key, reverse, page, terms }) = self.next_step() else {
            unreachable!("a connection has a page")
        };
        let size_written = match page::size_variable(field, &selection.arguments, page.end) {
            Some(variable) => SizeSource::Variable(&self.operation.variables[variable].name),
            None => SizeSource::Document(&selection.occurrences),
        };
        Bound::Connection(Box::new(BoundConnection {
            step,
            field,
            binding,
            page,
            size_written,
            terms,
            sort_key: *sort_key,
            reverse: *reverse,
            fields: self.fields(&selection.selections),
        }))
    }

    fn next_step(&mut self) -> (StepId, &'a StepArguments) {
        self.steps += 1;
        (self.steps - 1, &self.resolved.steps[self.steps - 1])
    }
}
