//! What the values of a field come from.

use crate::catalog::ids::EntityId;
use crate::catalog::normalization::Normalization;
use crate::catalog::result_type::ResultType;
use crate::catalog::scope::ScopeSet;
use crate::catalog::scoped_relation::ScopeCondition;
use crate::catalog::stored_type::{StoredType, StoredTypes};
use crate::catalog::totals::{GroupField, GroupKey, Sum, TotalsField};
use crate::cursor::OrderingTag;
use crate::search::Comparator;
use crate::value::{ScalarType, Value};

/// What the values of a field come from, by the level of the grammar that the field is on. Each level has a type, so that a
/// pass over the fields of a level has no cases for those of others.
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
    /// The connection, if it is one of the root or a nested one; not that of changes, whose rows are no relation's.
    pub fn connection(self) -> Option<&'a Connection> {
        match self {
            Self::Root(RootBinding::Connection(connection)) | Self::Entity(EntityBinding::Connection(connection)) => {
                Some(connection)
            }
            _ => None,
        }
    }

    /// The connection whose search keys the field takes.
    pub(crate) fn searched(self) -> Option<&'a Connection> {
        if let Self::Root(RootBinding::Totals(totals)) = self { Some(&totals.connection) } else { self.connection() }
    }

    /// The column, if it is one of the type's relation.
    pub fn column(self) -> Option<&'a Column> {
        if let Self::Entity(EntityBinding::Column(column)) = self { Some(column) } else { None }
    }
}

/// What a field of the query root comes from.
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

/// What a field of a type that is bound to a relation comes from.
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
    /// The same for a field of a type with this relation.
    fn set_stored_types(&mut self, relation: &str, stored: &StoredTypes) {
        match self {
            Self::Column(column) => column.set_stored_type(relation, stored),
            Self::Aggregate(aggregate) => aggregate.set_stored_type(stored),
            Self::Connection(connection) => {
                set_stored_types(relation, &mut connection.join.by, stored);
                connection.set_stored_types(stored);
            }
            // Its columns are compared with columns only.
            Self::One(_) => {}
        }
    }
}

fn set_stored_types(relation: &str, columns: &mut [Column], stored: &StoredTypes) {
    for column in columns {
        column.set_stored_type(relation, stored);
    }
}

/// A field of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionField {
    /// The rows of the page, each with its cursor.
    Edges,
    /// Where the page begins and ends, and whether there are rows beyond.
    PageInfo,
    /// `count`, which only connections of root fields have.
    Count,
}

impl ConnectionField {
    /// The fields of a connection type in the order of publication, which is that of the variants.
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
    /// The fields of an edge type in the order of publication, which is that of the variants.
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
    /// The fields of `PageInfo` in the order of publication, which is that of the variants.
    pub(crate) const ALL: [Self; 4] = [Self::HasNextPage, Self::HasPreviousPage, Self::StartCursor, Self::EndCursor];
}

/// The table or view that a type is bound to, and what its fields come from.
#[derive(Debug)]
pub struct Entity {
    /// The name of the table or view, with its schema where the schema file gives one.
    pub relation: String,
    /// The columns of the primary key, in order.
    pub key: Vec<Column>,
    /// What the type's fields come from, in the order of publication.
    pub(crate) bindings: Vec<EntityBinding>,
    /// The columns that its scopes compare, and the rows that they lead to.
    pub scopes: Vec<EntityScope>,
}

impl Entity {
    /// Sets how the database stores the columns that statements return or compare values with.
    pub(super) fn set_stored_types(&mut self, stored: &StoredTypes) {
        let Self { relation, bindings, .. } = self;
        for binding in bindings {
            binding.set_stored_types(relation, stored);
        }
    }
}

/// What a scope of a type needs of its relation.
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

/// A column that a statement returns or compares values with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// The scalar type of its values.
    pub scalar: ScalarType,
    /// How the database stores it.
    pub stored: StoredType,
    /// As what statements return it.
    pub result: ResultType,
}

