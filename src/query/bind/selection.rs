//! A bound operation: what is selected, with a type for each level of the grammar, so that a pass over it is complete when
//! it compiles.

use crate::catalog::binding::{Aggregate, Column, Connection, Lookup, One, PageInfoField};
use crate::catalog::ids::TypeId;
use crate::catalog::schema::Field;
use crate::error::graphql_error::Location;
use crate::query::bind::ids::StepId;
use crate::query::bind::introspection::Constant;
use crate::query::bind::page::{Page, SizeSource};
use crate::query::bind::resolve::StepArguments;
use crate::value::Value;

/// An operation in which nothing is left to decide.
#[derive(Debug)]
pub struct BoundOperation<'a> {
    /// What is selected from the root.
    pub selections: Selections<'a, BoundRootField<'a>>,
    /// The arguments of its steps, by [`StepId`].
    pub steps: &'a [StepArguments],
}

/// What is selected on one level, in the order of the response.
pub type Selections<'a, F> = Vec<BoundSelection<'a, F>>;

/// A selected field of one level.
#[derive(Debug)]
pub struct BoundSelection<'a, F> {
    /// Its key in the response.
    pub key: &'a str,
    /// Where it is selected.
    pub location: Location,
    /// The field.
    pub field: F,
}

/// A field of the query root.
#[derive(Debug)]
pub enum BoundRootField<'a> {
    /// `__typename`.
    TypeName(TypeId),
    /// A field that finds one row.
    Lookup(BoundLookup<'a>),
    /// A connection.
    Connection(Box<BoundConnection<'a>>),
    /// `__schema` or `__type`, and its result.
    Introspection(&'a Constant<'a>),
}

/// A field of an entity.
#[derive(Debug)]
pub enum BoundObjectField<'a> {
    /// `__typename`.
    TypeName(TypeId),
    /// A column.
    Column(&'a Field, &'a Column),
    /// An aggregate.
    Aggregate(&'a Field, &'a Aggregate),
    /// A joined object.
    Object(BoundObject<'a>),
    /// A connection.
    Connection(Box<BoundConnection<'a>>),
}

/// A field of a connection.
#[derive(Debug)]
pub enum BoundConnectionField<'a> {
    /// `__typename`.
    TypeName(TypeId),
    /// `edges`, and what is selected from each.
    Edges(Selections<'a, BoundEdgeField<'a>>),
    /// `pageInfo`, and what is selected from it.
    PageInfo(Selections<'a, BoundPageInfoField>),
    /// `count`.
    Count(&'a Field),
}

/// A field of an edge.
#[derive(Debug)]
pub enum BoundEdgeField<'a> {
    /// `__typename`.
    TypeName(TypeId),
    /// `node`, and what is selected from it.
    Node(Selections<'a, BoundObjectField<'a>>),
    /// `cursor`.
    Cursor,
}

/// A field of `pageInfo`.
#[derive(Debug)]
pub enum BoundPageInfoField {
    /// `__typename`.
    TypeName(TypeId),
    /// Another field.
    Field(PageInfoField),
}

/// An object that is joined to its parent's row.
#[derive(Debug)]
pub struct BoundObject<'a> {
    /// The field.
    pub field: &'a Field,
    /// How it is joined.
    pub binding: &'a One,
    /// What is selected from it.
    pub selections: Selections<'a, BoundObjectField<'a>>,
}

/// A root field that finds one row.
#[derive(Debug)]
pub struct BoundLookup<'a> {
    /// Its step.
    pub step: StepId,
    /// The field.
    pub field: &'a Field,
    /// How it finds the row.
    pub binding: &'a Lookup,
    /// The keys to look for: their indexes among the binding's keys, and the values.
    pub keys: &'a [(usize, Value)],
    /// What is selected from the row.
    pub selections: Selections<'a, BoundObjectField<'a>>,
}

/// A page of a connection.
#[derive(Debug)]
pub struct BoundConnection<'a> {
    /// Its step.
    pub step: StepId,
    /// The field.
    pub field: &'a Field,
    /// Where its rows are.
    pub binding: &'a Connection,
    /// How many rows are requested, from which end, between which cursors.
    pub page: &'a Page,
    /// Where the page size is written.
    pub size_source: SizeSource<'a>,
    /// How many of its search terms no selective index serves.
    pub unindexed_terms: u64,
    /// The index of the sort key among the binding's.
    pub sort_key: usize,
    /// Whether the order is reversed.
    pub reverse: bool,
    /// How many rows are counted at most, if they are.
    pub count_up_to: Option<u32>,
    /// What is selected from it.
    pub selections: Selections<'a, BoundConnectionField<'a>>,
}
