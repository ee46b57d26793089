//! The members of a request's JSON that count, with values of any type. They are read without the object around them, which nobody needs.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::http::endpoint::graphql::request_envelope::{EnvelopeError, GraphqlRequest, PERSISTED_QUERY};
use crate::query::Variables;

/// A body by its kind of JSON value.
pub(super) enum Body {
    Object(Members),
    List,
    Other,
}

/// The values as they were sent. Of members with the same name the last one counts.
#[derive(Default)]
pub(super) struct Members {
    query: Option<Value>,
    operation_name: Option<Value>,
    variables: Option<Value>,
    extensions: Option<Value>,
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

    /// The request, if all members have the right types.
    pub(super) fn into_request(self) -> Result<GraphqlRequest, EnvelopeError> {
        let extensions = match self.extensions {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(extensions)) => extensions,
            Some(_) => return Err(EnvelopeError::ObjectType("extensions")),
        };
        let query = match self.query {
            None => None,
            Some(Value::String(query)) => Some(query),
            Some(Value::Null) if extensions.contains_key(PERSISTED_QUERY) => None,
            Some(_) => return Err(EnvelopeError::QueryType),
        };
        let operation_name = match self.operation_name {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err(EnvelopeError::OperationNameType),
        };
        let variables = match self.variables {
            None | Some(Value::Null) => Variables::new(),
            Some(Value::Object(variables)) => variables,
            Some(_) => return Err(EnvelopeError::ObjectType("variables")),
        };
        Ok(GraphqlRequest { query, operation_name, variables, extensions })
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
