//! A resolver of queries that knows nothing of plans and SQL: it has whole tables in memory, and filters, sorts and joins them
//! row by row, as the specification of the API says. Its responses are what the server's must be.
//!
//! Of the library it uses the catalog, the scalars' notations and the encoding of cursors.

pub mod json;
mod search;
pub mod tables;
mod totals;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

use graphql_parser::query::{
    Definition, Directive, Document, Field, OperationDefinition, Selection, SelectionSet, Value,
};
use orderql::catalog::Catalog;
use orderql::catalog::aggregate::{Aggregate, AggregateFunction};
use orderql::catalog::binding::{Binding, ConnectionField, EdgeField, EntityBinding, PageInfoField, RootBinding};
use orderql::catalog::connection::{Connection, Join, ListIndex, SortKey};
use orderql::catalog::ids::{EntityId, FieldId, TypeId};
use orderql::catalog::schema::{ArgumentRole, Field as FieldDefinition};
use orderql::cursor::{Encoder, decode};
use orderql::query::Request;
use orderql::value::Value as Stored;
use serde_json::Value as Input;

use crate::support::naive_resolver::json::Json;
use crate::support::naive_resolver::search::Search;
use crate::support::naive_resolver::tables::{Cell, Row, Tables};

/// Resolves queries.
pub struct NaiveResolver<'a> {
    pub catalog: &'a Catalog,
    pub tables: &'a Tables,
}

/// A query that is being resolved.
struct Query<'a, 'q> {
    catalog: &'a Catalog,
    tables: &'a Tables,
    document: &'q Document<'q, String>,
    variables: serde_json::Map<String, Input>,
    /// The search that found the row whose object comes next.
    search: RefCell<Option<Rc<Search<'a>>>>,
}

type Set<'q> = &'q SelectionSet<'q, String>;

/// A page of a connection.
struct Page<'a> {
    connection: &'a Connection,
    sort_key: &'a SortKey,
    reverse: bool,
    search: Rc<Search<'a>>,
    rows: Vec<Row<'a>>,
    has_next: bool,
    has_previous: bool,
    /// How many rows match, up to `countUpTo`.
    count: Option<usize>,
}

/// The arguments of a field that have values.
struct Arguments<'d>(Vec<(&'d ArgumentRole, Input)>);

impl Arguments<'_> {
    fn get(&self, role: ArgumentRole) -> Option<&Input> {
        self.0.iter().find(|(other, _)| **other == role).map(|(_, value)| value)
    }

    fn text(&self, role: ArgumentRole) -> Option<String> {
        self.get(role).map(text)
    }
}

/// An ID, which may be written as a number, or another text.
fn text(value: &Input) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl NaiveResolver<'_> {
    /// The `data` of a valid query without introspection. `None` if another parser does not take its text.
    pub fn resolve(&self, request: &Request) -> Option<Json> {
        let document = graphql_parser::parse_query::<String>(&request.query).ok()?;
        let operation = document.definitions.iter().find_map(|definition| match definition {
            Definition::Operation(operation) => {
                let is_chosen = request.operation_name.is_none() || request.operation_name.as_ref() == name(operation);
                is_chosen.then_some(operation)
            }
            Definition::Fragment(_) => None,
        })?;
        let mut variables = serde_json::Map::new();
        let set = match operation {
            OperationDefinition::SelectionSet(set) => set,
            OperationDefinition::Query(query) => {
                for definition in &query.variable_definitions {
                    let given = request.variables.get(&definition.name).cloned();
                    let value = given.or_else(|| definition.default_value.as_ref().map(constant));
                    variables.extend(value.map(|value| (definition.name.clone(), value)));
                }
                &query.selection_set
            }
            OperationDefinition::Mutation(_) | OperationDefinition::Subscription(_) => return None,
        };
        let search = RefCell::default();
        let query = Query { catalog: self.catalog, tables: self.tables, document: &document, variables, search };
        Some(query.object(self.catalog.query(), None, &[set]))
    }
}

