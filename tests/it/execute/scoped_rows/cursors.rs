//! Cursors without what limits their rows.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::support::cursor::sealed_values;

/// The version of cursors of rows that no scope limits.
const PLAIN: u8 = 4;

/// The JSON with the values of every cursor in place of it.
pub fn unscoped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(cursor(&text).unwrap_or(text)),
        Value::Array(elements) => elements.into_iter().map(unscoped).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, unscoped(value))).collect(),
        other => other,
    }
}

fn cursor(text: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (bytes, _checksum) = bytes.split_last_chunk::<4>()?;
    let (head, values) = bytes.split_first_chunk::<5>()?;
    let mut values = if head[0] == PLAIN { values.to_vec() } else { sealed_values(bytes)? };
    // Sealed values are filled up with zeros.
    values.resize(values.len().next_multiple_of(128), 0);
    Some(format!("cursor {:?} {values:?}", &head[1..]))
}
