//! Whether all who answer answer the same, before anybody is measured.

use std::rc::Rc;

use orderql::value::Timestamp;
use serde_json::{Map, Value};

use crate::contestant::Contestant;
use crate::keys::Keys;
use crate::measure::Fault;
use crate::workload::Workload;

/// What each server calls as it likes: cursors are its own, and what else is told of a page is not asked of all.
const NOT_COMPARED: [&str; 3] = ["cursor", "pageInfo", "__typename"];

/// Compares the contestants' answers to the first keys of a workload with those of the first contestant.
pub fn compare(
    contestants: &mut [&mut dyn Contestant],
    workload: Workload,
    keys: &Rc<Keys>,
    count: usize,
) -> Result<(), Fault> {
    let Some((first, others)) = contestants.split_first_mut() else { return Ok(()) };
    let keys = if workload.is_of_one_order() { &keys.orders } else { &keys.places };
    let mut is_empty = true;
    for key in keys.iter().take(count) {
        let Some(ours) = first.answer(workload, key)? else { return Ok(()) };
        let ours = normal(ours);
        is_empty = is_empty && !has_values(&ours);
        for other in others.iter_mut() {
            let Some(theirs) = other.answer(workload, key)? else { continue };
            let theirs = normal(theirs);
            if ours != theirs {
                let place = difference(&ours, &theirs, "data".to_owned()).unwrap_or_default();
                return Err(Fault::Unequal(format!(
                    "{workload} for order {}: {} and {} answer differently at {place}\n{}: {ours}\n{}: {theirs}",
                    key.order,
                    first.name(),
                    other.name(),
                    first.name(),
                    other.name(),
                )));
            }
        }
    }
    if is_empty {
        return Err(Fault::Data(format!("{workload} finds nothing in the database")));
    }
    Ok(())
}

/// An answer without what may lawfully differ: how timestamps and numbers are written.
fn normal(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, normal(value))).collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(normal).collect()),
        Value::String(text) => Value::String(normal_text(text)),
        Value::Number(number) => Value::String(normal_text(number.to_string())),
        other => other,
    }
}

/// A timestamp as microseconds, a decimal without zeros at its end, any other text as it is.
fn normal_text(text: String) -> String {
    if text.contains('T')
        && let Some(Timestamp(micros)) = Timestamp::parse(&text)
    {
        return format!("{micros} µs");
    }
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let is_decimal = digits.split('.').count() == 2 && digits.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
    if is_decimal { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn has_values(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().any(has_values),
        Value::Array(values) => values.iter().any(has_values),
        Value::Null => false,
        _ => true,
    }
}

/// Where two values differ first.
fn difference(left: &Value, right: &Value, path: String) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
            left.iter().find_map(|(name, value)| match right.get(name) {
                Some(other) => difference(value, other, format!("{path}.{name}")),
                None => Some(format!("{path}.{name}")),
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            pairs.into_iter().find_map(|(place, (left, right))| difference(left, right, format!("{path}[{place}]")))
        }
        _ => (left != right).then_some(path),
    }
}
