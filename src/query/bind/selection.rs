//! The selection of a bound operation, with a type for each level of the grammar, so that a pass over it is complete when it
//! compiles.

use crate::catalog::aggregate::Aggregate;
use crate::catalog::binding::{Lookup, One, PageInfoField, Totals};
use crate::catalog::changes::Changes;
use crate::catalog::column::Column;
use crate::catalog::connection::Connection;
use crate::catalog::ids::TypeId;
use crate::catalog::schema::Field;
use crate::catalog::totals::{GroupField, GroupOrder, TotalsField};
use crate::error::graphql_error::Location;
use crate::query::bind::introspection::Constant;
use crate::query::bind::page_size::{FromEnd, SizeSource};
use crate::query::bind::shape::{GroupKeys, PageShape, StepShape};
use crate::query::bind::step_id::StepId;

/// An operation in which nothing is left to decide.
#[derive(Debug)]
pub struct BoundOperation<'a> {
    pub(crate) selections: Selections<'a, BoundRootField<'a>>,
    /// The shapes of its steps, by [`StepId`].
    pub(crate) steps: &'a [StepShape],
}

/// The selections of one level, in the order of the response.
pub(crate) type Selections<'a, F> = Vec<BoundSelection<'a, F>>;

/// A selected field of one level.
#[derive(Debug)]
pub(crate) struct BoundSelection<'a, F> {
    pub(crate) key: &'a str,
    pub(crate) location: Location,
    pub(crate) field: F,
}

/// A field of the query root.
#[derive(Debug)]
pub(crate) enum BoundRootField<'a> {
    TypeName(TypeId),
    Lookup(BoundLookup<'a>),
    Connection(Box<BoundConnection<'a>>),
    Totals(Box<BoundTotals<'a>>),
    /// `__schema` or `__type`, and its result.
    Introspection(&'a Constant<'a>),
}

/// A field of an entity.
#[derive(Debug)]
pub(crate) enum BoundObjectField<'a> {
    TypeName(TypeId),
    Column(&'a Field, &'a Column),
    Aggregate(&'a Field, &'a Aggregate),
    Object(BoundObject<'a>),
    Connection(Box<BoundConnection<'a>>),
}

/// A field of a connection.
#[derive(Debug)]
pub(crate) enum BoundConnectionField<'a> {
    TypeName(TypeId),
    Edges(Selections<'a, BoundEdgeField<'a>>),
    PageInfo(Selections<'a, BoundPageInfoField>),
    Count(&'a Field),
}

/// A field of an edge.
#[derive(Debug)]
pub(crate) enum BoundEdgeField<'a> {
    TypeName(TypeId),
    Node(Selections<'a, BoundObjectField<'a>>),
    Cursor,
}

/// A field of `pageInfo`.
#[derive(Debug)]
pub(crate) enum BoundPageInfoField {
    TypeName(TypeId),
    Field(PageInfoField),
}

/// A field of totals.
#[derive(Debug)]
pub(crate) enum BoundTotalsField<'a> {
    TypeName(TypeId),
    Groups(Selections<'a, BoundGroupField<'a>>),
    /// A field other than the groups.
    Field(&'a Field, TotalsField),
}

/// A field of a group.
#[derive(Debug)]
pub(crate) enum BoundGroupField<'a> {
    TypeName(TypeId),
    Field(&'a Field, GroupField),
}

/// An object that is joined to its parent's row.
#[derive(Debug)]
pub(crate) struct BoundObject<'a> {
    pub(crate) field: &'a Field,
    pub(crate) binding: &'a One,
    pub(crate) selections: Selections<'a, BoundObjectField<'a>>,
}

/// A root field that finds one row.
#[derive(Debug)]
pub(crate) struct BoundLookup<'a> {
    pub(crate) step: StepId,
    pub(crate) field: &'a Field,
    /// How it finds the row.
    pub(crate) binding: &'a Lookup,
    /// The keys to look for, by their indexes among the binding's.
    pub(crate) keys: &'a [usize],
    pub(crate) selections: Selections<'a, BoundObjectField<'a>>,
}

/// A page of a connection.
#[derive(Debug)]
pub(crate) struct BoundConnection<'a> {
    pub(crate) step: StepId,
    pub(crate) field: &'a Field,
    /// The source of its rows.
    pub(crate) binding: &'a Connection,
    /// Which of the rows are requested.
    pub(crate) rows: BoundRows<'a>,
    /// The place where the page size is written.
    pub(crate) size_source: SizeSource<'a>,
    pub(crate) selections: Selections<'a, BoundConnectionField<'a>>,
}

/// The rows of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BoundRows<'a> {
    Page(&'a PageShape),
    /// The rows of a feed that changed.
    Changes(&'a Changes),
}

impl<'a> BoundRows<'a> {
    /// Which rows of the connection, unless they are changes.
    pub(crate) fn page(self) -> Option<&'a PageShape> {
        if let Self::Page(page) = self { Some(page) } else { None }
    }

    /// The end that the page is taken from.
    pub(crate) fn end(self) -> FromEnd {
        self.page().map_or(FromEnd::Front, |page| page.end)
    }
}

/// Counts and sums over rows of a connection.
#[derive(Debug)]
pub(crate) struct BoundTotals<'a> {
    pub(crate) step: StepId,
    pub(crate) field: &'a Field,
    pub(crate) binding: &'a Totals,
    /// Which rows are summed up.
    pub(crate) rows: &'a PageShape,
    /// The order of the groups.
    pub(crate) order: GroupOrder,
    /// The place where the number of rows is written, if it is.
    pub(crate) rows_source: Option<SizeSource<'a>>,
    /// The keys of groups: the requested keys, and the currency of an amount of money.
    pub(crate) keys: GroupKeys,
    /// The sums that are selected or ordered by, by their indexes.
    pub(crate) sums: Vec<usize>,
    /// How many relations a row is read from: its own, and the relations of the objects that keys and sums need.
    pub(crate) relations: u64,
    pub(crate) selections: Selections<'a, BoundTotalsField<'a>>,
}
