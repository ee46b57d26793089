//! Whole tables in memory.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, EntityBinding, RootBinding};
use orderql::catalog::column::Column;
use orderql::catalog::schema::ObjectKind;
use orderql::catalog::stored_type::StoredType;
use orderql::value::{Date, Enumeration, Float, Interval, Numeric, ScalarType, TimeOfDay, Timestamp, Uuid, Value};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use tokio_postgres::Client;
use tokio_postgres::types::{FromSql, Type};

use crate::support::cursor::{numeric, unix_micros};
use crate::support::naive_resolver::json::Json;

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Null,
    Text(String),
    /// A text that spaces make as long as its column. They do not count.
    Padded(String),
    /// A number, and its digits as the database stores them.
    Number(Decimal, String),
    /// Microseconds since 1970, and the moment as text.
    Moment(i64, String),
    Truth(bool),
    /// A value of another type, and its text.
    Other(Value, String),
    /// A label of an enum of the database, which has these.
    Label(Enumeration, String),
    /// An array.
    Array(Json),
}

/// The rows of a relation.
#[derive(Debug)]
pub struct Table {
    columns: BTreeMap<String, usize>,
    pub rows: Vec<Vec<Cell>>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    table: &'a Table,
    pub cells: &'a [Cell],
}

/// All relations of a catalog.
pub struct Tables(BTreeMap<String, Table>);

impl Tables {
    /// Reads every relation that the catalog names.
    pub async fn read(client: &Client, catalog: &Catalog) -> Self {
        client.batch_execute("SET TimeZone = 'UTC'; SET IntervalStyle = 'iso_8601'").await.unwrap();
        let mut tables = BTreeMap::new();
        for relation in relations(catalog) {
            let table = Table::read(client, &relation).await;
            tables.insert(relation, table);
        }
        Self(tables)
    }

    pub fn get(&self, relation: &str) -> &Table {
        &self.0[relation]
    }
}

/// The relations that a catalog names.
fn relations(catalog: &Catalog) -> BTreeSet<String> {
    let mut relations = BTreeSet::new();
    for id in catalog.type_ids() {
        let Some(object) = catalog.object(id) else { continue };
        if let ObjectKind::Entity(id) = object.kind {
            relations.insert(catalog.entity(id).relation.clone());
        }
        for (_, binding) in catalog.fields_of(object) {
            match binding {
                Binding::Root(RootBinding::Connection(connection))
                | Binding::Entity(EntityBinding::Connection(connection)) => {
                    relations.insert(connection.relation.clone());
                    let joined = connection.search_keys.iter().filter_map(|key| key.semi_join.as_ref());
                    relations.extend(joined.map(|join| join.relation.clone()));
                }
                Binding::Root(RootBinding::Lookup(lookup)) => drop(relations.insert(lookup.relation.clone())),
                Binding::Entity(EntityBinding::Aggregate(aggregate)) => {
                    relations.insert(aggregate.relation.clone());
                }
                _ => {}
            }
        }
    }
    relations
}

impl Table {
    async fn read(client: &Client, relation: &str) -> Self {
        let path = relation.split('.').map(quoted).collect::<Vec<_>>().join(".");
        let columns = "WITH RECURSIVE type (domain, base) AS (
                SELECT oid, oid FROM pg_type
                UNION ALL SELECT domain, typbasetype FROM type JOIN pg_type ON oid = base WHERE typtype = 'd'
            )
            SELECT attname::text, base::regtype::text,
                (SELECT array_agg(enumlabel::text ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = base)
            FROM pg_attribute JOIN type ON domain = atttypid JOIN pg_type ON pg_type.oid = base AND typtype <> 'd'
            WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        let column = |row: &tokio_postgres::Row| (row.get(0), row.get(1), row.get(2));
        let columns: Vec<(String, String, Option<Vec<String>>)> =
            client.query(columns, &[&path]).await.unwrap().iter().map(column).collect();
        let selected: Vec<_> = columns
            .iter()
            .map(|(name, ty, _)| {
                let name = quoted(name);
                if is_moment(ty) {
                    format!(
                        "(extract(epoch FROM {name}::timestamp) * 1000000)::int8::text || ' ' || \
                         to_char({name}::timestamp, 'YYYY-MM-DD\"T\"HH24:MI:SS.US')"
                    )
                } else if is_array(ty) {
                    format!("to_json({name})::text")
                } else if ty == "bytea" {
                    format!("encode({name}, 'base64')")
                } else if ty == "character" {
                    // A cast to text would lose the spaces.
                    format!("CASE WHEN {name} IS NOT NULL THEN format('%s', {name}) END")
                } else {
                    format!("{name}::text")
                }
            })
            .collect();
        let rows = client.query(&format!("SELECT {} FROM {path}", selected.join(", ")), &[]).await.unwrap();
        let enums: Vec<_> = columns.iter().map(|(_, _, labels)| labels.as_deref().map(labels_of)).collect();
        let cell = |row: &tokio_postgres::Row, index: usize| match (row.get::<_, Option<String>>(index), enums[index]) {
            (None, _) => Cell::Null,
            (Some(text), Some(labels)) => Cell::Label(labels, text),
            (Some(text), None) => Cell::read(&columns[index].1, text),
        };
        let rows = rows.iter().map(|row| (0..columns.len()).map(|index| cell(row, index)).collect()).collect();
        let columns = columns.into_iter().enumerate().map(|(index, (name, _, _))| (name, index)).collect();
        Self { columns, rows }
    }

