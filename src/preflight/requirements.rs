//! What a catalog requires of a database: columns of suitable types, joined columns that can be compared, indexes that
//! return rows in an order, and constraints that guarantee what the schema promises.

use std::collections::HashSet;
use std::fmt;

use crate::catalog::Catalog;
use crate::catalog::aggregate::{Aggregate, AggregateFunction};
use crate::catalog::binding::{Binding, Entity, EntityBinding, EntityScope, Lookup, One, RootBinding};
use crate::catalog::changes::{Changes, Route};
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, ListIndex, SortKey};
use crate::catalog::ids::EntityId;
use crate::catalog::schema::{Field, ObjectType};
use crate::catalog::search_key::{PairIndex, SearchKey};
use crate::preflight::column_use::ColumnUse;

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
    pub(super) relation: &'a str,
    /// The columns that are compared for equality and are therefore never null. The index begins with them, in any
    /// order.
    pub(super) equal: Vec<&'a str>,
    /// The columns that follow in the index, in this order.
    pub(super) order: Vec<&'a str>,
    /// Whether the index's first column is descending.
    pub(super) is_first_descending: bool,
    /// Whether one row is read, so that a unique index on the columns of equality serves it in any order.
    pub(super) is_of_one: bool,
    pub(super) required_by: SchemaPath<'a>,
}

impl<'a> ScanRequirement<'a> {
    /// All columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'a str> {
        self.equal.iter().chain(&self.order).copied()
    }
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

