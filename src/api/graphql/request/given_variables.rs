//! The variables of a request. A variable that its query does not name is ignored.

use std::borrow::Cow;

use crate::api::graphql::request::envelope_error::EnvelopeError;
use crate::api::graphql::request::json_members::JsonMembers;
use crate::query::Variables;

/// The values of the variables that a query's text names, from the text of a JSON object. What it does not name cannot be declared
/// in it.
pub(crate) fn named_in(query: &str, object: &str) -> Result<Variables, EnvelopeError> {
    let mut given = JsonMembers::of(object)?;
    let mut variables = Variables::new();
    let mut add = |name: Cow<'_, str>, text: &str| {
        let value = serde_json::from_str(text).map_err(EnvelopeError::MalformedBody)?;
        variables.insert(name.into_owned(), value);
        Ok(())
    };
    for dollar in memchr::memchr_iter(b'$', query.as_bytes()) {
        let after = &query[dollar + 1..];
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let end = after.bytes().position(|byte| !is_of_name(byte)).unwrap_or(after.len());
        let name = &after[..end];
        if name.is_empty() {
            // There may be spaces and comments before the name. Clients do not write a variable in this way, so the names are not looked
            // for.
            for (name, text) in given.take_all() {
                add(name, text)?;
            }
        } else if let Some(text) = given.take(name) {
            add(name.into(), text)?;
        }
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn makes_values_of_variables_that_the_query_names() {
        let object = r#"{"a": 1, "ab": [2], "b": "$c", "c": {"d": null}}"#;
        for (query, expected) in [
            ("query($a: Int) { x(n: $a) }", json!({"a": 1})),
            ("query($ab:[Int]$c:X){x(n:$ab)}", json!({"ab": [2], "c": {"d": null}})),
            ("query($é: Int, $z: Int) { a }", json!({"a": 1, "ab": [2], "b": "$c", "c": {"d": null}})),
            ("query($ # a\n a: Int) { x }", json!({"a": 1, "ab": [2], "b": "$c", "c": {"d": null}})),
            ("{ x } # a $", json!({"a": 1, "ab": [2], "b": "$c", "c": {"d": null}})),
            ("{ a b c }", json!({})),
        ] {
            assert_eq!(json!(named_in(query, object).unwrap()), expected, "{query}");
        }
        let escaped = named_in("query($a: Int) { x(n: $a) }", r#"{"\u0061": 1}"#).unwrap();
        assert_eq!(json!(escaped), json!({"a": 1}));
    }

    #[test]
    fn rejects_a_variable_that_is_given_twice_whether_it_is_named_or_not() {
        for object in [r#"{"a": 1, "a": 1}"#, r#"{"b": 1, "a": 2, "\u0062": 3}"#] {
            let error = named_in("query($a: Int) { x(n: $a) }", object).unwrap_err().to_string();
            assert!(error.contains("is given twice"), "{error}");
        }
    }
}
