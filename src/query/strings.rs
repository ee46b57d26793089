//! What the strings of a document say: escapes resolved, block strings freed of their indentation (GraphQL
//! specification, section 2.9.4).

/// Why an escape means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadEscape {
    /// The escape, as far as it was read.
    pub(super) found: String,
    /// What it would have to be.
    pub(super) expected: &'static str,
}

/// The value of a string in quotes whose escapes are right.
pub(super) fn string_value(quoted: &str) -> String {
    let mut rest = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(quoted);
    let mut value = String::with_capacity(rest.len());
    while let Some(start) = rest.find('\\') {
        value.push_str(&rest[..start]);
        rest = &rest[start..];
        // A backslash that is no escape cannot be: the string was cut by the same function.
        let (character, length) = escape(rest).unwrap_or(('\\', 1));
        value.push(character);
        rest = &rest[length..];
    }
    value.push_str(rest);
    value
}

/// Reads the escape that a text begins with: the character that it stands for, and its length.
pub(super) fn escape(text: &str) -> Result<(char, usize), BadEscape> {
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
        _ => Err(bad(text, 2, "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")),
    }
}

fn unicode(text: &str) -> Result<(char, usize), BadEscape> {
    if let Some(digits) = text.strip_prefix("\\u{") {
        let expected = "a Unicode character such as \\u{1F600}";
        let Some((digits, _)) = digits.split_once('}') else { return Err(bad(text, 8, expected)) };
        let character = hexadecimal(digits).and_then(char::from_u32);
        let length = digits.len() + 4;
        return character.map(|character| (character, length)).ok_or_else(|| bad(text, length.min(16), expected));
    }
    let unit = |at: usize| text.get(at..at + 4).and_then(hexadecimal);
    let Some(first) = unit(2) else { return Err(bad(text, 6, "four hexadecimal digits behind \\u")) };
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let second = if text.get(6..8) == Some("\\u") { unit(8) } else { None };
    match (first, second) {
        (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
            let character = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            character.map(|character| (character, 12)).ok_or_else(|| bad(text, 12, "a surrogate pair"))
        }
        _ => Err(bad(text, 6, "a Unicode character, or both halves of a surrogate pair")),
    }
}

/// `None` where there is no digit or something else; a number too large is [`u32::MAX`], which is no character.
fn hexadecimal(digits: &str) -> Option<u32> {
    let add = |sum: u32, c: char| Some(sum.saturating_mul(16).saturating_add(c.to_digit(16)?));
    if digits.is_empty() { None } else { digits.chars().try_fold(0, add) }
}

fn bad(text: &str, length: usize, expected: &'static str) -> BadEscape {
    BadEscape { found: text.chars().take(length).take_while(|c| !c.is_control()).collect(), expected }
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
    let last = lines.iter().rposition(|line| !is_blank(line)).map_or(first, |place| place + 1);
    let stripped = lines.iter().enumerate().take(last).skip(first).map(|(place, line)| match place {
        0 => line,
        _ => line.get(common..).unwrap_or(""),
    });
    stripped.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_resolved() {
        assert_eq!(string_value(r#""a\"\\\/\b\f\n\r\tz""#), "a\"\\/\u{8}\u{c}\n\r\tz");
        assert_eq!(string_value(r#""\u00e9\u{e9}\u{1F600}\uD83D\uDE00\u{000041}""#), "éé😀😀A");
        assert_eq!(string_value("\"\""), "");
    }

    #[test]
    fn escapes_that_mean_nothing_are_refused() {
        let texts = [r"\x", r"\", r"\u", r"\u00", r"\u00g0", r"\u{}", r"\u{g}", r"\u{110000}", r"\u{D800}", r"\u{41"];
        let halves =
            [r"\uD83D", r"\uD83Dx", r"\uDE00", r"\uD83D\u0041", r"\uD83D\uD83D", r"\u+041", r"\u{+41}", r"\ué"];
        for text in texts.into_iter().chain(halves).chain([r"\u{FFFFFFFFFFFFFFFFFFFF}"]) {
            assert!(escape(text).is_err(), "{text}");
        }
    }

    #[test]
    fn block_strings_lose_their_common_indentation_and_blank_ends() {
        assert_eq!(block_string_value("\"\"\"\n\n    a\n      b\r\n\r    c\n \t \"\"\""), "a\n  b\n\nc");
        assert_eq!(block_string_value("\"\"\"  a\n  b\"\"\""), "  a\nb");
        assert_eq!(block_string_value("\"\"\"a \\\"\"\" \\n\"\"\""), "a \"\"\" \\n");
        assert_eq!(block_string_value("\"\"\"\"\"\""), "");
        assert_eq!(block_string_value("\"\"\" \n \"\"\""), "");
        assert_eq!(block_string_value("\"\"\"\n  \u{a0}a\n  b\"\"\""), "\u{a0}a\nb");
    }
}
