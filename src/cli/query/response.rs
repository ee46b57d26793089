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
