//! Makes facts of a schema file and its catalog.

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::catalog::aggregate::{Aggregate, AggregateFunction};
use crate::catalog::binding::{Binding, EntityBinding, Lookup, One, RootBinding, Totals};
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, Join};
use crate::catalog::feed::Feed;
use crate::catalog::ids::EntityId;
use crate::catalog::prices::UNINDEXED_TERM;
use crate::catalog::schema::{Field, Type};
use crate::catalog::search_key::SearchKey;
use crate::catalog::totals::{FieldPath, Sum};
use crate::schema_diff::facts::{Aspect, Facts};
use crate::schema_diff::part;
use crate::schema_file::SchemaFile;
use crate::value::Enumeration;

/// The facts in a schema file.
pub(super) fn facts(file: &SchemaFile, catalog: &Catalog) -> Facts {
    let mut reader = FactReader { catalog, facts: Facts::default() };
    for (object, entity) in catalog.entities() {
        let name = &object.name;
        reader.facts.add(name, Aspect::Relation, &entity.relation);
        reader.facts.add(name, Aspect::Key, names(&entity.key));
        reader.facts.add(name, Aspect::Scope, file.limits(&entity.relation));
        reader.facts.add(name, Aspect::Description, object.description.as_deref().unwrap_or_default());
    }
    file.enums().for_each(|enumeration| reader.enumeration(enumeration));
    for feed in catalog.feeds() {
        reader.facts.add(&catalog.entity_type(feed.entity).name, Aspect::Feed, parts(feed));
    }
    for (object, field, binding) in catalog.fields() {
        match binding {
            Binding::Root(binding) => {
                let path = reader.field(&object.name, field);
                reader.root(&path, field, binding);
            }
            Binding::Entity(binding) => {
                let path = reader.field(&object.name, field);
                reader.entity(&path, binding);
            }
            _ => {}
        }
    }
    let mut facts = reader.facts;
    for grant in file.grants() {
        for place in file.places(grant) {
            let grants = facts.part(&place).entry(Aspect::Grant).or_default();
            grants.push_str(if grants.is_empty() { "" } else { ", " });
            grants.push_str(grant);
        }
    }
    facts
}

struct FactReader<'c> {
    catalog: &'c Catalog,
    facts: Facts,
}

