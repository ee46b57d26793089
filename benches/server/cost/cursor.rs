//! Cursors that are made from a row's values, without a request.

use bytes::BytesMut;
use orderql::catalog::column::Column;
use orderql::catalog::connection::SortKey;
use orderql::cursor::Encoder;
use orderql::value::{ScalarType, Timestamp};
use rust_decimal::Decimal;
use tokio_postgres::types::{ToSql, Type};

/// The cursor of a row in an order; `text` gives the text of the row's columns, `None` where one is null.
pub fn cursor(sort_key: &SortKey, is_reversed: bool, text: impl Fn(&Column) -> Option<String>) -> String {
    let mut encoder = Encoder::default();
    encoder.begin(if is_reversed { sort_key.tag.reversed() } else { sort_key.tag });
    for column in &sort_key.columns {
        match (text(column), column.scalar) {
            (Some(text), ScalarType::Id | ScalarType::String | ScalarType::Enum(_)) => encoder.text(text.as_bytes()),
            (Some(text), ScalarType::Int) => encoder.int(text.parse().unwrap_or_default()),
            (Some(text), ScalarType::Decimal) => encoder.numeric(&numeric(&text)),
            (Some(text), ScalarType::DateTime) => {
                encoder.timestamp(Timestamp::parse(&text).unwrap_or(Timestamp(0)));
            }
            (Some(text), ScalarType::Boolean) => encoder.boolean(matches!(text.as_str(), "Y" | "true")),
            // The built-in schema has no other types.
            _ => encoder.null(),
        }
    }
    let mut cursor = Vec::new();
    encoder.finish(&mut cursor);
    String::from_utf8_lossy(&cursor).into_owned()
}

/// A `numeric` in PostgreSQL's binary format.
fn numeric(text: &str) -> BytesMut {
    let mut binary = BytesMut::new();
    // Every decimal can be written.
    let _ = text.parse::<Decimal>().unwrap_or_default().to_sql(&Type::NUMERIC, &mut binary);
    binary
}
