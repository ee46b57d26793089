//! Checks that all targets return the same data before they are measured.

use std::collections::BTreeMap;

use orderql::value::Timestamp;
use serde_json::Value;

use crate::error::{BenchError, Result};
use crate::keys::Keys;
use crate::targets::Target;
use crate::workload::Workload;

/// How many responses are compared.
const COMPARED: usize = 50;

/// Fields that differ between servers: cursors are opaque, and not all queries ask for the same page info.
const NOT_COMPARED: [&str; 3] = ["cursor", "pageInfo", "__typename"];

/// Compares the targets' responses for the first keys of a workload.
pub fn check(targets: &mut [Box<dyn Target + '_>], workload: Workload, keys: &Keys) -> Result<()> {
    let mut is_empty = true;
    for key in keys.of(workload).iter().take(COMPARED) {
        let mut expected = None;
        for target in &mut *targets {
            let Some(data) = target.data(workload, key)? else { continue };
            let mut scalars = BTreeMap::new();
            collect_scalars(&data, "data", &mut scalars);
            is_empty &= scalars.values().all(|value| value == "null");
            let (name, expected) = expected.get_or_insert_with(|| (target.name(), scalars.clone()));
            if *expected != scalars {
                let differs = |path: &&String| expected.get(*path) != scalars.get(*path);
                let path = expected.keys().chain(scalars.keys()).find(differs).map_or("data", String::as_str);
                let value = |scalars: &BTreeMap<String, String>| scalars.get(path).cloned().unwrap_or_default();
                return Err(BenchError::Mismatch(format!(
                    "{workload}, order {}: at {path}, {name} responds \"{}\" and {} \"{}\"",
                    key.order_id,
                    value(expected),
                    target.name(),
                    value(&scalars),
                )));
            }
        }
    }
    if is_empty {
        return Err(BenchError::Data(format!("{workload} finds nothing in the database")));
    }
    Ok(())
}

/// The scalars of a response by their paths, as [`normalize`] writes them.
fn collect_scalars(value: &Value, path: &str, scalars: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| !NOT_COMPARED.contains(&name.as_str())) {
                collect_scalars(value, &format!("{path}.{name}"), scalars);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect_scalars(value, &format!("{path}[{index}]"), scalars);
            }
        }
        Value::String(text) => {
            scalars.insert(path.to_owned(), normalize(text));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            scalars.insert(path.to_owned(), normalize(&value.to_string()));
        }
    }
}

/// Servers write timestamps and decimals in different ways: a timestamp becomes its microseconds, and a decimal loses its
/// trailing zeros.
fn normalize(text: &str) -> String {
    if text.contains('T')
        && let Ok(Timestamp(micros)) = Timestamp::parse(text)
    {
        return format!("{micros} µs");
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = digits.split('.').count() == 2 && digits.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
    if is_decimal { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
}
