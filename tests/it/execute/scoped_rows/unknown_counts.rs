//! Counts that are null because their window ended before their rows.

use serde_json::Value;

/// Makes a count null that the narrow window of the caller did not find and the wide one of the role did. Returns how many there are.
pub fn leave_out(query: &str, scoped: &Value, protected: &mut Value) -> usize {
    leave_out_of(&response_keys(query), scoped, protected)
}

fn leave_out_of(counts: &[&str], scoped: &Value, protected: &mut Value) -> usize {
    match (scoped, protected) {
        (Value::Array(scoped), Value::Array(protected)) => {
            scoped.iter().zip(protected).map(|(scoped, protected)| leave_out_of(counts, scoped, protected)).sum()
        }
        (Value::Object(scoped), Value::Object(protected)) => {
            let pairs = protected.iter_mut().filter_map(|(key, protected)| Some((key, scoped.get(key)?, protected)));
            pairs
                .map(|(key, scoped, protected)| {
                    let is_unknown = scoped.is_null() && protected.is_number() && counts.contains(&key.as_str());
                    if is_unknown {
                        *protected = Value::Null;
                    }
                    usize::from(is_unknown) + leave_out_of(counts, scoped, protected)
                })
                .sum()
        }
        _ => 0,
    }
}

/// The response keys of the field `count`.
fn response_keys(query: &str) -> Vec<&str> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let aliases = query.split(':').zip(query.split(':').skip(1)).filter_map(|(before, after)| {
        let field = after.trim_start().split(|character| !is_name(character)).next();
        (field == Some("count")).then(|| before.trim_end().rsplit(|character| !is_name(character)).next()).flatten()
    });
    aliases.chain(["count"]).collect()
}

#[test]
fn only_counts_may_be_unknown() {
    let query = "{ orders(first: 1) { a: count count b : orderCount edges { c : cursor } } }";
    assert_eq!(response_keys(query), ["a", "count"]);
    let scoped = serde_json::json!({ "orders": [{ "a": null, "b": null, "count": 1 }] });
    let mut protected = serde_json::json!({ "orders": [{ "a": 2, "b": 3, "count": 4 }] });
    assert_eq!(leave_out(query, &scoped, &mut protected), 1);
    assert_eq!(protected, serde_json::json!({ "orders": [{ "a": null, "b": 3, "count": 4 }] }));
}
