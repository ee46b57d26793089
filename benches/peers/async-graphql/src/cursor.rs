//! Where a page begins: the keys of the row before it.

use async_graphql::connection::CursorType;
use time::OffsetDateTime;

/// A row among orders by date.
#[derive(Debug, Clone)]
pub struct OrderCursor {
    pub date: Option<OffsetDateTime>,
    pub order_id: String,
}

/// A text that is no cursor of the connection.
#[derive(Debug, thiserror::Error)]
#[error("not a cursor of this connection")]
pub struct NotACursor;

impl CursorType for OrderCursor {
    type Error = NotACursor;

    fn decode_cursor(text: &str) -> Result<Self, NotACursor> {
        let (date, order_id) = text.split_once(':').ok_or(NotACursor)?;
        let date = match date {
            "" => None,
            nanos => {
                let nanos = nanos.parse().map_err(|_| NotACursor)?;
                Some(OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|_| NotACursor)?)
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