impl Column {
    /// A column of which only a schema file is known.
    pub fn new(name: impl Into<String>, scalar: ScalarType) -> Self {
        Self { name: name.into(), scalar, stored: StoredType::of(scalar), result: ResultType::of(scalar) }
    }

    /// The same with an array of such values.
    pub(super) fn of_list(self) -> Self {
        Self { result: ResultType::array(self.scalar), ..self }
    }

    fn set_stored_type(&mut self, relation: &str, stored: &StoredTypes) {
        self.stored = stored.get(relation, &self.name, self.scalar);
        self.result = stored.result(relation, &self.name, self.scalar);
    }
}

/// The join condition between a parent's row and a child's: equality of paired columns.
#[derive(Debug, Clone, Default)]
pub struct Join {
    /// The parent's columns.
    pub by: Vec<Column>,
    /// The child's columns, one for each of the parent's.
    pub to: Vec<String>,
}

/// A row of another type, joined to its parent's row.
#[derive(Debug)]
pub struct One {
    /// The joined type.
    pub target: EntityId,
    /// The join condition.
    pub join: Join,
    /// Whether the join columns contain the target's primary key, so that at most one row matches.
    pub unique: bool,
    /// The relation to read instead of the target's, where the caller sees every row that a row of the parent has.
    pub(crate) unlimited: Option<String>,
}

/// A connection: the rows of a relation, all of them at the root, otherwise those that belong to one parent.
#[derive(Debug)]
pub struct Connection {
    /// The type of the nodes.
    pub node: EntityId,
    /// The relation of the rows: the node's own, or another one that has its columns.
    pub relation: String,
    /// The join condition to the parent; empty at the root.
    pub join: Join,
    /// The sort keys, the default first. Never empty. A nested connection without sort keys has one: the primary key.
    pub sort_keys: Vec<SortKey>,
    /// The columns of the rows that name the parent and are not in the sort key. Cursors carry them too.
    pub parent_columns: Vec<Column>,
    /// The keys of the search string; empty in nested connections.
    pub search_keys: Vec<SearchKey>,
    /// The indexes for searches by two of these keys.
    pub pair_indexes: Vec<PairIndex>,
    /// The scopes that limit the rows.
    pub(crate) limited_by: ScopeSet,
    /// The search that each page has beside that of the request, if there may be rows that the caller does not see.
    pub(crate) scope: Option<ScopeSearch>,
}

/// What limits the rows of a connection: search keys that no request names.
#[derive(Debug)]
pub(crate) struct ScopeSearch {
    /// The relation with all rows, which is read where terms on one of each of these keys are searched for.
    pub(crate) relation: String,
    /// The keys, by their indexes among the connection's. The first of each limits every search; the others are those of columns by
    /// which a search itself may ask for nothing but what the caller sees.
    pub(crate) keys: Vec<Vec<usize>>,
}

impl Connection {
    fn set_stored_types(&mut self, stored: &StoredTypes) {
        let Self { relation, sort_keys, parent_columns, search_keys, .. } = self;
        set_stored_types(relation, parent_columns, stored);
        for key in sort_keys {
            set_stored_types(relation, &mut key.columns, stored);
        }
        for key in search_keys {
            let relation = key.semi_join.as_ref().map_or(&*relation, |semi_join| &semi_join.relation);
            key.column.set_stored_type(relation, stored);
        }
    }

    /// The columns whose values a cursor carries under a sort key of the connection: those of the order, then those of the
    /// parent.
    pub fn cursor_columns<'a>(&'a self, sort_key: &'a SortKey) -> impl Iterator<Item = &'a Column> {
        sort_key.columns.iter().chain(&self.parent_columns)
    }

    /// The columns of the rows' primary key.
    pub fn primary_key(&self) -> &[Column] {
        self.sort_keys.first().map_or(&[], SortKey::primary_key)
    }

    /// The index of the search key with that name.
    pub fn search_key(&self, name: &str) -> Option<usize> {
        self.search_keys.iter().position(|key| key.scope.is_none() && key.name == name)
    }