/// An index on the words of a column, and the text search configuration that finds those of a search.
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

    /// What a catalog requires.
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let mut requirements = Self::default();
        // Keys first, so that a missing relation is reported for its own type and not for a type that refers to it.
        for (object, entity) in catalog.entities() {
            for column in &entity.key {
                requirements.column(&entity.relation, &column.name, ColumnUse::Internal, SchemaPath::Type(object));
            }
        }
        for (object, entity) in catalog.entities() {
            for relation in relations(catalog, object, entity) {
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
        for scope in &entity.scopes {
            let required_by = SchemaPath::Type(object);
            match scope {
                EntityScope::Column(column) => {
                    self.column(relation, column, ColumnUse::ScopeValue, required_by);
                }
                EntityScope::Row { relation: of, by, key } => {
                    for (by, key) in by.iter().zip(key) {
                        self.join(relation, by, of, key, required_by);
                    }
                }
            }
        }
        for (field, binding) in object.fields.iter().zip(&entity.bindings) {
            let required_by = SchemaPath::Field(object, field);
            match binding {
                EntityBinding::Column(column) => {
                    let output = if field.ty.is_list() { ColumnUse::OutputList } else { ColumnUse::Output };
                    self.column(relation, &column.name, output(column.scalar), required_by);
                    if field.ty.is_non_null() {
                        let column = ColumnName { relation, name: &column.name };
                        self.non_nulls.push(NonNullRequirement { column, required_by });
                    }
                }
                EntityBinding::Aggregate(aggregate) => self.aggregate(relation, aggregate, required_by),
                EntityBinding::One(one) => self.one(catalog, relation, one, required_by),
                EntityBinding::Connection(connection) => {
                    for column in &connection.join.by {
                        self.column(relation, &column.name, ColumnUse::ParentKey(column.scalar), required_by);
                        // A statement has one type for the key, whichever relation the parents come from.
                        if relation != entity.relation {
                            self.join(&entity.relation, &column.name, relation, &column.name, required_by);
                        }
                    }
                    self.equal(relation, &connection.join.by, &connection.relation, &connection.join.to, required_by);
                    self.nested(connection, required_by);
                }
            }
        }
    }

    fn aggregate(&mut self, parent: &'a str, aggregate: &'a Aggregate, required_by: SchemaPath<'a>) {
        let relation = &aggregate.relation;
        self.equal(parent, &aggregate.join.by, relation, &aggregate.join.to, required_by);
        match aggregate.function {
            AggregateFunction::CountDistinct => {
                self.column(relation, &aggregate.column, ColumnUse::Internal, required_by);
                self.scan(relation, names(&aggregate.join.to), Vec::new(), required_by);
            }
            AggregateFunction::Lowest => {
                self.column(relation, &aggregate.column, ColumnUse::Output(aggregate.scalar), required_by);
                self.scan(relation, names(&aggregate.join.to), vec![&aggregate.column], required_by);
            }
        }
    }

    fn one(&mut self, catalog: &'a Catalog, parent: &'a str, one: &'a One, required_by: SchemaPath<'a>) {
        let target = catalog.entity(one.target);
        self.equal(parent, &one.join.by, &target.relation, &one.join.to, required_by);
        let key = || target.key.iter().map(|column| column.name.as_str());
        // What else is unique is known when the database is.
        if key().all(|column| one.join.to.iter().any(|to| to == column)) {
            // The key identifies the row, whatever else is compared.
            self.scan(&target.relation, key().collect(), Vec::new(), required_by);
        } else {
            let equal = names(&one.join.to);
            let order = key().filter(|column| !equal.contains(column)).collect();
            let (relation, is_first_descending, is_of_one) = (target.relation.as_str(), false, true);
            self.scans.push(ScanRequirement { relation, equal, order, is_first_descending, is_of_one, required_by });
        }
    }

    fn nested(&mut self, connection: &'a Connection, required_by: SchemaPath<'a>) {
        for (by, to) in connection.join.by.iter().zip(&connection.join.to) {
            // Compared with a parent's key, or with one that a client gave. The same types are compatible with both.
            self.column(&connection.relation, to, ColumnUse::ParentKey(by.scalar), required_by);
        }
        for key in &connection.sort_keys {
            self.sort_key(connection, key, required_by);
        }
    }

    fn root(&mut self, catalog: &'a Catalog, field: &'a Field, binding: &'a RootBinding) {
        match binding {
            RootBinding::Connection(connection) => {
                for key in &connection.sort_keys {
                    self.sort_key(connection, key, SchemaPath::SortKey(field, key));
                }
                for key in &connection.search_keys {
                    self.search_key(connection, key, SchemaPath::SearchKey(field, key));
                }
                for index in &connection.pair_indexes {
                    self.pair_index(connection, index, field);
                }
            }
            RootBinding::Lookup(lookup) => self.lookup(catalog, field, lookup),
            RootBinding::Changes(changes) => self.changes(field, changes),
            // The rows of totals are those of another root, and their columns those of fields. Introspection reads nothing from the database.
            RootBinding::Totals(_) | RootBinding::Schema | RootBinding::TypeByName => {}
        }
    }

    fn changes(&mut self, field: &'a Field, changes: &'a Changes) {
        let required_by = SchemaPath::Root(field);
        self.column(&changes.relation, &changes.key.name, ColumnUse::Compared(changes.key.scalar), required_by);
        for (relation, name) in [
            (changes.direct.as_str(), "xid"),
            (&changes.direct, &changes.key.name),
            (&changes.indirect, "id"),
            ("orderql.sync_tick", "snapshot"),
        ] {
            self.column(relation, name, ColumnUse::Internal, required_by);
        }
        for Route { relation, to, key } in &changes.routes {
            self.column(relation, &to.name, ColumnUse::Compared(to.scalar), required_by);
            self.column(relation, key, ColumnUse::Internal, required_by);
            self.scan(relation, vec![&to.name], Vec::new(), required_by);
        }
    }

    fn sort_key(&mut self, connection: &'a Connection, key: &'a SortKey, required_by: SchemaPath<'a>) {
        for column in &key.columns {
            // A column that can be compared can also be encoded into a cursor.
            self.column(&connection.relation, &column.name, ColumnUse::Compared(column.scalar), required_by);
        }
        let equal = names(&connection.join.to);
        let (equal, order) = match connection.found_by {
            ListIndex::Order => {
                let order = key.columns.iter().map(|column| column.name.as_str());
                let order = order.filter(|column| !equal.contains(column)).collect();
                (equal, order)
            }
            // In the order of `to`, as statements have it.
            ListIndex::Parent { .. } => (equal[..1].to_vec(), equal[1..].to_vec()),
        };
        self.scan(&connection.relation, equal, order, required_by);
    }

    fn search_key(&mut self, connection: &'a Connection, key: &'a SearchKey, required_by: SchemaPath<'a>) {
        let relation = connection.relation_of(key);
        if let Some(language) = &key.language {
            let column = ColumnName { relation, name: &key.column.name };
            self.column(relation, column.name, ColumnUse::Searched, required_by);
            return self.text_searches.push(TextSearchRequirement { column, language, required_by });
        }
        self.column(relation, &key.column.name, ColumnUse::Compared(key.column.scalar), required_by);
        for column in key.semi_join.iter().flat_map(|semi_join| &semi_join.by) {
            // Rows of one are looked for by a row of the other, in either direction.
            self.join(&connection.relation, column, relation, column, required_by);
            self.join(relation, column, &connection.relation, column, required_by);
        }
        if let Some(vocabulary) = &key.vocabulary {
            self.column(vocabulary, &key.column.name, ColumnUse::Output(key.column.scalar), required_by);
        }
        if key.lookup {
            self.scan(relation, vec![&key.column.name], Vec::new(), required_by);
        }
        for sort_key in key.in_order_of.iter().map(|index| &connection.sort_keys[*index]) {
            let order = sort_key.columns.iter().map(|column| column.name.as_str());
            let order = order.filter(|column| *column != key.column.name).collect();
            self.scan(relation, vec![&key.column.name], order, required_by);
        }
        let second = key.in_order_of.first().map(|index| connection.sort_keys[*index].columns[0].name.as_str());
        let first = std::iter::once(key.column.name.as_str()).chain(second).collect();
        self.covering_index(connection, first, &key.include, required_by);
        if let Some(semi_join) = &key.semi_join {
            // For each row of the connection, a statement looks for a row of the semi-join, or the other way round.
            let by = names(&semi_join.by);
            self.scan(&connection.relation, by.clone(), Vec::new(), required_by);
            if key.is_computed || key.takes_ranges() {
                self.scan(relation, by.clone(), Vec::new(), required_by);
            }
            if !key.is_computed {
                let columns = by.into_iter().chain([key.column.name.as_str()]).collect();
                self.scan(relation, columns, Vec::new(), required_by);
            }
        }
    }

    fn pair_index(&mut self, connection: &'a Connection, index: &'a PairIndex, field: &'a Field) {
        let keys = index.keys.map(|key| &connection.search_keys[key]);
        let [first, second] = keys.map(|key| key.column.name.as_str());
        self.covering_index(connection, vec![first, second], &index.include, SchemaPath::PairIndex(field, keys));
        for sort_key in index.in_order_of.iter().map(|index| &connection.sort_keys[*index]) {
            let columns = sort_key.columns.iter().map(|column| column.name.as_str());
            let rest = columns.filter(|column| ![first, second].contains(column));
            self.scans.push(ScanRequirement {
                relation: &connection.relation,
                equal: vec![first],
                order: std::iter::once(second).chain(rest).collect(),
                is_first_descending: true,
                is_of_one: false,
                required_by: SchemaPath::PairIndex(field, keys),
            });
        }
    }

    /// An index that begins with these columns, and includes others and the primary key's.
    fn covering_index(
        &mut self,
        connection: &'a Connection,
        first: Vec<&'a str>,
        include: &'a [String],
        required_by: SchemaPath<'a>,
    ) {
        if include.is_empty() {
            return;
        }
        for column in include {
            self.column(&connection.relation, column, ColumnUse::Internal, required_by);
        }
        let key = connection.primary_key().iter().map(|column| column.name.as_str());
        let mut columns = first.clone();
        for column in include.iter().map(String::as_str).chain(key) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let include = columns.split_off(first.len());
        self.covering_indexes.push(CoveringIndexRequirement {
            relation: &connection.relation,
            first,
            include,
            required_by,
        });
    }

    fn lookup(&mut self, catalog: &'a Catalog, field: &'a Field, lookup: &'a Lookup) {
        for (key, argument) in lookup.keys.iter().zip(&field.arguments) {
            let required_by = SchemaPath::Argument(field, &argument.name);
            self.column(&lookup.relation, &key.name, ColumnUse::Compared(key.scalar), required_by);
            if lookup.alternatives {
                // Of several rows with the value, the first by key is returned.
                let order = catalog.entity(lookup.target).key.iter();
                let order = order.map(|column| column.name.as_str()).filter(|column| *column != key.name);
                self.scan(&lookup.relation, vec![&key.name], order.collect(), required_by);
            }
        }
        if !lookup.alternatives {
            let target = &catalog.entity(lookup.target).key;
            let all: Vec<_> = lookup.keys.iter().map(|key| key.name.as_str()).collect();
            let key: Vec<_> = target.iter().map(|column| column.name.as_str()).collect();
            // As for joined rows, the target's key identifies the row.
            let equal = if key.iter().all(|column| all.contains(column)) { key } else { all };
            self.scan(&lookup.relation, equal, Vec::new(), SchemaPath::Root(field));
        }
    }

    fn equal(
        &mut self,
        left: &'a str,
        by: &'a [Column],
        right: &'a str,
        to: &'a [String],
        required_by: SchemaPath<'a>,
    ) {
        for (by, to) in by.iter().zip(to) {
            self.join(left, &by.name, right, to, required_by);
        }
    }

    fn join(&mut self, left: &'a str, by: &'a str, right: &'a str, to: &'a str, required_by: SchemaPath<'a>) {
        self.column(left, by, ColumnUse::Internal, required_by);
        self.column(right, to, ColumnUse::Internal, required_by);
        let column = |relation, name| ColumnName { relation, name };
        self.joins.push(JoinRequirement { left: column(left, by), right: column(right, to), required_by });
    }

    fn column(&mut self, relation: &'a str, name: &'a str, column_use: ColumnUse, required_by: SchemaPath<'a>) {
        self.columns.push(ColumnRequirement { column: ColumnName { relation, name }, column_use, required_by });
    }

    fn scan(&mut self, relation: &'a str, equal: Vec<&'a str>, order: Vec<&'a str>, required_by: SchemaPath<'a>) {
        let is_of_one = false;
        self.scans.push(ScanRequirement { relation, equal, order, is_first_descending: false, is_of_one, required_by });
    }
}

/// The relations that a type's rows are read from: its own, and those that connections and lookup fields name instead.
fn relations<'a>(catalog: &'a Catalog, object: &'a ObjectType, entity: &'a Entity) -> Vec<&'a str> {
    let is_object = |id: EntityId| std::ptr::eq(catalog.entity_type(id), object);
    let mut relations = vec![entity.relation.as_str()];
    for (_, _, binding) in catalog.fields() {
        let (target, relation) = match binding {
            Binding::Root(RootBinding::Lookup(lookup)) => (lookup.target, &lookup.relation),
            Binding::Root(RootBinding::Connection(connection))
            | Binding::Entity(EntityBinding::Connection(connection)) => (connection.node, &connection.relation),
            _ => continue,
        };
        if is_object(target) && !relations.contains(&relation.as_str()) {
            relations.push(relation);
        }
    }
    relations
}

fn names(columns: &[String]) -> Vec<&str> {
    columns.iter().map(String::as_str).collect()
}