    /// All rows, in any order.
    pub fn all(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }
}

impl<'a> Row<'a> {
    pub fn get(self, column: &str) -> &'a Cell {
        &self.cells[self.table.columns[column]]
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// An enum with these labels.
fn labels_of(labels: &[String]) -> Enumeration {
    Enumeration::new(String::new(), labels.iter().map(|label| (label.clone(), label.clone())).collect())
}

const DAY: i64 = 86_400_000_000;
const DAYS_BEFORE_2000: i64 = 10_957;

/// The date of microseconds since 1970.
fn days(micros: i64) -> Date {
    Date(i32::try_from(micros.div_euclid(DAY) - DAYS_BEFORE_2000).unwrap())
}

fn is_array(ty: &str) -> bool {
    ty.ends_with("[]") || ty == "int2vector"
}

fn is_moment(ty: &str) -> bool {
    ty == "date" || ty.starts_with("timestamp")
}

impl Cell {
    fn read(ty: &str, text: String) -> Self {
        match ty {
            "smallint" | "integer" | "bigint" | "numeric" => Self::Number(text.parse().unwrap(), text),
            "double precision" => Self::Other(Value::Float(Float::parse(&text).unwrap()), text),
            "real" => Self::Other(Value::Float(Float::parse_single(&text).unwrap()), text),
            "time without time zone" => Self::Other(Value::Time(TimeOfDay::parse(&text).unwrap()), text),
            "bytea" => Self::Other(ScalarType::Bytes.parse(&text).unwrap(), text),
            "interval" => Self::Other(Value::Interval(Interval::parse(&text).unwrap()), text),
            array if is_array(array) => Self::Array(serde_json::from_str(&text).unwrap()),
            "boolean" => Self::Truth(text == "true"),
            "character" if text.ends_with(' ') => Self::Padded(text),
            _ if is_moment(ty) => {
                let (micros, moment) = text.split_once(' ').unwrap();
                let moment = moment.trim_end_matches('0').trim_end_matches('.');
                Self::Moment(micros.parse().unwrap(), format!("{moment}Z"))
            }
            _ => Self::Text(text),
        }
    }

    /// A value in the notation of search strings that a column is compared with.
    pub fn parse(column: &Column, text: &str) -> Self {
        match (column.stored, column.scalar) {
            (StoredType::Int2 | StoredType::Int4 | StoredType::Int8 | StoredType::Numeric, ScalarType::Id) => {
                Self::of(&ScalarType::Decimal.parse(text).unwrap())
            }
            (StoredType::Uuid, _) => Self::Text(text.to_lowercase()),
            (StoredType::Float4, _) => Self::of(&Value::Float(Float::parse_single(text).unwrap())),
            (_, scalar) => Self::of(&scalar.parse(text).unwrap()),
        }
    }

    /// The value as a cursor has it.
    pub fn stored(&self, column: &Column) -> Option<Value> {
        Some(match (self, column.stored) {
            (Self::Null, _) => return None,
            (Self::Text(text), StoredType::Boolean) => Value::Boolean(text == "Y"),
            (Self::Text(text), StoredType::Uuid) => Value::Uuid(Uuid::parse(text).unwrap()),
            (Self::Text(text) | Self::Padded(text) | Self::Label(_, text), _) => Value::Text(text.clone()),
            (Self::Number(number, _), StoredType::Int2 | StoredType::Int4 | StoredType::Int8) => {
                Value::Int(number.to_i64().unwrap())
            }
            (Self::Number(_, text), _) => Value::Numeric(Numeric::from_binary(&numeric(text)).unwrap()),
            (Self::Moment(micros, _), StoredType::Date) => Value::Date(days(*micros)),
            (Self::Other(value, _), _) => value.clone(),
            (Self::Array(array), _) => panic!("{array:?} in a cursor"),
            (Self::Moment(micros, _), _) => Value::DateTime(unix_micros(*micros)),
            (Self::Truth(truth), _) => Value::Boolean(*truth),
        })
    }

