//! The members of a request's JSON that count, with values of any type. They are read without the object around them, which nobody needs.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A body by its kind of JSON value.
pub(super) enum Body {
    Object(Members),
    List,
    Other,
}

/// The values as they were sent. Of members with the same name the last one counts.
#[derive(Default)]
pub(super) struct Members {
    pub(super) query: Option<Value>,
    pub(super) operation_name: Option<Value>,
    pub(super) variables: Option<Value>,
    pub(super) extensions: Option<Value>,
}

/// A member's key.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Query,
    OperationName,
    Variables,
    Extensions,
    #[serde(other)]
    Other,
}

impl Members {
    /// The member with this name, if it counts.
    pub(super) fn named(&mut self, name: &str) -> Option<&mut Option<Value>> {
        match name {
            "query" => Some(&mut self.query),
            "operationName" => Some(&mut self.operation_name),
            "variables" => Some(&mut self.variables),
            "extensions" => Some(&mut self.extensions),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BodyVisitor)
    }
}

struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = Body;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body, A::Error> {
        let mut members = Members::default();
        while let Some(key) = map.next_key()? {
            // Other members are checked as closely as these, and so count as JSON or not for every reader of it.
            let value = Some(map.next_value()?);
            match key {
                Key::Query => members.query = value,
                Key::OperationName => members.operation_name = value,
                Key::Variables => members.variables = value,
                Key::Extensions => members.extensions = value,
                Key::Other => {}
            }
        }
        Ok(Body::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Body, A::Error> {
        while list.next_element::<Value>()?.is_some() {}
        Ok(Body::List)
    }

    fn visit_unit<E>(self) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Body, E> {
        Ok(Body::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Body, E> {
        Ok(Body::Other)
    }
}
