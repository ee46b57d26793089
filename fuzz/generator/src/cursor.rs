//! Cursors as the library makes them.

use orderql::catalog::connection::{Connection, SortKey};
use orderql::catalog::stored_type::StoredType;
use orderql::cursor::{Encoder, OrderingTag};
use orderql::value::Value;

/// A cursor: a position in an ordering, and in a nested connection the key of the parent.
#[derive(Debug, Clone)]
pub struct Cursor {
    /// The ordering.
    pub tag: OrderingTag,
    /// How the database stores its columns.
    pub columns: Vec<StoredType>,
    /// The values of the columns; `None` is a null.
    pub values: Vec<Option<Value>>,
}

impl Cursor {
    /// A position in the order of a connection's sort key.
    pub fn new(connection: &Connection, sort_key: &SortKey, reverse: bool, values: Vec<Option<Value>>) -> Self {
        let tag = if reverse { sort_key.tag.reversed() } else { sort_key.tag };
        Self { tag, columns: connection.cursor_columns(sort_key).map(|column| column.stored).collect(), values }
    }

    /// The opaque text.
    pub fn text(&self) -> String {
        let mut encoder = Encoder::default();
        encoder.begin(self.tag);
        for value in &self.values {
            match value {
                None => encoder.null(),
                Some(Value::Text(text)) => encoder.text(text.as_bytes()),
                Some(Value::Int(number)) => encoder.int(*number),
                // The encoder takes numbers as PostgreSQL sends them.
                Some(Value::Decimal(number)) => encoder.numeric(&numeric(number.mantissa(), number.scale())),
                Some(Value::Numeric(number)) => encoder.numeric(number.as_binary()),
                Some(Value::DateTime(moment)) => encoder.timestamp(*moment),
                Some(Value::Boolean(truth)) => encoder.boolean(*truth),
                Some(Value::Uuid(uuid)) => encoder.uuid(*uuid),
                Some(Value::Float(number)) => encoder.float(*number),
                Some(Value::Date(date)) => encoder.date(*date),
                Some(Value::Time(time)) => encoder.time(*time),
                Some(Value::Interval(interval)) => encoder.interval(*interval),
                Some(Value::Bytes(bytes)) => encoder.bytes(bytes),
            }
        }
        let mut text = Vec::new();
        encoder.finish(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// `mantissa / 10^scale` as a `numeric` in PostgreSQL's binary format.
pub fn numeric(mantissa: i128, scale: u32) -> Vec<u8> {
    // Digits in base 10,000 stand on both sides of the point, so the fraction is filled up to four places.
    let padding = (4 - scale % 4) % 4;
    let mut rest = mantissa.unsigned_abs() * 10_u128.pow(padding);
    let mut digits = Vec::new();
    while rest > 0 {
        digits.push(u16::try_from(rest % 10_000).unwrap_or_default());
        rest /= 10_000;
    }
    let fraction = i64::from((scale + padding) / 4);
    let weight = if digits.is_empty() { 0 } else { i64::try_from(digits.len()).unwrap_or_default() - 1 - fraction };
    let trailing = digits.iter().take_while(|digit| **digit == 0).count();
    let digits: Vec<u16> = digits.into_iter().skip(trailing).rev().collect();
    let sign: u16 = if mantissa < 0 { 0x4000 } else { 0 };
    let count = u16::try_from(digits.len()).unwrap_or_default();
    let weight = i16::try_from(weight).unwrap_or_default().cast_unsigned();
    let head = [count, weight, sign, u16::try_from(scale).unwrap_or_default()];
    head.into_iter().chain(digits).flat_map(u16::to_be_bytes).collect()
}
