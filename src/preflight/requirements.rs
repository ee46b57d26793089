//! What a catalog needs of a database: relations with columns that are fit for their use, pairs of columns that can be
//! compared, and orders that an index serves.

use std::fmt;

use crate::catalog::Catalog;
use crate::catalog::binding::{Aggregate, Binding, Column, Connection, Entity, Lookup, One, SearchKey, SortKey};
use crate::catalog::ids::TypeId;
use crate::catalog::schema::{Field, ObjectType, Type};
use crate::preflight::fit::Use;

/// Everything that a catalog needs, in the order of publication.
#[derive(Debug, Default)]
pub(super) struct Requirements<'a> {
    pub(super) columns: Vec<ColumnNeed<'a>>,
    pub(super) joins: Vec<Join<'a>>,
    pub(super) walks: Vec<Pagination<'a>>,
}

/// A column that has to be there.
#[derive(Debug)]
pub(super) struct ColumnNeed<'a> {
    pub(super) column: ColumnName<'a>,
    pub(super) used: Use,
    pub(super) place: SchemaPath<'a>,
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

/// Two columns that a statement holds equal.
#[derive(Debug)]
pub(super) struct Join<'a> {
    pub(super) left: ColumnName<'a>,
    pub(super) right: ColumnName<'a>,
    pub(super) place: SchemaPath<'a>,
}

/// An order of a relation's rows that an index must give.
#[derive(Debug)]
pub(super) struct Pagination<'a> {
    pub(super) relation: &'a str,
    /// The columns that are held equal to something: first in the index, in any order, and never null.
    pub(super) equal: Vec<&'a str>,
    /// The columns that come next in the index, in this order.
    pub(super) order: Vec<&'a str>,
    pub(super) place: SchemaPath<'a>,
}

impl<'a> Pagination<'a> {
    /// All columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'a str> {
        self.equal.iter().chain(&self.order).copied()
    }
}

/// What of the schema needs something.
#[derive(Debug, Clone, Copy)]
pub(super) enum SchemaPath<'a> {
    Type(&'a ObjectType),
    Field(&'a ObjectType, &'a Field),
    Root(&'a Field),
    SortKey(&'a Field, &'a SortKey),
    SearchKey(&'a Field, &'a SearchKey),
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
            Self::Argument(root, argument) => write!(f, "{}({argument}:)", root.name),
        }
    }
}