    /// The relation whose rows a search with terms on these keys reads: one with all rows only if the terms limit them.
    pub(crate) fn searched_relation(&self, has_term: impl Fn(usize) -> bool) -> &str {
        match &self.scope {
            Some(scope) if scope.keys.iter().all(|keys| keys.iter().any(|key| has_term(*key))) => &scope.relation,
            _ => &self.relation,
        }
    }
}

/// The changes of the rows of a type: marks that writers leave, each with their transaction and the key of a row.
#[derive(Debug)]
pub struct Changes {
    /// The connection whose nodes are the changes. It has one order, in which nobody else reads them.
    pub connection: Connection,
    /// The table with the marks that name a row of the feed.
    pub direct: String,
    /// The table with the marks that name a row in between.
    pub indirect: String,
    /// The column of `direct` with the key of the feed's row.
    pub key: Column,
    /// The relation whose key it is.
    pub relation: String,
    /// How rows in between lead to those of the feed.
    pub routes: Vec<Route>,
}

/// A relation that leads from a row in between to rows of a feed.
#[derive(Debug)]
pub struct Route {
    /// The relation's name.
    pub relation: String,
    /// Its column with the value that a mark has.
    pub to: Column,
    /// Its column with the key of the feed's row.
    pub key: String,
}

impl Route {
    /// How marks name it.
    pub fn via(&self) -> String {
        format!("{}.{}", self.relation, self.to.name)
    }
}

impl Changes {
    /// The sort key that all changes are in the order of.
    pub fn tag(&self) -> OrderingTag {
        self.connection.sort_keys[0].tag
    }

    fn set_stored_types(&mut self, stored: &StoredTypes) {
        self.key.set_stored_type(&self.relation, stored);
        for Route { relation, to, .. } in &mut self.routes {
            to.set_stored_type(relation, stored);
        }
    }
}

/// A sort key of a connection. The order is total, because it ends with the primary key.
#[derive(Debug)]
pub struct SortKey {
    /// The name in the sort enum.
    pub name: String,
    /// The columns of the order, the most significant first.
    pub columns: Vec<Column>,
    /// Whether the first column can be null. Null sorts last. The other columns belong to the primary key, which is
    /// never null.
    pub nullable: bool,
    /// The tag of cursors made for this sort key.
    pub tag: OrderingTag,
}

impl SortKey {
    /// The columns of the primary key, with which the order ends.
    pub fn primary_key(&self) -> &[Column] {
        self.columns.get(usize::from(self.nullable)..).unwrap_or_default()
    }
}

/// A key of a search string.
#[derive(Debug, Clone)]
pub struct SearchKey {
    /// The key's name, which precedes the colon.
    pub name: String,
    /// A term on the key, for descriptions.
    pub example: String,
    /// The column that is compared.
    pub column: Column,
    /// The comparators that the key accepts.
    pub comparators: Vec<Comparator>,
    /// Whether a selective index serves the key. A term on a key without one costs more.
    pub indexed: bool,
    /// Whether a view computes the column from rows of other tables, so that a comparison takes look-ups.
    pub is_computed: bool,
    /// Whether an index begins with the column, so that a few matching rows are found without reading others.
    pub lookup: bool,
    /// The sort keys in whose order an index returns the rows that have one value of the column: their indexes among the
    /// connection's. Empty with a semi-join.
    pub in_order_of: Vec<usize>,
    /// The further columns, beside the primary key's, of the index in the first of these orders, or else of one that begins with
    /// the column. A look-up that needs no others reads the index alone.
    pub include: Vec<String>,
    /// The relation of the column, if it is not the connection's own.
    pub semi_join: Option<SemiJoin>,
    /// The relation whose column of the same name lists the known values, if there is one.
    pub vocabulary: Option<String>,
    /// What values are brought into before they are compared.
    pub normalization: Option<Normalization>,
    /// The text search configuration that finds the words of a search, if the column is a `tsvector`.
    pub language: Option<String>,
    /// What the key is of, if no request names it.
    pub(crate) scope: Option<ScopeKey>,
}

/// A search key that limits the rows to those that the caller sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScopeKey {
    /// Those that have a value of this scope.
    Values(usize),
    /// Those that fulfil this condition, which no index serves. The semi-join has the columns that it reads.
    Row(ScopeCondition),
}

