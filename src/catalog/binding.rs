//! Bindings: where the values of a field come from.

use crate::catalog::aggregate::Aggregate;
use crate::catalog::changes::Changes;
use crate::catalog::column::{Column, set_stored_types};
use crate::catalog::connection::{Connection, Join};
use crate::catalog::ids::EntityId;
use crate::catalog::meta_field::MetaField;
use crate::catalog::stored_type::StoredTypes;
use crate::catalog::totals::{GroupField, GroupKey, Sum, TotalsField};

/// The binding of a field, by the level of the grammar that the field is on. Each level has a type, so that a pass over the fields of a
/// level has no cases for fields of other levels.
#[derive(Debug, Clone, Copy)]
pub enum Binding<'a> {
    /// A field of the query root.
    Root(&'a RootBinding),
    /// A field of a type that is bound to a relation.
    Entity(&'a EntityBinding),
    /// A field of a connection.
    Connection(ConnectionField),
    /// A field of an edge.
    Edge(EdgeField),
    /// A field of `pageInfo`.
    PageInfo(PageInfoField),
    /// A field of totals.
    Totals(TotalsField),
    /// A field of a group of totals.
    Group(GroupField),
    /// A field of an introspection type, which the catalog itself answers.
    Introspection,
}

impl<'a> Binding<'a> {
    /// The connection, if the field is a root or a nested connection; `None` for changes, whose rows belong to no relation.
    pub fn connection(self) -> Option<&'a Connection> {
        match self {
            Self::Root(root) => root.connection(),
            Self::Entity(EntityBinding::Connection(connection)) => Some(connection),
            _ => None,
        }
    }

    /// The connection whose search keys the field takes.
    pub(crate) fn searched(self) -> Option<&'a Connection> {
        if let Self::Root(root) = self { root.searched() } else { self.connection() }
    }

    /// The lookup, if the field is one.
    #[cfg(feature = "server")]
    pub(crate) fn lookup(self) -> Option<&'a Lookup> {
        if let Self::Root(root) = self { root.lookup() } else { None }
    }

    /// The column, if it is one of the type's relation.
    pub fn column(self) -> Option<&'a Column> {
        if let Self::Entity(EntityBinding::Column(column)) = self { Some(column) } else { None }
    }
}

/// The bindings of the fields of a schema's types.
#[derive(Debug, Default)]
pub(crate) struct FieldBindings {
    /// Of the query root: the fields of introspection follow the published ones.
    pub(crate) root: Vec<RootBinding>,
    /// By [`EntityId`].
    pub(crate) entities: Vec<Entity>,
    /// Of the introspection types, by the type's index among them.
    pub(crate) introspection: Vec<Vec<MetaField>>,
}

/// The binding of a field of the query root.
#[derive(Debug)]
pub enum RootBinding {
    /// One row, found by the field's arguments.
    Lookup(Lookup),
    /// All rows of a relation.
    Connection(Connection),
    /// The rows of a type that changed.
    Changes(Changes),
    /// Counts and sums over rows of a connection.
    Totals(Totals),
    /// `__schema`, which the catalog itself answers.
    Schema,
    /// `__type`, which the catalog itself answers.
    TypeByName,
}

impl RootBinding {
    /// The connection, if its rows are those of a relation.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        if let Self::Connection(connection) = self { Some(connection) } else { None }
    }

    /// The connection whose search keys the field takes.
    pub(crate) fn searched(&self) -> Option<&Connection> {
        self.totals().map(|totals| &totals.connection).or_else(|| self.connection())
    }

    /// The totals, if the field has some.
    pub(crate) fn totals(&self) -> Option<&Totals> {
        if let Self::Totals(totals) = self { Some(totals) } else { None }
    }

    /// The changes, if its rows are those that changed.
    pub(crate) fn changes(&self) -> Option<&Changes> {
        if let Self::Changes(changes) = self { Some(changes) } else { None }
    }

    /// The type of its rows; `None` of introspection.
    #[cfg(feature = "server")]
    pub(crate) fn node(&self) -> Option<EntityId> {
        match self {
            Self::Lookup(lookup) => Some(lookup.target),
            Self::Changes(changes) => Some(changes.connection.node),
            Self::Connection(connection) | Self::Totals(Totals { connection, .. }) => Some(connection.node),
            Self::Schema | Self::TypeByName => None,
        }
    }

    /// Whether the catalog itself answers it.
    #[cfg(feature = "server")]
    pub(crate) fn is_introspection(&self) -> bool {
        matches!(self, Self::Schema | Self::TypeByName)
    }

    /// The lookup, if the field is one.
    #[cfg(feature = "server")]
    pub(crate) fn lookup(&self) -> Option<&Lookup> {
        if let Self::Lookup(lookup) = self { Some(lookup) } else { None }
    }

    /// Sets how the database stores the columns that statements return or compare values with.
    pub(super) fn set_stored_types(&mut self, stored: &StoredTypes) {
        match self {
            Self::Lookup(lookup) => set_stored_types(&lookup.relation, &mut lookup.keys, stored),
            Self::Connection(connection) => connection.set_stored_types(stored),
            Self::Changes(changes) => changes.set_stored_types(stored),
            Self::Totals(totals) => totals.connection.set_stored_types(stored),
            Self::Schema | Self::TypeByName => {}
        }
    }
}

