//! JSON whose objects retain their order and their repeated keys.

use std::fmt;

use orderql::value::Float;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    Null,
    Boolean(bool),
    Number(i64),
    /// A number with a fraction or exponent.
    Float(Float),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The first place at which two values differ, with what is there.
    pub fn difference(&self, other: &Self) -> Option<String> {
        match (self, other) {
            (Self::List(own), Self::List(others)) if own.len() == others.len() => {
                let mut pairs = own.iter().zip(others).enumerate();
                pairs.find_map(|(index, (own, other))| Some(format!("{index}.{}", own.difference(other)?)))
            }
            (Self::Object(own), Self::Object(others)) if keys(own) == keys(others) => {
                let mut pairs = own.iter().zip(others);
                pairs.find_map(|((key, own), (_, other))| Some(format!("{key}.{}", own.difference(other)?)))
            }
            _ if self == other => None,
            _ => Some(format!(" {self:?}\nnot {other:?}")),
        }
    }
}

fn keys(fields: &[(String, Json)]) -> Vec<&String> {
    fields.iter().map(|(key, _)| key).collect()
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

            fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
                Ok(Json::Boolean(truth))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
                Ok(Json::Number(number))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Json, E> {
                i64::try_from(number).map(Json::Number).map_err(E::custom)
            }

            fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
                Ok(Json::Float(Float::new(number)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(Json::Text(text.to_owned()))
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
