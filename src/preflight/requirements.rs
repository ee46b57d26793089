//! The requirements that a catalog has of a database: columns of suitable types, joined columns that can be compared, indexes that return rows in
//! an order, and constraints that guarantee the schema's declarations.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::catalog::Catalog;
use crate::catalog::aggregate::{Aggregate, AggregateFunction};
use crate::catalog::binding::{Binding, Entity, EntityBinding, EntityScope, Lookup, One, RootBinding};
use crate::catalog::changes::{Changes, FeedRoute};
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, Join, ListIndex, SortKey};
use crate::catalog::schema::{Field, ObjectType};
use crate::catalog::search_key::{PairIndex, SearchKey};
use crate::relations::column_use::ColumnUse;
use crate::relations::row_order::RowOrder;

/// Everything that a catalog requires, in the order of publication.
#[derive(Debug, Default)]
pub(super) struct Requirements<'a> {
    pub(super) columns: Vec<ColumnRequirement<'a>>,
    pub(super) joins: Vec<JoinRequirement<'a>>,
    pub(super) scans: Vec<ScanRequirement<'a>>,
    pub(super) covering_indexes: Vec<CoveringIndexRequirement<'a>>,
    pub(super) text_searches: Vec<TextSearchRequirement<'a>>,
    pub(super) keys: Vec<KeyRequirement<'a>>,
    pub(super) non_nulls: Vec<NonNullRequirement<'a>>,
}

/// A key that no two rows of a relation may share: pages would repeat or lose rows.
#[derive(Debug)]
pub(super) struct KeyRequirement<'a> {
    pub(super) relation: &'a str,
    pub(super) columns: Vec<&'a str>,
    pub(super) required_by: SchemaPath<'a>,
}

/// A column that may not be null: a field that the schema declares non-null reads it, and a null would take the object, or
/// the whole response, with it.
#[derive(Debug)]
pub(super) struct NonNullRequirement<'a> {
    pub(super) column: ColumnName<'a>,
    pub(super) required_by: SchemaPath<'a>,
}

/// A column that must exist, with a type that suits its use.
#[derive(Debug)]
pub(super) struct ColumnRequirement<'a> {
    pub(super) column: ColumnName<'a>,
    pub(super) column_use: ColumnUse,
    pub(super) required_by: SchemaPath<'a>,
}

/// A column of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ColumnName<'a> {
    pub(super) relation: &'a str,
    pub(super) name: &'a str,
}

impl fmt::Display for ColumnName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.relation, self.name)
    }
}

/// Two columns that a statement compares for equality, to find rows by the right one.
#[derive(Debug)]
pub(super) struct JoinRequirement<'a> {
    pub(super) left: ColumnName<'a>,
    pub(super) right: ColumnName<'a>,
    pub(super) required_by: SchemaPath<'a>,
}

/// A scan of a relation in key order, which an index must serve.
#[derive(Debug)]
pub(super) struct ScanRequirement<'a> {
    pub(super) order: RowOrder<'a>,
    /// Whether one row is read, so that a unique index on the columns of equality serves it in any order.
    pub(super) is_of_one: bool,
    pub(super) required_by: SchemaPath<'a>,
}

/// An index that look-ups read without the table.
#[derive(Debug)]
pub(super) struct CoveringIndexRequirement<'a> {
    pub(super) relation: &'a str,
    /// The columns that it begins with, in this order.
    pub(super) first: Vec<&'a str>,
    /// The columns that it has beside these.
    pub(super) include: Vec<&'a str>,
    pub(super) required_by: SchemaPath<'a>,
}

/// An index on the words of a column, and the text search configuration that finds the words of a search.
#[derive(Debug)]
pub(super) struct TextSearchRequirement<'a> {
    pub(super) column: ColumnName<'a>,
    pub(super) language: &'a str,
    pub(super) required_by: SchemaPath<'a>,
}

/// The part of a schema that requires something. Its `Display` is for operators.
#[derive(Debug, Clone, Copy)]
pub(super) enum SchemaPath<'a> {
    Type(&'a ObjectType),
    Field(&'a ObjectType, &'a Field),
    Root(&'a Field),
    SortKey(&'a Field, &'a SortKey),
    SearchKey(&'a Field, &'a SearchKey),
    PairIndex(&'a Field, [&'a SearchKey; 2]),
    Argument(&'a Field, &'a str),
}

