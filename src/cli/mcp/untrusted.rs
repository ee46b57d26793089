//! Text that people outside wrote: notes, gift messages, names. It stays a value of the data, and a long one is cut, which is seen.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::cli::query::response::Ordered;
use crate::outline::typed_paths::DataPath;

/// The characters of a text.
const MAX_CHARACTERS: usize = 500;

/// The paths of all strings of the data, for a query whose selections are not known.
pub(super) fn strings(data: &Ordered) -> BTreeSet<DataPath> {
    let mut found = BTreeSet::new();
    add_strings(data, &mut Vec::new(), &mut found);
    found
}

fn add_strings(value: &Ordered, path: &mut DataPath, found: &mut BTreeSet<DataPath>) {
    let mut add = |name: &str, value: &Ordered| {
        path.push(name.to_owned());
        add_strings(value, path, found);
        path.pop();
    };
    match value {
        Ordered::Object(fields) => fields.iter().for_each(|(name, field)| add(name, field)),
        Ordered::List(values) => values.iter().for_each(|value| add("*", value)),
        Ordered::Scalar(Value::String(_)) => {
            found.insert(path.clone());
        }
        Ordered::Scalar(_) => {}
    }
}

/// Cuts long texts at these paths of the data.
pub(super) fn cut(data: &mut Ordered, paths: &BTreeSet<DataPath>) {
    for path in paths {
        cut_at(data, path);
    }
}

fn cut_at(value: &mut Ordered, path: &[String]) {
    match (value, path.split_first()) {
        (Ordered::Object(fields), Some((name, rest))) => {
            if let Some(field) = fields.get_mut(name) {
                cut_at(field, rest);
            }
        }
        (Ordered::List(values), Some((_, rest))) => values.iter_mut().for_each(|value| cut_at(value, rest)),
        // JSON that people outside wrote.
        (Ordered::Object(fields), None) => fields.values_mut().for_each(|value| cut_at(value, path)),
        (Ordered::List(values), None) => values.iter_mut().for_each(|value| cut_at(value, path)),
        (Ordered::Scalar(Value::String(text)), None) => {
            if let Some((end, _)) = text.char_indices().nth(MAX_CHARACTERS) {
                let more = text[end..].chars().count();
                text.truncate(end);
                // Writing to a string cannot fail.
                let _ = write!(text, " … [{more} more characters are cut]");
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_strings_are_found() {
        let data = serde_json::from_str(r#"{"a": [{"b": "x"}, {"b": 1, "c": ["y"]}], "d": "z"}"#).unwrap();
        let found: Vec<_> = strings(&data).iter().map(|path| path.join("/")).collect();
        assert_eq!(found, ["a/*/b", "a/*/c/*", "d"]);
    }

    #[test]
    fn long_texts_are_cut_visibly_and_nothing_else_is() {
        let long = "é".repeat(600);
        let json = format!(r#"{{"a": [{{"b": "{long}", "c": "{long}"}}, {{"b": null}}, {{"b": "short"}}]}}"#);
        let mut data: Ordered = serde_json::from_str(&json).unwrap();
        let path = ["a", "*", "b"].map(str::to_owned).to_vec();
        cut(&mut data, &BTreeSet::from([path]));
        let data = data.to_value();
        assert_eq!(data["a"][0]["b"], format!("{} … [100 more characters are cut]", "é".repeat(500)));
        assert_eq!((&data["a"][0]["c"], &data["a"][2]["b"]), (&Value::from(long), &Value::from("short")));
    }

    #[test]
    fn long_texts_within_json_are_cut() {
        let long = "x".repeat(501);
        let mut data: Ordered =
            serde_json::from_str(&format!(r#"{{"j": {{"a": ["{long}", {{"b": "{long}"}}]}}}}"#)).unwrap();
        cut(&mut data, &BTreeSet::from([vec!["j".to_owned()]]));
        let data = data.to_value();
        let cut = format!("{} … [1 more characters are cut]", "x".repeat(500));
        assert_eq!((&data["j"]["a"][0], &data["j"]["a"][1]["b"]), (&Value::from(cut.clone()), &Value::from(cut)));
    }
}