impl SearchKey {
    /// Whether the key compares the column of its own relation with values as they are.
    pub(crate) fn compares(&self, column: &str) -> bool {
        self.semi_join.is_none() && self.normalization.is_none() && self.column.name == column
    }

    /// Whether a comparator of the key is one of a range.
    pub fn takes_ranges(&self) -> bool {
        self.comparators
            .iter()
            .any(|comparator| !matches!(comparator, Comparator::Equals | Comparator::In | Comparator::Matches))
    }

    /// Brings a value into the form that the column has. Fails with what it should be.
    pub fn normalize(&self, value: Value) -> Result<Value, &'static str> {
        match self.normalization {
            Some(normalization) => normalization.apply(value),
            None => Ok(value),
        }
    }

    /// The relation that has the key's column, if it is a key of this connection.
    pub fn relation<'a>(&'a self, connection: &'a Connection) -> &'a str {
        self.semi_join.as_ref().map_or(&connection.relation, |semi_join| &semi_join.relation)
    }
}

/// An index on the columns of two search keys, followed by those of a sort key. Its first column is descending: so no other
/// index has its order, and a statement that asks for this order names the index.
#[derive(Debug)]
pub struct PairIndex {
    /// The two search keys, by their indexes among the connection's.
    pub keys: [usize; 2],
    /// The sort keys in whose order there is such an index, by their indexes among the connection's.
    pub in_order_of: Vec<usize>,
    /// The further columns, beside the primary key's, of the index in the first of these orders.
    pub include: Vec<String>,
}

/// A relation with a search key's column. A row of the connection matches if a row of this relation joins it and
/// matches.
#[derive(Debug, Clone)]
pub struct SemiJoin {
    /// Its name in the database.
    pub relation: String,
    /// The columns that are equal in both relations.
    pub by: Vec<String>,
    /// The relation with all rows, if the caller sees some of them only. A look-up counts these, so that it has a bound.
    pub(crate) unlimited: Option<String>,
}

/// A value computed over a column of the rows of a connection.
#[derive(Debug)]
pub struct Aggregate {
    /// What is computed.
    pub function: AggregateFunction,
    /// The type of the value.
    pub scalar: ScalarType,
    /// The column. Nulls do not count.
    pub column: String,
    /// The relation of the rows.
    pub relation: String,
    /// The join condition to the parent.
    pub join: Join,
    /// As what statements return the value.
    pub result: ResultType,
}

impl Aggregate {
    /// A value of which only a schema file is known.
    pub(super) fn new(
        function: AggregateFunction,
        scalar: ScalarType,
        column: String,
        relation: String,
        join: Join,
    ) -> Self {
        let result = match function {
            AggregateFunction::CountDistinct => ResultType::Int8,
            AggregateFunction::Lowest => ResultType::of(scalar),
        };
        Self { function, scalar, column, relation, join, result }
    }

    fn set_stored_type(&mut self, stored: &StoredTypes) {
        if self.function == AggregateFunction::Lowest {
            self.result = stored.result(&self.relation, &self.column, self.scalar);
        }
    }

    /// Whether a search by the key compares the column of the same rows, so that only the values that are searched for count.
    pub(crate) fn is_searched_by(&self, key: &SearchKey) -> bool {
        let is_same = |semi_join: &SemiJoin| {
            let by = self.join.by.iter().map(|column| &column.name);
            semi_join.relation == self.relation && by.eq(&semi_join.by) && self.join.to == semi_join.by
        };
        self.function == AggregateFunction::Lowest
            && self.column == key.column.name
            && key.semi_join.as_ref().is_some_and(is_same)
    }
}

/// What an aggregate computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateFunction {
    /// The number of distinct values.
    CountDistinct,
    /// The lowest value. With a search by the same column, the lowest of those that are searched for.
    Lowest,
}

/// What a totals root comes from.
#[derive(Debug)]
pub struct Totals {
    /// The root connection whose rows are summed up.
    pub connection: Connection,
    /// What rows can be grouped by. Never empty.
    pub keys: Vec<GroupKey>,
    /// What can be summed up.
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