impl fmt::Display for SchemaPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(object) => f.write_str(&object.name),
            Self::Field(object, field) => write!(f, "{}.{}", object.name, field.name),
            Self::Root(root) => f.write_str(&root.name),
            Self::SortKey(root, key) => write!(f, "{}(sortKey: {})", root.name, key.name),
            Self::SearchKey(root, key) => write!(f, "{}(query: \"{}:…\")", root.name, key.name),
            Self::PairIndex(root, [one, other]) => {
                write!(f, "{}(query: \"{}:… {}:…\")", root.name, one.name, other.name)
            }
            Self::Argument(root, argument) => write!(f, "{}({argument}:)", root.name),
        }
    }
}

impl<'a> Requirements<'a> {
    /// The relations, each once.
    pub(super) fn relations(&self) -> Vec<&'a str> {
        let mut seen = HashSet::new();
        let relations = self.columns.iter().map(|required| required.column.relation);
        relations.filter(|relation| seen.insert(*relation)).collect()
    }

    /// The requirements of a catalog.
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let mut requirements = Self::default();
        // Keys first, so that a missing relation is reported for its own type and not for a type that refers to it.
        for (object, entity) in catalog.entities() {
            for column in &entity.key {
                requirements.by(SchemaPath::Type(object)).column(&entity.relation, &column.name, ColumnUse::Internal);
            }
        }
        let mut relations = relations(catalog);
        for (object, entity) in catalog.entities() {
            for relation in relations.remove(object.name.as_str()).unwrap_or_default() {
                requirements.key(object, relation, &entity.key);
                requirements.object(catalog, object, entity, relation);
            }
        }
        for (field, binding) in catalog.root_fields() {
            requirements.root(catalog, field, binding);
        }
        requirements
    }

    /// The key of a type, in one of the relations that it is read from.
    fn key(&mut self, object: &'a ObjectType, relation: &'a str, key: &'a [Column]) {
        let columns = key.iter().map(|column| column.name.as_str()).collect();
        self.keys.push(KeyRequirement { relation, columns, required_by: SchemaPath::Type(object) });
    }

    /// The columns of a type, in one of the relations that it is read from.
    fn object(&mut self, catalog: &'a Catalog, object: &'a ObjectType, entity: &'a Entity, relation: &'a str) {
        let mut of_type = self.by(SchemaPath::Type(object));
        for scope in &entity.scopes {
            match scope {
                EntityScope::Column(column) => {
                    of_type.column(relation, column, ColumnUse::ScopeValue);
                }
                EntityScope::Row { relation: of, by, key } => {
                    for (by, key) in by.iter().zip(key) {
                        of_type.join(column(relation, by), column(of, key));
                    }
                }
            }
        }
        for (field, binding) in object.fields.iter().zip(&entity.bindings) {
            let mut of_field = self.by(SchemaPath::Field(object, field));
            match binding {
                EntityBinding::Column(column) => {
                    let output = if field.ty.is_list() { ColumnUse::OutputList } else { ColumnUse::Output };
                    of_field.column(relation, &column.name, output(column.scalar));
                    if field.ty.is_non_null() {
                        let column = ColumnName { relation, name: &column.name };
                        of_field.all.non_nulls.push(NonNullRequirement { column, required_by: of_field.required_by });
                    }
                }
                EntityBinding::Aggregate(aggregate) => of_field.aggregate(relation, aggregate),
                EntityBinding::One(one) => of_field.one(catalog, relation, one),
                EntityBinding::Connection(connection) => {
                    for column in &connection.join.by {
                        of_field.column(relation, &column.name, ColumnUse::ParentKey(column.scalar));
                        // A statement has one type for the key, whichever relation the parents come from.
                        if relation != entity.relation {
                            of_field.join(
                                self::column(&entity.relation, &column.name),
                                self::column(relation, &column.name),
                            );
                        }
                    }
                    of_field.equal(relation, &connection.join, &connection.relation);
                    of_field.nested(connection);
                }
            }
        }
    }

    fn root(&mut self, catalog: &'a Catalog, field: &'a Field, binding: &'a RootBinding) {
        match binding {
            RootBinding::Connection(connection) => {
                for key in &connection.sort_keys {
                    self.by(SchemaPath::SortKey(field, key)).sort_key(connection, key);
                }
                for key in &connection.search_keys {
                    self.by(SchemaPath::SearchKey(field, key)).search_key(connection, key);
                }
                for index in &connection.pair_indexes {
                    self.pair_index(connection, index, field);
                }
            }
            RootBinding::Lookup(lookup) => self.lookup(catalog, field, lookup),
            RootBinding::Changes(changes) => self.changes(field, changes),
            // The rows of totals are the rows of another root, and their columns are the columns of fields. Introspection reads nothing
            // from the database.
            RootBinding::Totals(_) | RootBinding::Schema | RootBinding::TypeByName => {}
        }
    }

    fn changes(&mut self, field: &'a Field, changes: &'a Changes) {
        let mut of_root = self.by(SchemaPath::Root(field));
        of_root.column(&changes.relation, &changes.key.name, ColumnUse::Compared(changes.key.scalar));
        for (relation, name) in [
            (changes.direct.as_str(), "xid"),
            (&changes.direct, &changes.key.name),
            (&changes.indirect, "id"),
            ("orderql.sync_tick", "snapshot"),
        ] {
            of_root.column(relation, name, ColumnUse::Internal);
        }
        for FeedRoute { relation, to, key } in &changes.routes {
            of_root.column(relation, &to.name, ColumnUse::Compared(to.scalar));
            of_root.column(relation, key, ColumnUse::Internal);
            of_root.scan(relation, vec![&to.name], Vec::new());
        }
    }

    fn pair_index(&mut self, connection: &'a Connection, index: &'a PairIndex, field: &'a Field) {
        let keys = index.keys.map(|key| &connection.search_keys[key]);
        let [first, second] = keys.map(|key| key.column.name.as_str());
        if keys[0].semi_join.is_some() {
            let relation = connection.relation_of(keys[0]);
            return self.by(SchemaPath::PairIndex(field, keys)).scan(relation, Vec::new(), vec![first, second]);
        }
        self.by(SchemaPath::PairIndex(field, keys)).covering_index(connection, vec![first, second], &index.include);
        for sort_key in index.in_order_of.iter().map(|index| &connection.sort_keys[*index]) {
            let columns = sort_key.columns.iter().map(|column| column.name.as_str());
            let rest = columns.filter(|column| ![first, second].contains(column));
            let order = RowOrder {
                relation: &connection.relation,
                equal: vec![first],
                order: std::iter::once(second).chain(rest).collect(),
                where_null: None,
                is_first_descending: true,
            };
            let required_by = SchemaPath::PairIndex(field, keys);
            self.scans.push(ScanRequirement { order, is_of_one: false, required_by });
        }
    }

    fn lookup(&mut self, catalog: &'a Catalog, field: &'a Field, lookup: &'a Lookup) {
        for (key, argument) in lookup.keys.iter().zip(&field.arguments) {
            let mut of_argument = self.by(SchemaPath::Argument(field, &argument.name));
            of_argument.column(&lookup.relation, &key.name, ColumnUse::Compared(key.scalar));
            if lookup.alternatives {
                // The first of several rows with the value, by key, is returned.
                let order = catalog.entity(lookup.target).key.iter();
                let order = order.map(|column| column.name.as_str()).filter(|column| *column != key.name);
                of_argument.scan(&lookup.relation, vec![&key.name], order.collect());
            }
        }
        if !lookup.alternatives {
            let target = &catalog.entity(lookup.target).key;
            let all: Vec<_> = lookup.keys.iter().map(|key| key.name.as_str()).collect();
            let key: Vec<_> = target.iter().map(|column| column.name.as_str()).collect();
            // As for joined rows, the target's key identifies the row.
            let equal = if key.iter().all(|column| all.contains(column)) { key } else { all };
            self.by(SchemaPath::Root(field)).scan(&lookup.relation, equal, Vec::new());
        }
    }

    /// A collector for the requirements of a part of the schema.
    fn by(&mut self, required_by: SchemaPath<'a>) -> RequiredBy<'_, 'a> {
        RequiredBy { all: self, required_by }
    }
}

