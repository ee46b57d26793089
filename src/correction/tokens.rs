//! A query as tokens, with just enough structure to edit it: brackets, and where a field ends. Any text has tokens, and any index does
//! no harm: an edit beyond the end changes nothing.

/// A token and its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryToken {
    /// The index of its first byte.
    pub begin: usize,
    /// The index after its last byte.
    pub end: usize,
}

/// A query's text and tokens.
#[derive(Debug, Clone)]
pub struct QueryText {
    /// The text as it was given, or after edits.
    pub text: String,
    /// Its tokens, without spaces, commas and comments.
    pub tokens: Vec<QueryToken>,
}

impl QueryText {
    /// Splits a text into tokens. What is no token of GraphQL becomes one of a single character.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut tokens = Vec::new();
        let mut begin = 0;
        while let Some(c) = text[begin..].chars().next() {
            let end = begin + length(&text[begin..], c);
            if !c.is_ascii_whitespace() && c != ',' && c != '#' {
                tokens.push(QueryToken { begin, end });
            }
            begin = end;
        }
        Self { text, tokens }
    }

    /// The token at the index; nothing beyond the end.
    pub fn get(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &self.text[token.begin..token.end])
    }

    /// The text of a range of tokens, the last one included.
    pub fn slice(&self, first: usize, last: usize) -> &str {
        match (self.tokens.get(first), self.tokens.get(last)) {
            (Some(first), Some(last)) if first.begin < last.end => &self.text[first.begin..last.end],
            _ => "",
        }
    }

    /// The line and the column of a token, from 1; for an index beyond the last token, of the end.
    pub fn location(&self, index: usize) -> (usize, usize) {
        let before = &self.text[..self.tokens.get(index).map_or(self.text.len(), |token| token.begin)];
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }

    /// Whether the token at the index is a name.
    pub fn is_name(&self, index: usize) -> bool {
        self.get(index).starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// The first token at or after a location of an error.
    pub fn at(&self, line: usize, column: usize) -> usize {
        let before: usize = self.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let mut characters = self.text[before..].char_indices();
        let offset = characters.nth(column.saturating_sub(1)).map_or(self.text.len(), |(at, _)| before + at);
        self.tokens.iter().position(|token| token.begin >= offset).unwrap_or(self.tokens.len())
    }

    /// The bracket that closes the one at the index, or the last token if none does.
    pub fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for index in open..self.tokens.len() {
            match self.get(index) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return index;
            }
        }
        self.tokens.len().saturating_sub(1)
    }

    /// The name of the field at the index, which may begin with an alias.
    pub fn field_name(&self, field: usize) -> usize {
        if self.get(field + 1) == ":" { field + 2 } else { field }
    }

    /// The opening bracket of the field's arguments.
    pub fn arguments(&self, field: usize) -> Option<usize> {
        let next = self.field_name(field) + 1;
        (self.get(next) == "(").then_some(next)
    }

    /// The last token of the field's head: of its name and arguments. Directives are not used here.
    pub fn head_end(&self, field: usize) -> usize {
        self.arguments(field).map_or_else(|| self.field_name(field), |open| self.closing(open))
    }

    /// The opening bracket of the field's selection.
    pub fn selection(&self, field: usize) -> Option<usize> {
        let next = self.head_end(field) + 1;
        (self.get(next) == "{").then_some(next)
    }

    /// The last token of the field.
    pub fn field_end(&self, field: usize) -> usize {
        self.selection(field).map_or_else(|| self.head_end(field), |open| self.closing(open))
    }

    /// The name and the last token of each argument of a field.
    pub fn argument_list(&self, field: usize) -> Vec<(usize, usize)> {
        let Some(open) = self.arguments(field) else { return Vec::new() };
        let close = self.closing(open);
        let mut arguments = Vec::new();
        let mut index = open + 1;
        while index + 2 <= close {
            let value = index + 2;
            let end = match self.get(value) {
                "{" | "[" => self.closing(value),
                "$" => value + 1,
                _ => value,
            };
            arguments.push((index, end.min(close)));
            index = end + 1;
        }
        arguments
    }

    /// The argument with that name.
    pub fn argument(&self, field: usize, name: &str) -> Option<(usize, usize)> {
        self.argument_list(field).into_iter().find(|(index, _)| self.get(*index) == name)
    }

    /// The names of all fields, in the order of the text.
    pub fn fields(&self) -> Vec<usize> {
        let (mut braces, mut others) = (0, 0);
        let mut fields = Vec::new();
        for index in 0..self.tokens.len() {
            match self.get(index) {
                "{" => braces += 1,
                "}" => braces -= 1,
                "(" | "[" => others += 1,
                ")" | "]" => others -= 1,
                _ => {
                    let before = if index > 0 { self.get(index - 1) } else { "" };
                    let is_first = before != ":" && !before.starts_with("...") && before != "on" && before != "@";
                    if braces > 0 && others == 0 && self.is_name(index) && is_first {
                        fields.push(index);
                    }
                }
            }
        }
        fields
    }

    /// The field with this path in a response: its names or aliases, from the root on. Fields inside fragments have none.
    pub fn field_at_path(&self, path: &[&str]) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        // The first bracket outside the variables' declarations.
        let mut open = 0;
        while self.get(open) != "{" {
            open = if self.get(open) == "(" { self.closing(open) } else { open } + 1;
            self.tokens.get(open)?;
        }
        rest.iter().try_fold(self.child(open, first)?, |field, name| self.child(self.selection(field)?, name))
    }

    /// The field with that name or alias in a selection.
    fn child(&self, open: usize, name: &str) -> Option<usize> {
        let close = self.closing(open);
        let mut index = open + 1;
        while index < close {
            match self.get(index) {
                "{" | "(" | "[" => index = self.closing(index) + 1,
                found if found == name && !self.get(index - 1).starts_with(['.', '@']) => return Some(index),
                _ if self.is_name(index) => index = self.field_end(index) + 1,
                _ => index += 1,
            }
        }
        None
    }

    /// Replaces the tokens of a range, the last one included.
    pub fn replaced(&self, first: usize, last: usize, with: &str) -> String {
        match (self.tokens.get(first), self.tokens.get(last)) {
            (Some(first), Some(last)) if first.begin < last.end => {
                format!("{}{with}{}", &self.text[..first.begin], &self.text[last.end..])
            }
            _ => self.text.clone(),
        }
    }

    /// Inserts a text behind a token.
    pub fn inserted_after(&self, index: usize, text: &str) -> String {
        let end = self.tokens.get(index).map_or(self.text.len(), |token| token.end);
        format!("{}{text}{}", &self.text[..end], &self.text[end..])
    }
}