fn name<'q>(operation: &'q OperationDefinition<'q, String>) -> Option<&'q String> {
    match operation {
        OperationDefinition::Query(query) => query.name.as_ref(),
        _ => None,
    }
}

/// A value without variables.
fn constant(value: &Value<'_, String>) -> Input {
    match value {
        Value::Variable(name) => panic!("${name} in a constant"),
        Value::Int(number) => number.as_i64().into(),
        Value::Float(number) => (*number).into(),
        Value::String(text) | Value::Enum(text) => text.as_str().into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::Null => Input::Null,
        Value::List(values) => values.iter().map(constant).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), constant(value))).collect(),
    }
}

impl<'a, 'q> Query<'a, 'q> {
    /// A value; `None` if it is a variable without one.
    fn value(&self, value: &Value<'_, String>) -> Option<Input> {
        match value {
            Value::Variable(name) => self.variables.get(name).cloned(),
            other => Some(constant(other)),
        }
    }

    /// Whether the directives select what they are at.
    fn selects(&self, directives: &[Directive<'_, String>]) -> bool {
        directives.iter().all(|directive| {
            let condition = self.value(&directive.arguments[0].1) == Some(Input::Bool(true));
            condition == (directive.name == "include")
        })
    }

    /// The fields of selection sets, merged by their response keys.
    fn collect(&self, sets: &[Set<'q>]) -> Vec<(&'q str, Vec<&'q Field<'q, String>>)> {
        let mut fields = Vec::new();
        for set in sets {
            self.add(set, &mut fields);
        }
        fields
    }

    fn add(&self, set: Set<'q>, fields: &mut Vec<(&'q str, Vec<&'q Field<'q, String>>)>) {
        for selection in &set.items {
            match selection {
                Selection::Field(field) if self.selects(&field.directives) => {
                    let key = field.alias.as_ref().unwrap_or(&field.name).as_str();
                    match fields.iter_mut().find(|(other, _)| *other == key) {
                        Some((_, same)) => same.push(field),
                        None => fields.push((key, vec![field])),
                    }
                }
                Selection::InlineFragment(fragment) if self.selects(&fragment.directives) => {
                    self.add(&fragment.selection_set, fields);
                }
                Selection::FragmentSpread(spread) if self.selects(&spread.directives) => {
                    let fragment = self.document.definitions.iter().find_map(|definition| match definition {
                        Definition::Fragment(fragment) if fragment.name == spread.fragment_name => Some(fragment),
                        _ => None,
                    });
                    self.add(&fragment.unwrap().selection_set, fields);
                }
                _ => {}
            }
        }
    }

    /// An object of a type: the root, or a row.
    fn object(&self, ty: TypeId, row: Option<Row<'a>>, sets: &[Set<'q>]) -> Json {
        let definition = self.catalog.object(ty).unwrap();
        let search = self.search.take();
        let fields = self.collect(sets).into_iter().map(|(key, fields)| {
            if fields[0].name == "__typename" {
                return (key.to_owned(), Json::Text(definition.name.clone()));
            }
            let (field, binding) = self.member(ty, &fields[0].name);
            let value = match binding {
                Binding::Entity(EntityBinding::Aggregate(aggregate)) => {
                    self.aggregate(aggregate, row.unwrap(), search.as_deref())
                }
                _ => self.field(field, binding, row, &fields),
            };
            assert!(value != Json::Null || !field.ty.is_non_null(), "{key} is null");
            (key.to_owned(), value)
        });
        Json::Object(fields.collect())
    }

    /// The field of a type with that name, and what it comes from.
    fn member(&self, object: TypeId, name: &str) -> (&'a FieldDefinition, Binding<'a>) {
        let index = self.catalog.object(object).unwrap().field_index(name).unwrap();
        let id = FieldId { object, index };
        (self.catalog.field(id), self.catalog.binding(id))
    }