/// Adds what a part of the schema requires.
struct RequiredBy<'r, 'a> {
    all: &'r mut Requirements<'a>,
    required_by: SchemaPath<'a>,
}

impl<'a> RequiredBy<'_, 'a> {
    fn aggregate(&mut self, parent: &'a str, aggregate: &'a Aggregate) {
        let relation = &aggregate.relation;
        self.equal(parent, &aggregate.join, relation);
        match aggregate.function {
            AggregateFunction::CountDistinct => {
                self.column(relation, &aggregate.column, ColumnUse::Internal);
                self.joined_scan(relation, &aggregate.join, names(&aggregate.join.to), Vec::new());
            }
            AggregateFunction::Lowest => {
                self.column(relation, &aggregate.column, ColumnUse::Output(aggregate.scalar));
                self.joined_scan(relation, &aggregate.join, names(&aggregate.join.to), vec![&aggregate.column]);
            }
        }
    }

    fn one(&mut self, catalog: &'a Catalog, parent: &'a str, one: &'a One) {
        let target = catalog.entity(one.target);
        self.equal(parent, &one.join, &target.relation);
        let key = || target.key.iter().map(|column| column.name.as_str());
        // Other unique columns are known when the database is.
        if key().all(|column| one.join.to.iter().any(|to| to == column)) {
            // The key identifies the row, whatever else is compared.
            self.scan(&target.relation, key().collect(), Vec::new());
        } else {
            let equal = names(&one.join.to);
            let order = key().filter(|column| !equal.contains(column)).collect();
            let order = RowOrder { relation: &target.relation, equal, order, ..RowOrder::default() };
            let required_by = self.required_by;
            self.all.scans.push(ScanRequirement { order, is_of_one: true, required_by });
        }
    }

    fn nested(&mut self, connection: &'a Connection) {
        for (by, to) in connection.join.by.iter().zip(&connection.join.to) {
            // Compared with a parent's key, or with one that a client gave. The same types are compatible with both.
            self.column(&connection.relation, to, ColumnUse::ParentKey(by.scalar));
        }
        for key in &connection.sort_keys {
            self.sort_key(connection, key);
        }
    }

    fn sort_key(&mut self, connection: &'a Connection, key: &'a SortKey) {
        for column in &key.columns {
            // A column that can be compared can also be encoded into a cursor.
            self.column(&connection.relation, &column.name, ColumnUse::Compared(column.scalar));
        }
        let equal = names(&connection.join.to);
        let order = key.columns.iter().map(|column| column.name.as_str()).filter(|column| !equal.contains(column));
        let (equal, order) = match (connection.found_by, key.ties) {
            (ListIndex::Order, None) => (equal.clone(), order.collect()),
            // In the order of `to`, as statements have it.
            (found_by, _) => {
                let sorted = order.take(usize::from(found_by == ListIndex::Order));
                let mut columns = equal.iter().copied().chain(sorted);
                (columns.by_ref().take(equal.len().min(1)).collect(), columns.collect())
            }
        };
        self.joined_scan(&connection.relation, &connection.join, equal, order);
    }

    fn search_key(&mut self, connection: &'a Connection, key: &'a SearchKey) {
        let relation = connection.relation_of(key);
        if let Some(language) = &key.language {
            let column = ColumnName { relation, name: &key.column.name };
            self.column(relation, column.name, ColumnUse::Searched);
            let required_by = self.required_by;
            return self.all.text_searches.push(TextSearchRequirement { column, language, required_by });
        }
        self.column(relation, &key.column.name, ColumnUse::Compared(key.column.scalar));
        for column in key.semi_join.iter().flat_map(|semi_join| &semi_join.by) {
            // Rows of one are looked for by a row of the other, in either direction.
            self.join(self::column(&connection.relation, column), self::column(relation, column));
            self.join(self::column(relation, column), self::column(&connection.relation, column));
        }
        if let Some(vocabulary) = &key.vocabulary {
            self.column(vocabulary, &key.column.name, ColumnUse::Output(key.column.scalar));
        }
        if key.lookup {
            self.scan(relation, vec![&key.column.name], Vec::new());
        }
        for sort_key in key.in_order_of.iter().map(|index| &connection.sort_keys[*index]) {
            let order = sort_key.columns.iter().map(|column| column.name.as_str());
            let order = order.filter(|column| *column != key.column.name).collect();
            self.scan(relation, vec![&key.column.name], order);
        }
        let second = key.in_order_of.first().map(|index| connection.sort_keys[*index].columns[0].name.as_str());
        let first = std::iter::once(key.column.name.as_str()).chain(second).collect();
        self.covering_index(connection, first, &key.include);
        if let Some(semi_join) = &key.semi_join {
            // For each row of the connection, a statement looks for a row of the semi-join, or the other way round.
            let by = names(&semi_join.by);
            self.scan(&connection.relation, by.clone(), Vec::new());
            for sort_key in semi_join.in_order_of.iter().map(|index| &connection.sort_keys[*index]) {
                let order = sort_key.columns.iter().map(|column| column.name.as_str());
                self.scan(&connection.relation, by.clone(), order.filter(|column| !by.contains(column)).collect());
            }
            if key.is_computed || key.takes_ranges() {
                self.scan(relation, by.clone(), Vec::new());
            }
            if !key.is_computed {
                let columns = by.into_iter().chain([key.column.name.as_str()]).collect();
                self.scan(relation, columns, Vec::new());
            }
        }
    }

    /// An index that begins with these columns, and includes others and the primary key's.
    fn covering_index(&mut self, connection: &'a Connection, first: Vec<&'a str>, include: &'a [String]) {
        if include.is_empty() {
            return;
        }
        for column in include {
            self.column(&connection.relation, column, ColumnUse::Internal);
        }
        let key = connection.primary_key().iter().map(|column| column.name.as_str());
        let mut columns = first.clone();
        for column in include.iter().map(String::as_str).chain(key) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let include = columns.split_off(first.len());
        self.all.covering_indexes.push(CoveringIndexRequirement {
            relation: &connection.relation,
            first,
            include,
            required_by: self.required_by,
        });
    }

    /// The columns of a join.
    fn equal(&mut self, left: &'a str, join: &'a Join, right: &'a str) {
        for (by, to) in join.by.iter().zip(&join.to) {
            self.join(column(left, &by.name), column(right, to));
        }
        if let Some(name) = &join.where_null {
            self.column(right, name, ColumnUse::Internal);
        }
    }

    fn join(&mut self, left: ColumnName<'a>, right: ColumnName<'a>) {
        self.column(left.relation, left.name, ColumnUse::Internal);
        self.column(right.relation, right.name, ColumnUse::Internal);
        self.all.joins.push(JoinRequirement { left, right, required_by: self.required_by });
    }

    fn column(&mut self, relation: &'a str, name: &'a str, column_use: ColumnUse) {
        let (column, required_by) = (column(relation, name), self.required_by);
        self.all.columns.push(ColumnRequirement { column, column_use, required_by });
    }

    fn scan(&mut self, relation: &'a str, equal: Vec<&'a str>, order: Vec<&'a str>) {
        self.ordered(RowOrder { relation, equal, order, ..RowOrder::default() });
    }

    /// A scan of joined rows.
    fn joined_scan(&mut self, relation: &'a str, join: &'a Join, equal: Vec<&'a str>, order: Vec<&'a str>) {
        self.ordered(RowOrder {
            relation,
            equal,
            order,
            where_null: join.where_null.as_deref(),
            ..RowOrder::default()
        });
    }

    fn ordered(&mut self, order: RowOrder<'a>) {
        let required_by = self.required_by;
        self.all.scans.push(ScanRequirement { order, is_of_one: false, required_by });
    }
}

fn column<'a>(relation: &'a str, name: &'a str) -> ColumnName<'a> {
    ColumnName { relation, name }
}

/// The relations that the rows of each type are read from, by its name: its own, and the relations that connections and lookup fields name
/// instead.
fn relations(catalog: &Catalog) -> HashMap<&str, Vec<&str>> {
    let own = catalog.entities().map(|(object, entity)| (object.name.as_str(), vec![entity.relation.as_str()]));
    let mut relations: HashMap<_, _> = own.collect();
    for (_, _, binding) in catalog.fields() {
        let (target, relation) = match binding {
            Binding::Root(RootBinding::Lookup(lookup)) => (lookup.target, lookup.relation.as_str()),
            Binding::Root(RootBinding::Connection(connection))
            | Binding::Entity(EntityBinding::Connection(connection)) => (connection.node, connection.relation.as_str()),
            _ => continue,
        };
        let known = relations.entry(catalog.entity_type(target).name.as_str()).or_default();
        if !known.contains(&relation) {
            known.push(relation);
        }
    }
    relations
}

fn names(columns: &[String]) -> Vec<&str> {
    columns.iter().map(String::as_str).collect()
}
