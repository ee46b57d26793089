//! A response as it was sent: the fields of objects in the query's order.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A JSON value that keeps the order of its objects' fields.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Ordered {
    Object(Fields),
    List(Vec<Ordered>),
    Scalar(Value),
}

/// The fields of an object.
pub(crate) type Fields = IndexMap<String, Ordered>;

impl Ordered {
    /// A field's value.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    pub(crate) fn as_object(&self) -> Option<&Fields> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    /// The fields of an object, to change them.
    pub(crate) fn as_object_mut(&mut self) -> Option<&mut Fields> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    /// A field's value, to change it.
    pub(crate) fn field_mut(&mut self, name: &str) -> Option<&mut Self> {
        self.as_object_mut()?.get_mut(name)
    }

    /// Sets a field of an object.
    pub(crate) fn set(&mut self, name: &str, value: Self) {
        if let Some(fields) = self.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    }

    /// The values of a list; none if it is something else.
    pub(crate) fn values(&self) -> &[Self] {
        if let Self::List(values) = self { values } else { &[] }
    }

    /// The value without an order.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Object(fields) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), value.to_value())).collect())
            }
            Self::List(values) => values.iter().map(Self::to_value).collect(),
            Self::Scalar(value) => value.clone(),
        }
    }
}