    fn field(
        &self,
        field: &'a FieldDefinition,
        binding: Binding<'a>,
        row: Option<Row<'a>>,
        selected: &[&'q Field<'q, String>],
    ) -> Json {
        let sets: Vec<_> = selected.iter().map(|field| &field.selection_set).collect();
        match binding {
            Binding::Entity(EntityBinding::Column(column)) => row.unwrap().get(&column.name).json(column.scalar),
            Binding::Entity(EntityBinding::One(one)) => {
                let relation = &self.catalog.entity(one.target).relation;
                let rows = self.tables.get(relation).all();
                self.first(one.target, rows.filter(|other| is_joined(&one.join, row.unwrap(), *other)), &sets)
            }
            Binding::Root(RootBinding::Lookup(lookup)) => {
                let arguments = self.arguments(field, selected[0]);
                let keys = lookup.keys.iter().enumerate();
                let keys: Vec<_> = keys
                    .filter_map(|(index, column)| {
                        let key = arguments.text(ArgumentRole::Key(index))?;
                        Some((&column.name, Cell::parse(column, &key)))
                    })
                    .collect();
                let rows = self.tables.get(&lookup.relation).all();
                let rows = rows.filter(|row| keys.iter().all(|(column, value)| row.get(column).equals(value)));
                self.first(lookup.target, rows, &sets)
            }
            Binding::Root(RootBinding::Connection(connection))
            | Binding::Entity(EntityBinding::Connection(connection)) => {
                if let ListIndex::Parent { at_most } = connection.found_by {
                    let rows = self.tables.get(&connection.relation).all();
                    let rows = rows.filter(|other| is_joined(&connection.join, row.unwrap(), *other));
                    if rows.count() > usize::try_from(at_most).unwrap() {
                        return Json::Null;
                    }
                }
                let page = self.page(connection, row, &self.arguments(field, selected[0]));
                self.connection(field.ty.named(), &page, &sets)
            }
            Binding::Root(RootBinding::Totals(totals)) => {
                self.totals(field.ty.named(), totals, &self.arguments(field, selected[0]), &sets)
            }
            other => panic!("{other:?} outside of a connection"),
        }
    }

    fn aggregate(&self, aggregate: &Aggregate, row: Row<'a>, search: Option<&Search<'_>>) -> Json {
        let rows = self.tables.get(&aggregate.relation).all();
        let rows = rows.filter(|other| is_joined(&aggregate.join, row, *other));
        match aggregate.function {
            AggregateFunction::CountDistinct => {
                let values: BTreeSet<_> = rows.map(|row| format!("{:?}", row.get(&aggregate.column))).collect();
                let nulls = usize::from(values.contains("Null"));
                Json::Number((values.len() - nulls).try_into().unwrap())
            }
            AggregateFunction::Lowest => {
                let rows = rows.filter(|row| search.is_none_or(|search| search.has(aggregate, *row)));
                let values = rows.map(|row| row.get(&aggregate.column)).filter(|value| !matches!(value, Cell::Null));
                values.min_by(|a, b| a.order(b)).map_or(Json::Null, |value| value.json(aggregate.scalar))
            }
        }
    }