impl FactReader<'_> {
    fn root(&mut self, path: &str, field: &Field, binding: &RootBinding) {
        match binding {
            RootBinding::Lookup(lookup) => self.lookup(path, field, lookup),
            RootBinding::Connection(connection) => self.connection(path, connection),
            RootBinding::Changes(changes) => {
                let relation = |feed: &&Feed| feed.relation == changes.relation;
                let feed = self.catalog.feeds().iter().find(relation).map(parts).unwrap_or_default();
                self.facts.add(path, Aspect::Feed, feed);
            }
            RootBinding::Totals(totals) => self.totals(path, totals),
            RootBinding::Schema | RootBinding::TypeByName => {}
        }
    }

    fn entity(&mut self, path: &str, binding: &EntityBinding) {
        match binding {
            EntityBinding::Column(column) => self.facts.add(path, Aspect::Column, &column.name),
            EntityBinding::Aggregate(aggregate) => self.facts.add(path, Aspect::Column, aggregated(aggregate)),
            EntityBinding::One(one) => self.facts.add(path, Aspect::Join, joined(&one.join)),
            EntityBinding::Connection(connection) => self.connection(path, connection),
        }
    }

    /// Adds the facts that every field has. Returns the field's part.
    fn field(&mut self, ty: &str, field: &Field) -> String {
        let path = part::field(ty, &field.name);
        self.facts.add(&path, Aspect::Type, field.ty.display(self.catalog));
        self.facts.add(&path, Aspect::Deprecation, field.deprecation.as_deref().unwrap_or_default());
        self.facts.add(&path, Aspect::Description, field.description.as_deref().unwrap_or_default());
        path
    }

    /// An enum and its values, if the schema has it. Their order says nothing.
    fn enumeration(&mut self, enumeration: Enumeration) {
        let name = enumeration.name();
        let Some(Type::Enum(ty)) = self.catalog.named(name).map(|id| self.catalog.get(id)) else { return };
        let names: BTreeSet<_> = ty.names().collect();
        self.facts.add(name, Aspect::Values, names.into_iter().collect::<Vec<_>>().join(", "));
        self.facts.add(name, Aspect::Description, ty.description.as_deref().unwrap_or_default());
        for value in &ty.values {
            let part = part::field(name, &value.name);
            self.facts.add(&part, Aspect::Text, enumeration.text(&value.name).unwrap_or_default());
            self.facts.add(&part, Aspect::Deprecation, value.deprecation.as_deref().unwrap_or_default());
            self.facts.add(&part, Aspect::Description, value.description.as_deref().unwrap_or_default());
        }
    }

    fn lookup(&mut self, path: &str, field: &Field, lookup: &Lookup) {
        self.through(path, lookup.target, &lookup.relation);
        for (key, argument) in lookup.keys.iter().zip(&field.arguments) {
            let part = part::argument(path, &argument.name);
            self.facts.add(&part, Aspect::Type, argument.ty.display(self.catalog));
            self.facts.add(&part, Aspect::Column, &key.name);
            self.facts.add(&part, Aspect::Description, argument.description.as_deref().unwrap_or_default());
        }
    }

    fn connection(&mut self, path: &str, connection: &Connection) {
        self.through(path, connection.node, &connection.relation);
        self.facts.add(path, Aspect::Join, joined(&connection.join));
        if let Some(default) = connection.sort_keys.first() {
            let order = format!("{} ({})", default.name, names(&default.columns));
            self.facts.add(&part::sort_key(path, ""), Aspect::Order, order);
        }
        for key in &connection.sort_keys {
            self.facts.add(&part::sort_key(path, &key.name), Aspect::Order, names(&key.columns));
        }
        for key in &connection.search_keys {
            self.search_key(path, connection, key);
        }
        let indexes = connection.pair_indexes.iter().map(|index| {
            let [first, second] = index.keys.map(|key| connection.search_keys[key].name.as_str());
            let orders = orders(connection, &index.in_order_of);
            format!("({first}, {second}) in the order of {orders}{}", included(&index.include))
        });
        self.facts.add(path, Aspect::Index, indexes.collect::<Vec<_>>().join("; "));
    }

    fn search_key(&mut self, path: &str, connection: &Connection, key: &SearchKey) {
        let part = part::search_key(path, &key.name);
        let column = match &key.semi_join {
            None => key.column.name.clone(),
            Some(join) => format!("{}.{} by {}", join.relation, key.column.name, join.by.join(", ")),
        };
        self.facts.add(&part, Aspect::Column, column);
        self.facts.add(&part, Aspect::Type, key.column.scalar.name());
        let comparators = key.comparators.iter().map(|comparator| comparator.describe());
        let comparators: Vec<_> = comparators.chain(key.language.as_deref()).collect();
        self.facts.add(&part, Aspect::Comparators, comparators.join(" "));
        let normalization = key.normalization.map(|normalization| format!("{normalization:?}"));
        self.facts.add(&part, Aspect::Normalization, normalization.unwrap_or_default());
        let cost = if key.indexed { 0 } else { UNINDEXED_TERM };
        self.facts.add(&part, Aspect::Cost, cost.to_string());
        let mut indexes = Vec::new();
        indexes.extend(key.lookup.then(|| "by value".to_owned()));
        indexes
            .extend((!key.in_order_of.is_empty()).then(|| {
                format!("in the order of {}{}", orders(connection, &key.in_order_of), included(&key.include))
            }));
        indexes.extend((key.in_order_of.is_empty() && !key.include.is_empty()).then(|| included(&key.include)));
        let joined_in_order_of = key.semi_join.as_ref().map_or(&[][..], |semi_join| &semi_join.in_order_of);
        indexes.extend(
            (!joined_in_order_of.is_empty())
                .then(|| format!("joined rows in the order of {}", orders(connection, joined_in_order_of))),
        );
        indexes.extend(key.is_computed.then(|| "computed".to_owned()));
        self.facts.add(&part, Aspect::Index, indexes.join("; "));
        self.facts.add(&part, Aspect::Vocabulary, key.vocabulary.as_deref().unwrap_or_default());
        self.facts.add(&part, Aspect::Description, &key.example);
    }

    fn totals(&mut self, path: &str, totals: &Totals) {
        let Totals { connection, keys, sums, currency } = totals;
        self.connection(path, connection);
        self.facts.add(path, Aspect::Relation, &connection.relation);
        for key in keys {
            let unit = key.unit.map(|unit| format!(" by {}", unit.name())).unwrap_or_default();
            let column = self.path(connection.node, &key.path) + &unit;
            self.facts.add(&part::group_key(path, &key.value), Aspect::Column, column);
        }
        for Sum { value, path: column, times, is_money, .. } in sums {
            let mut text = self.path(connection.node, column);
            if let Some(times) = times {
                text = format!("{text} * {}", self.path(connection.node, times));
            }
            if let (true, Some(currency)) = (*is_money, currency.and_then(|key| keys.get(key))) {
                text = format!("{text} by {}", self.path(connection.node, &currency.path));
            }
            self.facts.add(&part::sum(path, value), Aspect::Column, text);
        }
    }

    /// The relation of a field's rows, if it is another than the relation of their type.
    fn through(&mut self, path: &str, node: EntityId, relation: &str) {
        if self.catalog.entity(node).relation != relation {
            self.facts.add(path, Aspect::Relation, relation);
        }
    }

    /// A column, and the joins on the way to it.
    fn path(&self, node: EntityId, path: &FieldPath) -> String {
        let (objects, column) = self.catalog.follow(node, path);
        let object = |one: &One| format!("{} ({}).", self.catalog.entity(one.target).relation, joined(&one.join));
        objects.into_iter().map(object).collect::<String>() + &column.name
    }
}

/// The columns of a feed's tables, each with the way to the rows of the feed.
fn parts(feed: &Feed) -> String {
    let parts = feed.parts.iter().map(|part| match &part.through {
        None => format!("{}.{}", part.relation, part.by),
        Some(through) => {
            format!("{}.{} = {}.{} ({})", part.relation, part.by, through.relation, through.to, through.key)
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn joined(join: &Join) -> String {
    let pairs = join.by.iter().zip(&join.to).map(|(by, to)| format!("{} = {to}", by.name));
    let empty = join.where_null.iter().map(|column| format!("{column} is null"));
    pairs.chain(empty).collect::<Vec<_>>().join(", ")
}

fn aggregated(aggregate: &Aggregate) -> String {
    let function = match aggregate.function {
        AggregateFunction::CountDistinct => "number of distinct",
        AggregateFunction::Lowest => "lowest",
    };
    let Aggregate { column, relation, join, .. } = aggregate;
    format!("{function} {column} of {relation} ({})", joined(join))
}

fn orders(connection: &Connection, sort_keys: &[usize]) -> String {
    let names = sort_keys.iter().filter_map(|key| connection.sort_keys.get(*key)).map(|key| key.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

fn included(columns: &[String]) -> String {
    if columns.is_empty() { String::new() } else { format!(" with {}", columns.join(", ")) }
}
