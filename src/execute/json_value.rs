//! JSON values of the database in the JSON of a response.

use serde::de::IgnoredAny;

use crate::value::MAX_VALUE_BYTES;

/// How deep its arrays and objects may be nested.
const MAX_DEPTH: usize = 127;

/// Appends a JSON value as it is, but for line breaks between its parts, which end the lines of an export: they become spaces. Returns
/// `false`, and appends nothing, if it is too long, nested deeper than most parsers accept, or has half of a surrogate pair, which is no
/// character: most parsers reject it.
pub(super) fn json_value(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let is_valid = raw.len() <= MAX_VALUE_BYTES
        && str::from_utf8(raw).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
        && depth(raw) <= MAX_DEPTH
        && !has_lone_surrogate(raw);
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

/// Whether a string of a valid JSON text escapes one half of a surrogate pair without the other. The column type `json` has such strings,
/// `jsonb` has none.
fn has_lone_surrogate(json: &[u8]) -> bool {
    if !json.contains(&b'\\') {
        return false;
    }
    let (mut rest, mut needs_low) = (json, false);
    while let Some((first, after)) = rest.split_first() {
        let unit = match (first, after) {
            (b'\\', [b'u', digits @ ..]) => digits.first_chunk::<4>().copied().and_then(code_unit),
            _ => None,
        };
        let is_low = unit.is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        if needs_low != is_low {
            return true;
        }
        needs_low = unit.is_some_and(|unit| (0xd800..0xdc00).contains(&unit));
        let length = match (first, unit) {
            (_, Some(_)) => 6,
            (b'\\', None) => 2,
            _ => 1,
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    needs_low
}

fn code_unit(digits: [u8; 4]) -> Option<u16> {
    u16::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()
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
    fn writes_no_half_of_a_surrogate_pair() {
        for (raw, is_written) in [
            (r#""\ud83d\ude00""#, true),
            (r#""\uD83D\uDE00 \u00e9 \\ud800""#, true),
            (r#""\ud800""#, false),
            (r#""\udc00""#, false),
            (r#"{"\ud83dx": 1}"#, false),
            (r#"["\ud83d\ud83d\ude00"]"#, false),
            (r#""\ud83d\n\ude00""#, false),
        ] {
            assert_eq!(written(raw).is_some(), is_written, "{raw}");
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
