//! What a field stands for in the database.

use crate::catalog::introspection::MetaField;
use crate::catalog::schema::TypeId;
use crate::cursor::OrderingTag;
use crate::search::Comparator;
use crate::value::ScalarType;

/// What a field stands for.
#[derive(Debug)]
pub enum Binding {
    /// A column of the type's relation.
    Column(Column),
    /// A number computed over the rows of a connection.
    Aggregate(Aggregate),
    /// An object joined to its parent.
    One(One),
    /// A connection, nested or at the root.
    Connection(Connection),
    /// A root that finds one row.
    Lookup(Lookup),
    /// `edges` of a connection.
    Edges,
    /// `node` of an edge.
    Node,
    /// `pageInfo` of a connection.
    PageInfo,
    /// `cursor` of an edge.
    Cursor,
    /// A field of `pageInfo`.
    PageInfoField(PageInfoField),
    /// What the schema tells of itself.
    Introspection(MetaField),
}

/// What `pageInfo` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageInfoField {
    /// Whether rows follow the page's last.
    HasNextPage,
    /// Whether rows stand before the page's first.
    HasPreviousPage,
    /// The first row's cursor.
    StartCursor,
    /// The last row's cursor.
    EndCursor,
}

/// The table or view behind a type.
#[derive(Debug)]
pub struct Entity {
    /// Its name, perhaps with its schema, as the schema file gives it.
    pub relation: String,
    /// The columns of its primary key, in order.
    pub key: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub scalar: ScalarType,
}

/// Pairs of columns that are equal between a parent's row and a child's.
#[derive(Debug, Clone, Default)]
pub struct Join {
    /// The parent's columns.
    pub by: Vec<Column>,
    /// The child's, one for each.
    pub to: Vec<String>,
}

/// An object joined to its parent's row.
#[derive(Debug)]
pub struct One {
    /// The joined type.
    pub target: TypeId,
    /// On which columns.
    pub join: Join,
    /// Whether the columns hold the target's whole key, so that there is one row at most.
    pub unique: bool,
}

/// A connection: a walk over the rows of a relation that belong to one parent, or over all of them at the root.
#[derive(Debug)]
pub struct Connection {
    /// The type of its nodes.
    pub node: TypeId,
    /// Where the rows are: the node's relation, or one with the same columns and more.
    pub relation: String,
    /// How rows belong to a parent; empty at the root.
    pub join: Join,
    /// The orders in which it can be walked, the default first. Never empty; a nested connection has one.
    pub sort_keys: Vec<SortKey>,
    /// What its search string can ask for; empty in nested connections.
    pub search_keys: Vec<SearchKey>,
}

impl Connection {
    /// The search key of that name.
    pub fn search_key(&self, name: &str) -> Option<usize> {
        self.search_keys.iter().position(|key| key.name == name)
    }
}

/// An order in which a connection can be walked: total, because it ends with the primary key.
#[derive(Debug)]
pub struct SortKey {
    /// Its name in the sort enum.
    pub name: String,
    /// The columns that are compared, the first first.
    pub columns: Vec<Column>,
    /// Whether the first column can be null; such rows come last. The other columns are the key's, which cannot.
    pub nullable: bool,
    /// What marks cursors made for it.
    pub tag: OrderingTag,
}

/// What a search string can ask for.
#[derive(Debug)]
pub struct SearchKey {
    /// Its name before the colon.
    pub name: String,
    /// The column that is compared.
    pub column: Column,
    /// The comparators that it accepts.
    pub comparators: Vec<Comparator>,
    /// Whether a selective index serves it; a term on a key without one costs more.
    pub indexed: bool,
    /// Where the column stands, if not in the node's own relation.
    pub within: Option<SemiJoin>,
}

/// Another relation that holds a search key's column: it must have a row that joins the node's.
#[derive(Debug)]
pub struct SemiJoin {
    /// The relation.
    pub relation: String,
    /// The columns that are equal in both.
    pub by: Vec<String>,
}

/// The number of distinct values of a column among the rows of a connection.
#[derive(Debug)]
pub struct Aggregate {
    /// The column whose distinct values are counted; nulls do not count.
    pub column: String,
    /// The relation of the counted rows.
    pub relation: String,
    /// How they belong to the parent.
    pub join: Join,
}

/// A root that finds one row by its arguments.
#[derive(Debug)]
pub struct Lookup {
    /// The type of the row.
    pub target: TypeId,
    /// Where it is looked for: the target's relation, or one with the same columns and more.
    pub relation: String,
    /// The columns that the arguments are compared with, in the arguments' order.
    pub keys: Vec<Column>,
    /// Whether exactly one argument is to be given (they are nullable), or every one (they are not).
    pub alternatives: bool,
}
