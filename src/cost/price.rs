//! The price of each kind of field. The numbers are those of `catalog::prices`, which the schema's description states.

use crate::catalog::aggregate::AggregateFunction;
use crate::catalog::connection::{Connection, ListIndex};
use crate::catalog::prices::{AGGREGATE, OBJECT, ROWS_LISTED, ROWS_SUMMED, SCALAR, UNINDEXED_TERM};
use crate::catalog::schema::Field;
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundGroupField, BoundLookup, BoundObject, BoundObjectField,
    BoundRootField, BoundSelection, BoundTotals, BoundTotalsField,
};
use crate::query::bind::shape::PageShape;

/// Credits. Sums and products saturate: a cost too large to count is too large to admit.
pub type Cost = u64;

/// A selected field as the cost model sees it, on whatever level it is.
pub(super) enum PricedField<'s, 'a> {
    /// `__typename`, `cursor`, `pageInfo` and introspection, with all that is selected from them.
    Free,
    /// A column, or the lowest value of one.
    Scalar(&'a Field),
    /// An aggregate that counts.
    Aggregate(&'a Field),
    /// `count` of a root connection: paid once, not for each row.
    Count(&'a Field),
    /// A joined object.
    Object(&'s BoundObject<'a>),
    Lookup(&'s BoundLookup<'a>),
    Connection(&'s BoundConnection<'a>),
    Totals(&'s BoundTotals<'a>),
    /// `groups` of totals. Their fields are paid once, not for each group.
    Groups(&'s [BoundSelection<'a, BoundGroupField<'a>>]),
    /// `edges`. The price of each row is the connection's.
    Edges(&'s [BoundSelection<'a, BoundEdgeField<'a>>]),
    /// `node`. Likewise.
    Node(&'s [BoundSelection<'a, BoundObjectField<'a>>]),
}

impl PricedField<'_, '_> {
    /// What the field costs without what is selected from it, each time that it is fetched; of totals, without the rows that are summed up.
    pub(super) fn own_cost(&self) -> Cost {
        match self {
            Self::Scalar(_) => SCALAR,
            Self::Object(_) | Self::Lookup(_) | Self::Connection(_) | Self::Totals(_) => OBJECT,
            Self::Aggregate(_) | Self::Count(_) => AGGREGATE,
            Self::Free | Self::Edges(_) | Self::Node(_) | Self::Groups(_) => 0,
        }
    }
}

/// What the search terms of a page, or of totals, add to its price, once.
pub(super) fn search_penalty(page: Option<&PageShape>) -> Cost {
    UNINDEXED_TERM.saturating_mul(unindexed_terms(page))
}

/// What the reading of all rows of a parent adds to the price of a bounded list, for each parent.
pub(super) fn reading(connection: &Connection) -> Cost {
    match connection.found_by {
        ListIndex::Order => 0,
        ListIndex::Parent { at_most } => at_most.div_ceil(ROWS_LISTED).into(),
    }
}

/// How many of the search terms of a page no selective index serves.
pub(super) fn unindexed_terms(page: Option<&PageShape>) -> u64 {
    page.map_or(0, |page| page.unindexed_terms)
}

/// What so many rows cost that are summed up, for each relation that they are read from.
pub(super) fn credits_of(rows: u64) -> Cost {
    rows.div_ceil(ROWS_SUMMED)
}

/// A field of a level that has priced fields.
pub(super) trait Priced<'a> {
    /// The field as the cost model sees it.
    fn priced(&self) -> PricedField<'_, 'a>;
}

impl<'a> Priced<'a> for BoundRootField<'a> {
    fn priced(&self) -> PricedField<'_, 'a> {
        match self {
            Self::TypeName(_) | Self::Introspection(_) => PricedField::Free,
            Self::Lookup(lookup) => PricedField::Lookup(lookup),
            Self::Connection(connection) => PricedField::Connection(connection),
            Self::Totals(totals) => PricedField::Totals(totals),
        }
    }
}

impl<'a> Priced<'a> for BoundTotalsField<'a> {
    fn priced(&self) -> PricedField<'_, 'a> {
        match self {
            Self::TypeName(_) => PricedField::Free,
            Self::Groups(groups) => PricedField::Groups(groups),
            Self::Field(field, _) => PricedField::Scalar(field),
        }
    }
}

impl<'a> Priced<'a> for BoundGroupField<'a> {
    fn priced(&self) -> PricedField<'_, 'a> {
        match self {
            Self::TypeName(_) => PricedField::Free,
            Self::Field(field, _) => PricedField::Scalar(field),
        }
    }
}

impl<'a> Priced<'a> for BoundObjectField<'a> {
    fn priced(&self) -> PricedField<'_, 'a> {
        match self {
            Self::TypeName(_) => PricedField::Free,
            Self::Column(field, _) => PricedField::Scalar(field),
            Self::Aggregate(field, aggregate) => match aggregate.function {
                AggregateFunction::CountDistinct => PricedField::Aggregate(field),
                AggregateFunction::Lowest => PricedField::Scalar(field),
            },
            Self::Object(object) => PricedField::Object(object),
            Self::Connection(connection) => PricedField::Connection(connection),
        }
    }
}

impl<'a> Priced<'a> for BoundConnectionField<'a> {
    fn priced(&self) -> PricedField<'_, 'a> {
        match self {
            Self::TypeName(_) | Self::PageInfo(_) => PricedField::Free,
            Self::Edges(edges) => PricedField::Edges(edges),
            Self::Count(field) => PricedField::Count(field),
        }
    }
}

impl<'a> Priced<'a> for BoundEdgeField<'a> {
    fn priced(&self) -> PricedField<'_, 'a> {
        match self {
            Self::TypeName(_) | Self::Cursor => PricedField::Free,
            Self::Node(node) => PricedField::Node(node),
        }
    }
}
