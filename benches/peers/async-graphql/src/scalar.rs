//! Scalars that async-graphql lacks or writes otherwise.

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// A moment, in UTC with a trailing Z.
#[derive(Debug, Clone, Copy)]
pub struct DateTime(pub OffsetDateTime);

#[Scalar]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        match &value {
            Value::String(text) => Ok(Self(OffsetDateTime::parse(text, &Rfc3339)?)),
            _ => Err(InputValueError::expected_type(value)),
        }
    }

    fn to_value(&self) -> Value {
        self.0.to_offset(UtcOffset::UTC).format(&Rfc3339).map_or(Value::Null, Value::String)
    }
}

/// A flag, which the tables hold as a letter.
pub fn flag(letter: Option<&str>) -> Option<bool> {
    match letter {
        Some("Y") => Some(true),
        Some("N") => Some(false),
        _ => None,
    }
}