    /// The row with the lowest key.
    fn first(&self, entity: EntityId, rows: impl Iterator<Item = Row<'a>>, sets: &[Set<'q>]) -> Json {
        let key = &self.catalog.entity(entity).key;
        let order = |a: &Row<'a>, b: &Row<'a>| {
            let mut orders = key.iter().map(|column| a.get(&column.name).order(b.get(&column.name)));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        rows.min_by(order).map_or(Json::Null, |row| self.object(entity.ty(), Some(row), sets))
    }

    fn arguments<'d>(&self, field: &'d FieldDefinition, selected: &Field<'_, String>) -> Arguments<'d> {
        let value = |definition: &'d orderql::catalog::schema::Argument| {
            let (_, value) = selected.arguments.iter().find(|(name, _)| *name == definition.name)?;
            let value = self.value(value).filter(|value| !value.is_null())?;
            Some((&definition.role, value))
        };
        Arguments(field.arguments.iter().filter_map(value).collect())
    }

    /// The page of a connection, at the root or below a row.
    fn page(&self, connection: &'a Connection, parent: Option<Row<'a>>, arguments: &Arguments<'_>) -> Page<'a> {
        let sort_key = arguments.text(ArgumentRole::SortKey);
        let sort_key = match sort_key {
            Some(name) => connection.sort_keys.iter().find(|key| key.name == name).unwrap(),
            None => &connection.sort_keys[0],
        };
        let reverse = arguments.get(ArgumentRole::Reverse) == Some(&Input::Bool(true));
        let search = arguments.text(ArgumentRole::Query).unwrap_or_default();
        let search = Rc::new(Search::parse(self.tables, connection, &search));
        let order = |a: &[&Cell], b: &[&Cell]| {
            // Nulls are last in both directions.
            let mut orders = a.iter().zip(b).map(|(a, b)| match a.compare(b) {
                Some(order) if reverse => order.reverse(),
                _ => a.order(b),
            });
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let position =
            |row: Row<'a>| -> Vec<&'a Cell> { sort_key.columns.iter().map(|column| row.get(&column.name)).collect() };
        let rows = self.tables.get(&connection.relation).all();
        let rows = rows.filter(|row| parent.is_none_or(|parent| is_joined(&connection.join, parent, *row)));
        let mut rows: Vec<_> = rows.filter(|row| search.matches(*row)).collect();
        rows.sort_by(|a, b| order(&position(*a), &position(*b)));
        let count_up_to = arguments.get(ArgumentRole::CountUpTo).map(|count| usize::try_from(count.as_u64().unwrap()));
        let count = count_up_to.map(|most| rows.len().min(most.unwrap()));

        let tag = if reverse { sort_key.tag.reversed() } else { sort_key.tag };
        let types: Vec<_> = connection.cursor_columns(sort_key).map(|column| column.scalar).collect();
        let cursor = |role| {
            let values = decode(&arguments.text(role)?, tag, &types).unwrap();
            Some(values.iter().map(|value| value.as_ref().map_or(Cell::Null, Cell::of)).collect::<Vec<_>>())
        };
        // What all rows of a parent have in common does not count, so that a cursor of another parent is a position here.
        let counts: Vec<_> = sort_key.columns.iter().map(|column| !connection.join.to.contains(&column.name)).collect();
        let counted = |cells: Vec<&'a Cell>| -> Vec<&'a Cell> {
            cells.into_iter().zip(&counts).filter(|(_, counts)| **counts).map(|(cell, _)| cell).collect()
        };
        let compared = |row: Row<'a>, cursor: &Option<Vec<Cell>>| {
            let cursor: Vec<_> = cursor.as_ref()?.iter().zip(&counts).filter(|(_, counts)| **counts).collect();
            Some(order(&counted(position(row)), &cursor.iter().map(|(cell, _)| *cell).collect::<Vec<_>>()))
        };
        let (after, before) = (cursor(ArgumentRole::After), cursor(ArgumentRole::Before));
        let is_before_page = |row: &Row<'a>| compared(*row, &after).is_some_and(Ordering::is_le);
        let is_after_page = |row: &Row<'a>| compared(*row, &before).is_some_and(Ordering::is_ge);
        let (mut has_previous, mut has_next) = (rows.iter().any(is_before_page), rows.iter().any(is_after_page));
        rows.retain(|row| !is_before_page(row) && !is_after_page(row));
        let size = |role| arguments.get(role).map(|size| usize::try_from(size.as_u64().unwrap()).unwrap());
        match (size(ArgumentRole::First), size(ArgumentRole::Last)) {
            (Some(first), None) => {
                has_next |= rows.len() > first;
                rows.truncate(first);
            }
            (None, Some(last)) => {
                has_previous |= rows.len() > last;
                rows.drain(..rows.len().saturating_sub(last));
            }
            sizes => panic!("the page sizes {sizes:?}"),
        }
        Page { connection, sort_key, reverse, search, rows, has_next, has_previous, count }
    }

    /// A connection's object.
    fn connection(&self, ty: TypeId, page: &Page<'a>, sets: &[Set<'q>]) -> Json {
        self.members(ty, sets, |binding, ty, sets| match binding {
            Binding::Connection(ConnectionField::Edges) => {
                Json::List(page.rows.iter().map(|row| self.edge(ty, page, *row, sets)).collect())
            }
            Binding::Connection(ConnectionField::PageInfo) => self.members(ty, sets, |binding, _, _| match binding {
                Binding::PageInfo(PageInfoField::HasNextPage) => Json::Boolean(page.has_next),
                Binding::PageInfo(PageInfoField::HasPreviousPage) => Json::Boolean(page.has_previous),
                Binding::PageInfo(PageInfoField::StartCursor) => page.cursor(page.rows.first()),
                Binding::PageInfo(PageInfoField::EndCursor) => page.cursor(page.rows.last()),
                other => panic!("{other:?} in pageInfo"),
            }),
            Binding::Connection(ConnectionField::Count) => {
                page.count.map_or(Json::Null, |count| Json::Number(count.try_into().unwrap()))
            }
            other => panic!("{other:?} in a connection"),
        })
    }

    fn edge(&self, ty: TypeId, page: &Page<'a>, row: Row<'a>, sets: &[Set<'q>]) -> Json {
        self.members(ty, sets, |binding, _, sets| match binding {
            Binding::Edge(EdgeField::Cursor) => page.cursor(Some(&row)),
            Binding::Edge(EdgeField::Node) => {
                self.search.replace(Some(Rc::clone(&page.search)));
                self.object(page.connection.node.ty(), Some(row), sets)
            }
            other => panic!("{other:?} in an edge"),
        })
    }

    /// An object whose fields are not columns.
    fn members(&self, ty: TypeId, sets: &[Set<'q>], value: impl Fn(Binding<'a>, TypeId, &[Set<'q>]) -> Json) -> Json {
        let definition = self.catalog.object(ty).unwrap();
        let fields = self.collect(sets).into_iter().map(|(key, fields)| {
            if fields[0].name == "__typename" {
                return (key.to_owned(), Json::Text(definition.name.clone()));
            }
            let (field, binding) = self.member(ty, &fields[0].name);
            let sets: Vec<_> = fields.iter().map(|field| &field.selection_set).collect();
            (key.to_owned(), value(binding, field.ty.named(), &sets))
        });
        Json::Object(fields.collect())
    }
}

impl Page<'_> {
    fn cursor(&self, row: Option<&Row<'_>>) -> Json {
        let Some(row) = row else { return Json::Null };
        let mut encoder = Encoder::default();
        encoder.begin(if self.reverse { self.sort_key.tag.reversed() } else { self.sort_key.tag });
        for column in self.connection.cursor_columns(self.sort_key) {
            match row.get(&column.name).stored(column) {
                None => encoder.null(),
                Some(Stored::Boolean(truth)) => encoder.boolean(truth),
                Some(Stored::Text(text)) => encoder.text(text.as_bytes()),
                Some(Stored::Int(number)) => encoder.int(number),
                Some(Stored::Numeric(number)) => encoder.numeric(number.as_binary()),
                Some(Stored::DateTime(moment)) => encoder.timestamp(moment),
                Some(Stored::Uuid(uuid)) => encoder.uuid(uuid),
                Some(Stored::Float(number)) => encoder.float(number),
                Some(Stored::Date(date)) => encoder.date(date),
                Some(Stored::Time(time)) => encoder.time(time),
                Some(Stored::Interval(interval)) => encoder.interval(interval),
                Some(Stored::Bytes(bytes)) => encoder.bytes(&bytes),
                Some(other) => panic!("{other:?} in a cursor"),
            }
        }
        let mut text = Vec::new();
        encoder.finish(&mut text);
        Json::Text(String::from_utf8(text).unwrap())
    }
}

fn is_joined(join: &Join, parent: Row<'_>, row: Row<'_>) -> bool {
    join.by.iter().zip(&join.to).all(|(by, to)| parent.get(&by.name).equals(row.get(to)))
        && join.where_null.as_ref().is_none_or(|column| matches!(row.get(column), Cell::Null))
}
