//! `cursor`: the first byte chooses an ordering; the rest is the text of a cursor, or the bytes inside one, which are given the
//! version, tag and checksum that they need.
//!
//! - A cursor that is decoded has its ordering's number of values, each of its type, and is encoded to the same text.
//! - A cursor of one ordering is never one of another.
//! - Memory grows with the text's length at most.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orderql::cursor::{BadCursor, Encoder, OrderingTag, decode};
use orderql::value::{ScalarType, Value};

use crate::support::allocation::{Allowance, within};
use crate::support::input::choice;

const ALLOWANCE: Allowance = Allowance { per_byte: 8, constant: 1000 };

/// Orderings: the path of a connection, a sort key, and the types of its columns.
const ORDERINGS: [(&str, &str, &[ScalarType]); 6] = [
    ("orders", "ORDER_DATE", &[ScalarType::DateTime, ScalarType::Id]),
    ("Order.orderItems", "ITEM_SEQ", &[ScalarType::Id, ScalarType::String]),
    ("inventory", "TOTAL", &[ScalarType::Decimal, ScalarType::Int]),
    ("things", "ENABLED", &[ScalarType::Boolean, ScalarType::Id]),
    ("counts", "COUNT", &[ScalarType::Int, ScalarType::Boolean, ScalarType::DateTime]),
    ("none", "NONE", &[]),
];

/// Runs the target.
pub fn run(data: &[u8]) {
    let (first, rest) = choice(data);
    let (index, is_inside) = (first / 2 % ORDERINGS.len(), first % 2 == 1);
    let text = if is_inside {
        check_seal(index);
        sealed(index, rest)
    } else {
        let Ok(text) = str::from_utf8(rest) else { return };
        text.to_owned()
    };
    for (other, (connection, sort_key, types)) in ORDERINGS.into_iter().enumerate() {
        let tag = OrderingTag::new(connection, sort_key);
        match within(ALLOWANCE, text.len(), || decode(&text, tag, types)) {
            Ok(values) => {
                assert!(!is_inside || other == index, "a cursor of another ordering");
                assert_eq!(encoded(tag, types, &values), text, "{values:?}");
                assert_eq!(decode(&text, tag.reversed(), types), Err(BadCursor::OtherOrdering));
            }
            Err(BadCursor::OtherOrdering) => assert!(!is_inside || other != index),
            Err(BadCursor::Unreadable | BadCursor::OtherScope) => {}
            Err(BadCursor::OtherParent) => panic!("whose rows a cursor is among is not known here"),
        }
    }
}

fn encoded(tag: OrderingTag, types: &[ScalarType], values: &[Option<Value>]) -> String {
    assert_eq!(values.len(), types.len());
    let mut encoder = Encoder::default();
    encoder.begin(tag);
    for (value, scalar) in values.iter().zip(types) {
        let is_of_type = match value {
            None => true,
            Some(Value::Text(_)) => matches!(scalar, ScalarType::Id | ScalarType::String),
            Some(Value::Int(_)) => matches!(scalar, ScalarType::Id | ScalarType::Int | ScalarType::BigInt),
            Some(Value::Numeric(_)) => matches!(scalar, ScalarType::Id | ScalarType::Int | ScalarType::Decimal),
            Some(Value::DateTime(_)) => *scalar == ScalarType::DateTime,
            Some(Value::Boolean(_)) => *scalar == ScalarType::Boolean,
            Some(Value::Uuid(_)) => matches!(scalar, ScalarType::Id | ScalarType::Uuid),
            Some(Value::Float(_)) => *scalar == ScalarType::Float,
            Some(Value::Date(_)) => *scalar == ScalarType::Date,
            Some(Value::Time(_)) => *scalar == ScalarType::Time,
            Some(Value::Interval(_)) => *scalar == ScalarType::Interval,
            Some(Value::Bytes(_)) => *scalar == ScalarType::Bytes,
            Some(Value::Decimal(_)) => false,
        };
        assert!(is_of_type, "{value:?} is no {scalar}");
        match value {
            None => encoder.null(),
            Some(Value::Text(text)) => encoder.text(text.as_bytes()),
            Some(Value::Int(number)) => encoder.int(*number),
            Some(Value::Numeric(number)) => encoder.numeric(number.as_binary()),
            Some(Value::DateTime(moment)) => encoder.timestamp(*moment),
            Some(Value::Boolean(truth)) => encoder.boolean(*truth),
            Some(Value::Uuid(uuid)) => encoder.uuid(*uuid),
            Some(Value::Float(number)) => encoder.float(*number),
            Some(Value::Date(date)) => encoder.date(*date),
            Some(Value::Time(time)) => encoder.time(*time),
            Some(Value::Interval(interval)) => encoder.interval(*interval),
            Some(Value::Bytes(bytes)) => encoder.bytes(bytes),
            Some(Value::Decimal(number)) => panic!("{number} in a cursor"),
        }
    }
    let mut out = Vec::new();
    encoder.finish(&mut out);
    String::from_utf8(out).expect("cursors are ASCII")
}

/// The text of a cursor of an ordering with these bytes inside.
fn sealed(index: usize, content: &[u8]) -> String {
    let (connection, sort_key, _) = ORDERINGS[index];
    let empty = encoded(OrderingTag::new(connection, sort_key), &[], &[]);
    let empty = URL_SAFE_NO_PAD.decode(empty).expect("a cursor is base64");
    let (head, _) = empty.split_last_chunk::<4>().expect("a cursor has a checksum");
    let bytes = [head, content].concat();
    URL_SAFE_NO_PAD.encode([&bytes[..], &hash(&bytes).to_be_bytes()].concat())
}

/// What this target seals has to be what the library seals: otherwise the bytes inside are never read.
fn check_seal(index: usize) {
    let (connection, sort_key, types) = ORDERINGS[index];
    let nulls = encoded(OrderingTag::new(connection, sort_key), types, &vec![None; types.len()]);
    let bytes = URL_SAFE_NO_PAD.decode(&nulls).expect("a cursor is base64");
    assert_eq!(sealed(index, &bytes[5..bytes.len() - 4]), nulls);
}

/// FNV-1a, 32 bits.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
