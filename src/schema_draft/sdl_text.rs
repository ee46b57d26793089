//! The places of types and fields in the text of a valid schema file.

use std::ops::Range;

/// A type's definition.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TypeText {
    pub(super) name: String,
    /// From its description on, to the brace that ends it.
    pub(super) range: Range<usize>,
    pub(super) fields: Vec<FieldText>,
}

/// A field's definition.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FieldText {
    pub(super) name: String,
    /// From its description on, to its last directive.
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SdlTokenKind {
    Name,
    String,
    Other(char),
}

struct SdlToken {
    kind: SdlTokenKind,
    range: Range<usize>,
}

/// The object types of a schema file, in its order.
pub(super) fn types(text: &str) -> Vec<TypeText> {
    let tokens = tokens(text);
    let word = |token: &SdlToken| &text[token.range.clone()];
    let (mut types, mut index, mut depth) = (Vec::new(), 0, 0_usize);
    while let Some(token) = tokens.get(index) {
        match token.kind {
            SdlTokenKind::Other('{' | '(' | '[') => depth += 1,
            SdlTokenKind::Other('}' | ')' | ']') => depth = depth.saturating_sub(1),
            SdlTokenKind::Name if depth == 0 && word(token) == "type" && index + 1 < tokens.len() => {
                let before = index.checked_sub(1).map(|before| &tokens[before]);
                let start = before.filter(|before| before.kind == SdlTokenKind::String).unwrap_or(token).range.start;
                let name = word(&tokens[index + 1]).to_owned();
                let open = (index..tokens.len()).find(|at| tokens[*at].kind == SdlTokenKind::Other('{'));
                let Some(open) = open else { break };
                let (fields, close) = fields(text, &tokens, open + 1);
                let end = tokens.get(close).map_or(text.len(), |brace| brace.range.start);
                types.push(TypeText { name, range: start..end, fields });
                index = close;
            }
            _ => {}
        }
        index += 1;
    }
    types
}

/// The fields from a token on, and the index of the brace after them.
fn fields(text: &str, tokens: &[SdlToken], first: usize) -> (Vec<FieldText>, usize) {
    let (mut fields, mut depth, mut index): (Vec<FieldText>, _, _) = (Vec::new(), 0_usize, first);
    while let Some(token) = tokens.get(index) {
        match token.kind {
            SdlTokenKind::Other('}') if depth == 0 => break,
            SdlTokenKind::Other('{' | '(' | '[') => depth += 1,
            SdlTokenKind::Other('}' | ')' | ']') => depth = depth.saturating_sub(1),
            // A field's name is followed by its arguments or its type; a directive's name follows an at sign, and a type's a colon.
            SdlTokenKind::Name if depth == 0 => {
                let before = tokens[index - 1].kind;
                let is_field = !matches!(before, SdlTokenKind::Other('@' | ':'))
                    && matches!(tokens.get(index + 1).map(|next| next.kind), Some(SdlTokenKind::Other('(' | ':')));
                if is_field {
                    let start =
                        if before == SdlTokenKind::String { tokens[index - 1].range.start } else { token.range.start };
                    fields.push(FieldText { name: text[token.range.clone()].to_owned(), range: start..start });
                }
            }
            _ => {}
        }
        // A description belongs to the field after it.
        let is_description = depth == 0 && token.kind == SdlTokenKind::String;
        if let Some(last) = fields.last_mut().filter(|_| !is_description) {
            last.range.end = token.range.end;
        }
        index += 1;
    }
    (fields, index)
}

fn tokens(text: &str) -> Vec<SdlToken> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match c {
            '#' => (None, rest.find(['\n', '\r']).unwrap_or(rest.len())),
            '"' => (Some(SdlTokenKind::String), string(rest)),
            _ if c.is_ascii_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                (Some(SdlTokenKind::Name), end)
            }
            _ if c.is_whitespace() || matches!(c, ',' | '\u{feff}') => (None, c.len_utf8()),
            _ => (Some(SdlTokenKind::Other(c)), c.len_utf8()),
        };
        tokens.extend(kind.map(|kind| SdlToken { kind, range: at..at + length }));
        at += length;
    }
    tokens
}

/// The length of a string or block string.
fn string(rest: &str) -> usize {
    let (mark, escape) = if rest.starts_with("\"\"\"") { ("\"\"\"", "\\\"\"\"") } else { ("\"", "\\") };
    let mut at = mark.len();
    while at < rest.len() {
        if rest[at..].starts_with(escape) {
            at += escape.len();
            // After a backslash, one character of any kind.
            at += if mark.len() == 1 { rest[at..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        } else if rest[at..].starts_with(mark) {
            return at + mark.len();
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_types_and_fields_with_their_descriptions() {
        let text = "# type X {\ndirective @a(b: [C!]! = [X]) on FIELD\n\"\"\"All \\\"\"\" } of\n it\"\"\"\ntype Query {\n  a(id: ID! @column(name: \"}\\\"\")): A @point\n  \"b\"\n  b: [A]\n    @search(key: \"type\", compare: [EQUALS]) # x: y\n    @sort(key: \"K\")\n  # end\n}\n\
                    type A @relation(name: \"a\", key: [\"id\"]) { id: ID!, type: String }\n";
        let types = types(text);
        let shown: Vec<_> = types.iter().map(|ty| (ty.name.as_str(), &text[ty.range.clone()])).collect();
        assert_eq!(shown.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["Query", "A"]);
        assert!(shown[0].1.starts_with("\"\"\"All") && shown[0].1.ends_with("# end\n"), "{:?}", shown[0].1);
        let fields: Vec<_> = types[0].fields.iter().map(|one| (one.name.as_str(), &text[one.range.clone()])).collect();
        let b = "\"b\"\n  b: [A]\n    @search(key: \"type\", compare: [EQUALS]) # x: y\n    @sort(key: \"K\")";
        assert_eq!(fields, [("a", "a(id: ID! @column(name: \"}\\\"\")): A @point"), ("b", b)]);
        assert_eq!(types[1].fields.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["id", "type"]);
    }
}
