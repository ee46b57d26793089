//! Timestamps, flags and cursors, which async-graphql lacks or writes in another way.

use async_graphql::connection::CursorType;
use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

/// A timestamp in UTC, with a trailing Z.
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

/// A flag, which is a letter in the tables.
pub fn flag(letter: Option<&str>) -> Option<bool> {
    match letter {
        Some("Y") => Some(true),
        Some("N") => Some(false),
        _ => None,
    }
}

/// The position of an order among all orders by date.
#[derive(Debug, Clone)]
pub struct OrderCursor {
    pub date: Option<OffsetDateTime>,
    pub order_id: String,
}

/// The text is not a cursor of orders.
#[derive(Debug, thiserror::Error)]
#[error("not a cursor of this connection")]
pub struct BadCursor;

impl CursorType for OrderCursor {
    type Error = BadCursor;

    fn decode_cursor(text: &str) -> Result<Self, BadCursor> {
        let (date, order_id) = text.split_once(':').ok_or(BadCursor)?;
        let date = match date {
            "" => None,
            nanos => {
                let nanos = nanos.parse().map_err(|_| BadCursor)?;
                Some(OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|_| BadCursor)?)
            }
        };
        Ok(Self { date, order_id: order_id.to_owned() })
    }

    fn encode_cursor(&self) -> String {
        match self.date {
            Some(date) => format!("{}:{}", date.unix_timestamp_nanos(), self.order_id),
            None => format!(":{}", self.order_id),
        }
    }
}
