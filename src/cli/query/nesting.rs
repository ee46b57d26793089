//! JSON that nests deeper than programs read it. Columns of JSON may have any depth.

use std::borrow::Cow;

/// As deep may JSON nest; the parser of this program takes 128 levels.
const MAX_DEPTH: usize = 100;

/// The text in place of parts that are nested deeper.
const CUT: &[u8] = b"\"[what is nested deeper is cut]\"";

/// A JSON text whose values that nest too deep are cut, which is seen.
pub(super) fn cut(json: &[u8]) -> Cow<'_, [u8]> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let (mut kept, mut from) = (Vec::new(), 0);
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth == MAX_DEPTH + 1 {
                    kept.extend_from_slice(&json[from..at]);
                    kept.extend_from_slice(CUT);
                }
            }
            b'}' | b']' => {
                if depth == MAX_DEPTH + 1 {
                    from = at + 1;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    kept.extend_from_slice(&json[from..]);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::query::response::Ordered;

    #[test]
    fn what_nests_too_deep_is_cut_and_the_rest_is_as_it_was() {
        let nested =
            |depth: usize| format!(r#"{{"a": "\"[[", "b": {}1{}, "c": [[2]]}}"#, "[".repeat(depth), "]".repeat(depth));
        for depth in [1, 99, 126, 10_000] {
            let text = nested(depth);
            let cut = cut(text.as_bytes());
            let value = serde_json::from_slice::<Ordered>(&cut).unwrap().to_value();
            assert_eq!((&value["a"], &value["c"][0][0]), (&"\"[[".into(), &2.into()));
            assert_eq!(matches!(cut, Cow::Borrowed(_)), depth <= 99);
            assert_eq!(String::from_utf8_lossy(&cut).contains("deeper is cut"), depth > 99);
        }
        assert_eq!(&*cut(b"no JSON ]]"), b"no JSON ]]");
    }
}
