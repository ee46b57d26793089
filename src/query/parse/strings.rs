//! The values of string literals (GraphQL specification, section 2.9.4): resolves escape sequences, removes the
//! indentation of block strings.

/// An invalid escape sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvalidEscape {
    /// The beginning of the sequence, without control characters.
    pub(super) found: String,
    /// The notation that the specification allows instead.
    pub(super) expected: &'static str,
}

/// The value of a string in quotes. Its escape sequences must be valid.
pub(super) fn string_value(quoted: &str) -> String {
    let mut rest = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(quoted);
    let mut value = String::with_capacity(rest.len());
    while let Some(start) = rest.find('\\') {
        value.push_str(&rest[..start]);
        rest = &rest[start..];
        // The lexer has checked the escape sequences with the same function.
        let (character, length) = escape(rest).unwrap_or(('\\', 1));
        value.push(character);
        rest = &rest[length..];
    }
    value.push_str(rest);
    value
}

/// Resolves the escape sequence at the beginning of a text: its character, and its length in bytes.
pub(super) fn escape(text: &str) -> Result<(char, usize), InvalidEscape> {
    let simple = |character| Ok((character, 2));
    match text.as_bytes().get(1) {
        Some(b'"') => simple('"'),
        Some(b'\\') => simple('\\'),
        Some(b'/') => simple('/'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => unicode(text),
        _ => Err(invalid(text, 2, "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")),
    }
}

fn unicode(text: &str) -> Result<(char, usize), InvalidEscape> {
    if let Some(digits) = text.strip_prefix("\\u{") {
        let expected = "a Unicode character such as \\u{1F600}";
        let Some((digits, _)) = digits.split_once('}') else { return Err(invalid(text, 8, expected)) };
        let character = hexadecimal(digits).and_then(char::from_u32);
        let length = digits.len() + 4;
        return character.map(|character| (character, length)).ok_or_else(|| invalid(text, length.min(16), expected));
    }
    let unit = |start: usize| text.get(start..start + 4).and_then(hexadecimal);
    let Some(first) = unit(2) else { return Err(invalid(text, 6, "four hexadecimal digits behind \\u")) };
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let second = if text.get(6..8) == Some("\\u") { unit(8) } else { None };
    match (first, second) {
        (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
            let character = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            character.map(|character| (character, 12)).ok_or_else(|| invalid(text, 12, "a surrogate pair"))
        }
        _ => Err(invalid(text, 6, "a Unicode character, or both halves of a surrogate pair")),
    }
}

/// The value of hexadecimal digits; `None` if there are none, or other characters. Saturates at [`u32::MAX`], which is
/// not a character.
fn hexadecimal(digits: &str) -> Option<u32> {
    let add = |sum: u32, c: char| Some(sum.saturating_mul(16).saturating_add(c.to_digit(16)?));
    if digits.is_empty() { None } else { digits.chars().try_fold(0, add) }
}

fn invalid(text: &str, length: usize, expected: &'static str) -> InvalidEscape {
    InvalidEscape { found: text.chars().take(length).take_while(|c| !c.is_control()).collect(), expected }
}

/// The value of a string in triple quotes.
pub(super) fn block_string_value(quoted: &str) -> String {
    let raw = quoted.strip_prefix("\"\"\"").and_then(|text| text.strip_suffix("\"\"\"")).unwrap_or(quoted);
    let raw = raw.replace("\\\"\"\"", "\"\"\"").replace("\r\n", "\n");
    let lines: Vec<&str> = raw.split(['\n', '\r']).collect();
    let indent_of = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let is_blank = |line: &&str| indent_of(line) == line.len();
    let common = lines.iter().skip(1).filter(|line| !is_blank(line)).map(|line| indent_of(line)).min().unwrap_or(0);
    let first = lines.iter().position(|line| !is_blank(line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !is_blank(line)).map_or(first, |index| index + 1);
    let stripped = lines.iter().enumerate().take(last).skip(first).map(|(index, line)| match index {
        0 => line,
        _ => line.get(common..).unwrap_or(""),
    });
    stripped.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_every_escape_sequence() {
        assert_eq!(string_value(r#""a\"\\\/\b\f\n\r\tz""#), "a\"\\/\u{8}\u{c}\n\r\tz");
        assert_eq!(string_value(r#""\u00e9\u{e9}\u{1F600}\uD83D\uDE00\u{000041}""#), "éé😀😀A");
        assert_eq!(string_value("\"\""), "");
    }

    #[test]
    fn rejects_invalid_escape_sequences() {
        let texts = [r"\x", r"\", r"\u", r"\u00", r"\u00g0", r"\u{}", r"\u{g}", r"\u{110000}", r"\u{D800}", r"\u{41"];
        let halves =
            [r"\uD83D", r"\uD83Dx", r"\uDE00", r"\uD83D\u0041", r"\uD83D\uD83D", r"\u+041", r"\u{+41}", r"\ué"];
        for text in texts.into_iter().chain(halves).chain([r"\u{FFFFFFFFFFFFFFFFFFFF}"]) {
            assert!(escape(text).is_err(), "{text}");
        }
    }

    #[test]
    fn removes_common_indentation_and_blank_ends_of_block_strings() {
        assert_eq!(block_string_value("\"\"\"\n\n    a\n      b\r\n\r    c\n \t \"\"\""), "a\n  b\n\nc");
        assert_eq!(block_string_value("\"\"\"  a\n  b\"\"\""), "  a\nb");
        assert_eq!(block_string_value("\"\"\"a \\\"\"\" \\n\"\"\""), "a \"\"\" \\n");
        assert_eq!(block_string_value("\"\"\"\"\"\""), "");
        assert_eq!(block_string_value("\"\"\" \n \"\"\""), "");
        assert_eq!(block_string_value("\"\"\"\n  \u{a0}a\n  b\"\"\""), "\u{a0}a\nb");
    }
}