impl<'a> Requirements<'a> {
    /// What that catalog needs.
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let mut needs = Self::default();
        let objects = || catalog.types().iter().filter_map(Type::as_object);
        let entities = || objects().filter_map(|object| Some((object, object.entity.as_ref()?)));
        // First, so that a missing relation is told with its type and not with who points there.
        for (object, entity) in entities() {
            for column in &entity.key {
                needs.column(&entity.relation, &column.name, Use::Named, SchemaPath::Type(object));
            }
        }
        for (object, entity) in entities() {
            for relation in relations(catalog, object, entity) {
                needs.object(catalog, object, relation);
            }
        }
        for field in objects().filter(|object| object.entity.is_none()).flat_map(|object| &object.fields) {
            needs.root(catalog, field);
        }
        needs
    }

    /// A type's own columns, in one of the relations that it is read from.
    fn object(&mut self, catalog: &'a Catalog, object: &'a ObjectType, relation: &'a str) {
        for field in &object.fields {
            let place = SchemaPath::Field(object, field);
            match &field.binding {
                Binding::Column(column) => {
                    self.column(relation, &column.name, Use::Answered(column.scalar), place);
                }
                Binding::Aggregate(aggregate) => self.aggregate(relation, aggregate, place),
                Binding::One(one) => self.one(catalog, relation, one, place),
                Binding::Connection(connection) => {
                    for column in &connection.join.by {
                        self.column(relation, &column.name, Use::Carried(column.scalar), place);
                    }
                    self.nested(connection, place);
                }
                _ => {}
            }
        }
    }

    fn aggregate(&mut self, parent: &'a str, aggregate: &'a Aggregate, place: SchemaPath<'a>) {
        let relation = &aggregate.relation;
        self.column(relation, &aggregate.column, Use::Named, place);
        self.equal(parent, &aggregate.join.by, relation, &aggregate.join.to, place);
        self.walk(relation, names(&aggregate.join.to), Vec::new(), place);
    }

    fn one(&mut self, catalog: &'a Catalog, parent: &'a str, one: &'a One, place: SchemaPath<'a>) {
        let Some(target) = catalog.entity(one.target) else { return };
        if let Some(column) = one.join.to.first() {
            self.column(&target.relation, column, Use::Read, place);
        }
        self.equal(parent, &one.join.by, &target.relation, &one.join.to, place);
        let key = || target.key.iter().map(|column| column.name.as_str());
        if one.unique {
            // The key alone finds the row, whatever else is compared.
            self.walk(&target.relation, key().collect(), Vec::new(), place);
        } else {
            let to = names(&one.join.to);
            let order = key().filter(|column| !to.contains(column)).collect();
            self.walk(&target.relation, to, order, place);
        }
    }

    fn nested(&mut self, connection: &'a Connection, place: SchemaPath<'a>) {
        for (by, to) in connection.join.by.iter().zip(&connection.join.to) {
            // Compared with a carried key, or with one that a caller gave, for which the same types are fit.
            self.column(&connection.relation, to, Use::Carried(by.scalar), place);
        }
        for key in &connection.sort_keys {
            self.sort_key(connection, key, place);
        }
    }

    fn root(&mut self, catalog: &'a Catalog, field: &'a Field) {
        match &field.binding {
            Binding::Connection(connection) => {
                for key in &connection.sort_keys {
                    self.sort_key(connection, key, SchemaPath::SortKey(field, key));
                }
                for key in &connection.search_keys {
                    self.search_key(connection, key, SchemaPath::SearchKey(field, key));
                }
            }
            Binding::Lookup(point) => self.point(catalog, field, point),
            _ => {}
        }
    }

    fn sort_key(&mut self, connection: &'a Connection, key: &'a SortKey, place: SchemaPath<'a>) {
        for column in &key.columns {
            // What can be compared can be written into a cursor.
            self.column(&connection.relation, &column.name, Use::Compared(column.scalar), place);
        }
        let equal = names(&connection.join.to);
        let order = key.columns.iter().map(|column| column.name.as_str());
        let order = order.filter(|column| !equal.contains(column)).collect();
        self.walk(&connection.relation, equal, order, place);
    }

    fn search_key(&mut self, connection: &'a Connection, key: &'a SearchKey, place: SchemaPath<'a>) {
        let relation = key.semi_join.as_ref().map_or(&connection.relation, |within| &within.relation);
        self.column(relation, &key.column.name, Use::Compared(key.column.scalar), place);
        for column in key.semi_join.iter().flat_map(|within| &within.by) {
            self.join(&connection.relation, column, relation, column, place);
        }
        match &key.semi_join {
            _ if key.indexed => self.walk(relation, vec![&key.column.name], Vec::new(), place),
            // Each row of the walk asks whether it has one there.
            Some(within) => self.walk(relation, names(&within.by), Vec::new(), place),
            None => {}
        }
    }

    fn point(&mut self, catalog: &'a Catalog, field: &'a Field, point: &'a Lookup) {
        for (key, argument) in point.keys.iter().zip(&field.arguments) {
            let place = SchemaPath::Argument(field, &argument.name);
            self.column(&point.relation, &key.name, Use::Compared(key.scalar), place);
            if point.alternatives {
                self.walk(&point.relation, vec![&key.name], Vec::new(), place);
            }
        }
        if !point.alternatives {
            let target = catalog.entity(point.target).map_or(&[][..], |entity| &entity.key);
            let all: Vec<_> = point.keys.iter().map(|key| key.name.as_str()).collect();
            let key: Vec<_> = target.iter().map(|column| column.name.as_str()).collect();
            // As with joined objects, the target's key alone finds the row.
            let equal = if key.iter().all(|column| all.contains(column)) { key } else { all };
            self.walk(&point.relation, equal, Vec::new(), SchemaPath::Root(field));
        }
    }

    fn equal(&mut self, left: &'a str, by: &'a [Column], right: &'a str, to: &'a [String], place: SchemaPath<'a>) {
        for (by, to) in by.iter().zip(to) {
            self.join(left, &by.name, right, to, place);
        }
    }

    fn join(&mut self, left: &'a str, by: &'a str, right: &'a str, to: &'a str, place: SchemaPath<'a>) {
        self.column(left, by, Use::Named, place);
        self.column(right, to, Use::Named, place);
        let column = |relation, name| ColumnName { relation, name };
        self.joins.push(Join { left: column(left, by), right: column(right, to), place });
    }

    fn column(&mut self, relation: &'a str, name: &'a str, used: Use, place: SchemaPath<'a>) {
        self.columns.push(ColumnNeed { column: ColumnName { relation, name }, used, place });
    }

    fn walk(&mut self, relation: &'a str, equal: Vec<&'a str>, order: Vec<&'a str>, place: SchemaPath<'a>) {
        self.walks.push(Pagination { relation, equal, order, place });
    }
}

/// Where a type's rows are read from: its own relation, and those with its columns that connections and point roots name.
fn relations<'a>(catalog: &'a Catalog, object: &'a ObjectType, entity: &'a Entity) -> Vec<&'a str> {
    let is_object = |id: TypeId| catalog.object(id).is_some_and(|other| std::ptr::eq(other, object));
    let mut relations = vec![entity.relation.as_str()];
    for (_, _, binding) in catalog.fields() {
        let relation = match binding {
            Binding::Connection(connection) if is_object(connection.node) => &connection.relation,
            Binding::Lookup(point) if is_object(point.target) => &point.relation,
            _ => continue,
        };
        if !relations.contains(&relation.as_str()) {
            relations.push(relation);
        }
    }
    relations
}

fn names(columns: &[String]) -> Vec<&str> {
    columns.iter().map(String::as_str).collect()
}
