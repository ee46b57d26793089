//! Random queries on PostgreSQL: every statement runs, and every response has the selected keys in the query's order, with
//! nulls only in nullable fields.

use std::fmt;

use orderql::catalog::Catalog;
use orderql::catalog::binding::Binding;
use orderql::catalog::ids::TypeId;
use orderql::catalog::schema::Field;
use orderql::value::ScalarType;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::support::database::loaded_database;
use crate::support::query_runner::QueryRunner;
use crate::support::random::Random;
use crate::support::random_query::generator::{random_query, scalar};
use crate::support::random_query::query::{Item, Query, Selected};

const QUERIES: u64 = 1500;

#[tokio::test]
async fn every_response_has_the_shape_of_its_query() {
    let database = loaded_database().await;
    let runner = QueryRunner::new(&database);
    let (mut rows, mut statements) = (0, 0);
    for seed in 0..QUERIES {
        let mut query = random_query(runner.catalog(), seed);
        if seed % 3 == 0 {
            // With larger pages, and with texts that would break a statement that contained them.
            query.change_values(&mut Random(seed));
        }
        let request = query.request();
        let result = runner.run(&request.query, request.variables).await;
        let text = &result.text;
        let data: Json = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let shape = Shape { catalog: runner.catalog(), query: &query };
        if let Err(error) = shape.check_object(&data, runner.catalog().query(), &[&query.items]) {
            panic!("{error}\n{seed}: {}\n{text}", request.query);
        }
        assert!(result.actual_cost() <= result.compiled.estimate.cost(), "{}", request.query);
        assert_eq!(result.nullability_violations, 0, "{}", request.query);
        rows += result.rows.iter().sum::<u64>();
        statements += result.rows.len();
    }
    assert!(rows > 2000 && statements > 1000, "{rows} rows of {statements} statements");
}

/// JSON whose objects retain their order and their repeated keys.
enum Json {
    Null,
    Boolean,
    Number,
    Text,
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// The expected shape of a response.
struct Shape<'a> {
    catalog: &'a Catalog,
    query: &'a Query,
}

impl<'a> Shape<'a> {
    /// The selected fields in order, merged by response key.
    fn collect(&self, sets: &[&'a Vec<Item>]) -> Vec<(&'a str, Vec<&'a Selected>)> {
        let mut collected: Vec<(&str, Vec<&Selected>)> = Vec::new();
        for set in sets {
            self.add(set, &mut collected);
        }
        collected
    }

    fn add(&self, items: &'a [Item], collected: &mut Vec<(&'a str, Vec<&'a Selected>)>) {
        for item in items {
            let (Item::Field(Selected { guard, .. }) | Item::Inline { guard, .. } | Item::Spread { guard, .. }) = item;
            if guard.as_ref().is_some_and(|guard| !guard.selects()) {
                continue;
            }
            match item {
                Item::Inline { items, .. } => self.add(items, collected),
                Item::Spread { fragment, .. } => self.add(&self.query.fragments[*fragment].1, collected),
                Item::Field(field) => match collected.iter_mut().find(|(key, _)| *key == field.key()) {
                    Some((_, fields)) => fields.push(field),
                    None => collected.push((field.key(), vec![field])),
                },
            }
        }
    }

    /// Checks an object of a response against selection sets of that type.
    fn check_object(&self, value: &Json, object: TypeId, sets: &[&'a Vec<Item>]) -> Result<(), String> {
        let Json::Object(fields) = value else { return Err("not an object".to_owned()) };
        let selected = self.collect(sets);
        let keys: Vec<_> = fields.iter().map(|(key, _)| key.as_str()).collect();
        let expected: Vec<_> = selected.iter().map(|(key, _)| *key).collect();
        if keys != expected {
            return Err(format!("{keys:?} of {}, not {expected:?}", self.catalog.get(object).name()));
        }
        for ((key, value), (_, fields)) in fields.iter().zip(&selected) {
            match fields[0].field {
                None => matches!(value, Json::Text).then_some(()).ok_or("__typename is not a text")?,
                Some(id) => {
                    self.check_field(value, self.catalog.field(id), fields)
                        .map_err(|error| format!("{key}: {error}"))?;
                }
            }
        }
        Ok(())
    }

    fn check_field(&self, value: &Json, field: &Field, selected: &[&'a Selected]) -> Result<(), String> {
        if matches!(value, Json::Null) {
            return if field.ty.is_non_null() { Err("null".to_owned()) } else { Ok(()) };
        }
        let sets: Vec<_> = selected.iter().map(|field| &field.items).collect();
        let named = field.ty.named();
        match &field.binding {
            Binding::Edges => {
                let Json::List(edges) = value else { return Err("edges are not a list".to_owned()) };
                edges.iter().try_for_each(|edge| self.check_object(edge, named, &sets))
            }
            Binding::One(_) | Binding::Connection(_) | Binding::Lookup(_) | Binding::Node | Binding::PageInfo => {
                self.check_object(value, named, &sets)
            }
            Binding::Column(_) | Binding::Aggregate(_) | Binding::Cursor | Binding::PageInfoField(_) => {
                let has_type = match scalar(self.catalog, field) {
                    Some(ScalarType::Int) => matches!(value, Json::Number),
                    Some(ScalarType::Boolean) => matches!(value, Json::Boolean),
                    Some(_) => matches!(value, Json::Text),
                    None => false,
                };
                if has_type { Ok(()) } else { Err(format!("not {}", field.ty.display(self.catalog))) }
            }
            Binding::Introspection(_) => Err("the queries contain no introspection".to_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
                Ok(Json::Boolean)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
                Ok(Json::Number)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
                Ok(Json::Number)
            }

            fn visit_str<E>(self, _: &str) -> Result<Json, E> {
                Ok(Json::Text)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    elements.push(element);
                }
                Ok(Json::List(elements))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Json::Object(fields))
            }
        }

        from.deserialize_any(Reader)
    }
}