    /// A value that a client sent.
    pub fn of(value: &Value) -> Self {
        let number = |number: Decimal| Self::Number(number, number.to_string());
        match value {
            Value::Text(text) => Self::Text(text.clone()),
            Value::Int(int) => number((*int).into()),
            Value::Decimal(decimal) => number(*decimal),
            Value::Numeric(binary) => number(Decimal::from_sql(&Type::NUMERIC, binary.as_binary()).unwrap()),
            Value::DateTime(moment) => Self::Moment(moment.0 - Timestamp::UNIX_EPOCH.0, String::new()),
            Value::Boolean(truth) => Self::Truth(*truth),
            Value::Date(Date(days)) => Self::Moment((i64::from(*days) + DAYS_BEFORE_2000) * DAY, String::new()),
            Value::Float(_) | Value::Time(_) | Value::Interval(_) | Value::Bytes(_) => {
                Self::Other(value.clone(), String::new())
            }
            Value::Uuid(uuid) => Self::Text(uuid.to_string()),
        }
    }

    /// How values compare; `None` if one is null.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Null, _) | (_, Self::Null) => None,
            (Self::Text(own), Self::Text(other)) => Some(own.as_bytes().cmp(other.as_bytes())),
            (Self::Padded(own), Self::Padded(other) | Self::Text(other)) | (Self::Text(own), Self::Padded(other)) => {
                Some(own.trim_end_matches(' ').cmp(other.trim_end_matches(' ')))
            }
            // In the order of the declaration.
            (Self::Label(labels, own), Self::Label(_, other) | Self::Text(other))
            | (Self::Text(own), Self::Label(labels, other)) => {
                let position = |text: &str| labels.values().position(|(label, _)| label == text);
                Some(position(own).cmp(&position(other)))
            }
            (Self::Number(own, _), Self::Number(other, _)) => Some(own.cmp(other)),
            (Self::Moment(own, _), Self::Moment(other, _)) => Some(own.cmp(other)),
            (Self::Truth(own), Self::Truth(other)) => Some(own.cmp(other)),
            (Self::Other(own, _), Self::Other(other, _)) => Some(own.cmp(other)),
            // OFBiz stores truth values as letters.
            (Self::Text(own), Self::Truth(other)) => Some(own.as_str().cmp(if *other { "Y" } else { "N" })),
            (own, other) => panic!("{own:?} and {other:?} have different types"),
        }
    }

    /// Whether both are values, and equal.
    pub fn equals(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    /// The order of rows: nulls last.
    pub fn order(&self, other: &Self) -> Ordering {
        self.compare(other).unwrap_or_else(|| (*self == Self::Null).cmp(&(*other == Self::Null)))
    }

    /// The value of a field.
    pub fn json(&self, scalar: ScalarType) -> Json {
        match (scalar, self) {
            (_, Self::Null) => Json::Null,
            (ScalarType::Enum(enumeration), Self::Array(Json::List(elements))) => {
                let name = |element: &Json| match element {
                    Json::Text(text) => Json::Text(enumeration.name_of(text.as_bytes()).unwrap().to_owned()),
                    other => other.clone(),
                };
                Json::List(elements.iter().map(name).collect())
            }
            (_, Self::Array(array)) => array.clone(),
            (ScalarType::Json, Self::Text(text)) => serde_json::from_str(text).unwrap(),
            (ScalarType::Float, Self::Other(_, text)) => Json::Float(Float::parse(text).unwrap()),
            (ScalarType::Date, Self::Moment(_, text)) => Json::Text(text.split('T').next().unwrap().to_owned()),
            (ScalarType::Id | ScalarType::String | ScalarType::Uuid, Self::Text(text) | Self::Padded(text))
            | (ScalarType::Id | ScalarType::Decimal | ScalarType::BigInt, Self::Number(_, text))
            | (
                ScalarType::Decimal | ScalarType::Time | ScalarType::Interval | ScalarType::Bytes,
                Self::Other(_, text),
            )
            | (ScalarType::DateTime, Self::Moment(_, text)) => Json::Text(text.clone()),
            (ScalarType::Enum(enumeration), Self::Text(text) | Self::Label(_, text)) => {
                Json::Text(enumeration.name_of(text.as_bytes()).unwrap().to_owned())
            }
            (ScalarType::Int, Self::Number(number, _)) => Json::Number(number.normalize().to_string().parse().unwrap()),
            (ScalarType::Boolean, Self::Truth(truth)) => Json::Boolean(*truth),
            (ScalarType::Boolean, Self::Text(text)) if text == "Y" || text == "N" => Json::Boolean(text == "Y"),
            (scalar, cell) => panic!("{cell:?} is no {scalar}"),
        }
    }
}
