//! JSON values of the database in the JSON of a response.

use serde::de::IgnoredAny;

use crate::value::MAX_VALUE_BYTES;

/// How deep its arrays and objects may be nested.
const MAX_DEPTH: usize = 127;

/// Appends a JSON value as it is, but for line breaks between its parts, which end the lines of an export: they become spaces. Returns
/// `false`, and appends nothing, if it is too long, or nested deeper than most parsers accept.
pub(super) fn json_value(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let is_valid = raw.len() <= MAX_VALUE_BYTES
        && str::from_utf8(raw).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
        && depth(raw) <= MAX_DEPTH;
    if is_valid {
        // Within strings they are escaped.
        out.extend(raw.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
    }
    is_valid
}

/// How deep the arrays and objects of a valid JSON text are nested.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut is_in_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_in_string = !is_in_string,
            b'[' | b'{' if !is_in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_in_string => depth -= 1,
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(raw: &str) -> Option<String> {
        let mut out = Vec::new();
        let is_written = json_value(raw.as_bytes(), &mut out);
        assert!(is_written || out.is_empty());
        is_written.then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn keeps_a_value_on_one_line() {
        assert_eq!(written("{\"a\" : 1,\r\n \"a\": 2.50}").as_deref(), Some("{\"a\" : 1,   \"a\": 2.50}"));
        for scalar in ["null", "1e400", "123456789012345678901234567890", r#""\u0000\n""#, "[]", "true"] {
            assert_eq!(written(scalar).as_deref(), Some(scalar));
        }
        for invalid in ["", "{", "nul", "[1]]", "'a'"] {
            assert_eq!(written(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn writes_no_value_that_is_too_long_or_too_deep() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(written(&nested(127)).is_some() && written(&nested(128)).is_none());
        assert!(written(&format!(r#"["\"{}"]"#, "[".repeat(200))).is_some());
        let long = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        assert!(written(&long(MAX_VALUE_BYTES)).is_some() && written(&long(MAX_VALUE_BYTES + 1)).is_none());
    }
}