/// The length of what a text begins with: a token, a comment or a space. Strings without an end take the rest of their line.
fn length(text: &str, first: char) -> usize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
    let rest = text.len();
    match first {
        '#' => text.find('\n').unwrap_or(rest),
        '"' => match text.strip_prefix("\"\"\"") {
            // The text keeps its length, so that the place of the end stays.
            Some(block) => block.replace("\\\"\"\"", "\\___").find("\"\"\"").map_or(rest, |end| end + 6),
            None => string_length(text),
        },
        '.' => text.find(|c| c != '.').unwrap_or(rest),
        c if is_word(c) => text.find(|c| !is_word(c)).unwrap_or(rest),
        c => c.len_utf8(),
    }
}

fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let text = QueryText::new(text);
        (0..text.tokens.len()).map(|index| text.get(index).to_owned()).collect()
    }

    #[test]
    fn strings_and_comments_hide_brackets() {
        assert_eq!(
            tokens("{a(b: \"}\\\"\"), # }\n...C}"),
            ["{", "a", "(", "b", ":", "\"}\\\"\"", ")", "...", "C", "}"]
        );
        assert_eq!(tokens("\"\"\"}\\\"\"\"}\"\"\" x"), ["\"\"\"}\\\"\"\"}\"\"\"", "x"]);
        assert_eq!(tokens("a \"b\nc"), ["a", "\"b", "c"]);
        assert_eq!(tokens("é\u{1F600}a"), ["é", "\u{1F600}", "a"]);
    }

    #[test]
    fn fields_are_found_by_their_paths() {
        let text = QueryText::new(
            "query Q($a: A = {b: 1}) { x: a(b: {c: 1}) { d @include(if: $e) { f } ... on D { g } h } b }",
        );
        let found = |path: &[&str]| text.field_at_path(path).map(|index| text.get(index));
        for path in [&["x"][..], &["x", "d"], &["x", "h"], &["b"]] {
            assert_eq!(found(path), path.last().copied());
        }
        for path in [&[][..], &["a"], &["x", "g"], &["x", "include"], &["b", "c"], &["c"]] {
            assert_eq!(found(path), None, "{path:?}");
        }
        assert_eq!(QueryText::new("").field_at_path(&["a"]), None);
    }

    #[test]
    fn edits_beyond_the_end_change_nothing() {
        for text in ["", "{", "}", "{ a(", "{ a: ", "query ($"] {
            let text = QueryText::new(text);
            for index in 0..9 {
                assert_eq!(text.replaced(index + 9, index, "x"), text.text);
                let _ = (text.closing(index), text.field_end(index), text.argument_list(index), text.at(index, index));
                let _ = (text.replaced(index, index, "x"), text.inserted_after(index, "x"), text.fields());
            }
        }
    }
}