/// The binding of a field of a type that is bound to a relation.
#[derive(Debug)]
pub enum EntityBinding {
    /// A column of the type's relation.
    Column(Column),
    /// A value computed over the rows of a connection.
    Aggregate(Aggregate),
    /// A row joined to the parent's row.
    One(One),
    /// The rows that belong to the parent's row.
    Connection(Connection),
}

impl EntityBinding {
    /// Sets the stored types of a field of a type with this relation. `relations` are the relations of all types.
    fn set_stored_types(&mut self, relation: &str, stored: &StoredTypes, relations: &[String]) {
        match self {
            Self::Column(column) => column.set_stored_type(relation, stored),
            Self::Aggregate(aggregate) => aggregate.set_stored_type(stored),
            Self::Connection(connection) => {
                set_stored_types(relation, &mut connection.join.by, stored);
                connection.set_stored_types(stored);
            }
            Self::One(One { target, join, unique, .. }) => {
                *unique |= stored.are_unique(&relations[usize::from(target.index)], &join.to);
            }
        }
    }
}

/// A field of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionField {
    /// The rows of the page, each with its cursor.
    Edges,
    /// The places where the page begins and ends, and whether there are rows beyond.
    PageInfo,
    /// `count`, which only connections of root fields have.
    Count,
}

impl ConnectionField {
    /// The fields of a connection type in the order of publication, the order of the variants.
    pub(crate) const ALL: [Self; 3] = [Self::Edges, Self::PageInfo, Self::Count];
}

/// A field of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeField {
    /// The row.
    Node,
    /// The row's place in the order, as a text for `after` and `before`.
    Cursor,
}

impl EdgeField {
    /// The fields of an edge type in the order of publication, the order of the variants.
    pub(crate) const ALL: [Self; 2] = [Self::Node, Self::Cursor];
}

/// A field of `pageInfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageInfoField {
    /// Whether rows follow the page's last row.
    HasNextPage,
    /// Whether rows precede the page's first row.
    HasPreviousPage,
    /// The cursor of the page's first row.
    StartCursor,
    /// The cursor of the page's last row.
    EndCursor,
}

impl PageInfoField {
    /// The fields of `PageInfo` in the order of publication, the order of the variants.
    pub(crate) const ALL: [Self; 4] = [Self::HasNextPage, Self::HasPreviousPage, Self::StartCursor, Self::EndCursor];
}

/// The table or view that a type is bound to, and what its fields come from.
#[derive(Debug)]
pub struct Entity {
    /// The name of the table or view, with its schema where the schema file gives one.
    pub relation: String,
    /// The columns of the primary key, in order.
    pub key: Vec<Column>,
    /// The bindings of the type's fields, in the order of publication.
    pub(crate) bindings: Vec<EntityBinding>,
    /// The columns that its scopes compare, and the rows that they lead to.
    pub scopes: Vec<EntityScope>,
}

impl Entity {
    /// Sets how the database stores the columns that statements return or compare values with.
    pub(super) fn set_stored_types(&mut self, stored: &StoredTypes, relations: &[String]) {
        let Self { relation, bindings, .. } = self;
        for binding in bindings {
            binding.set_stored_types(relation, stored, relations);
        }
    }
}

/// The columns that a scope of a type needs of its relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityScope {
    /// A column with a value of the scope.
    Column(String),
    /// Columns that have the key of another relation.
    Row {
        /// Its name.
        relation: String,
        /// The columns of the type's own.
        by: Vec<String>,
        /// The key's, one for each of these.
        key: Vec<String>,
    },
}

/// A row of another type, joined to its parent's row.
#[derive(Debug)]
pub struct One {
    /// The joined type.
    pub target: EntityId,
    /// The join condition.
    pub join: Join,
    /// Whether the join columns contain the target's primary key, or the columns of a unique index, so that at most one row matches.
    pub unique: bool,
    /// The relation to read instead of the target's, where the caller sees every row that a row of the parent has.
    pub(crate) unlimited: Option<String>,
}

/// The binding of a totals root.
#[derive(Debug)]
pub struct Totals {
    /// The root connection whose rows are summed up.
    pub connection: Connection,
    /// The keys by which rows can be grouped. Never empty.
    pub keys: Vec<GroupKey>,
    /// The columns that can be summed up.
    pub sums: Vec<Sum>,
    /// The key with the currency of sums of money. Amounts in several currencies are never added.
    pub currency: Option<usize>,
}

/// A lookup field: a root field that finds one row by its arguments.
#[derive(Debug)]
pub struct Lookup {
    /// The type of the row.
    pub target: EntityId,
    /// The relation that is searched: the target's own, or another one that has its columns.
    pub relation: String,
    /// The columns that the arguments are compared with, in the order of the arguments.
    pub keys: Vec<Column>,
    /// Whether exactly one argument must be given (they are nullable), instead of all (they are non-null).
    pub alternatives: bool,
}
