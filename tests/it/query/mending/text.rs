//! A query as tokens, with just enough structure to edit it: brackets, and where a field ends.

/// A token and its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub begin: usize,
    pub end: usize,
}

/// A query's text and tokens.
#[derive(Debug, Clone)]
pub struct Text {
    pub text: String,
    pub tokens: Vec<Token>,
}

impl Text {
    /// Splits a text into tokens. What is no token of GraphQL becomes one of a single character.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let bytes = text.as_bytes();
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte == b'.';
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let begin = at;
            match bytes[at] {
                byte if byte.is_ascii_whitespace() || byte == b',' => {
                    at += 1;
                    continue;
                }
                b'"' => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    at = (at + 1).min(bytes.len());
                }
                b'.' => {
                    while at < bytes.len() && bytes[at] == b'.' {
                        at += 1;
                    }
                }
                byte if is_word(byte) => {
                    while at < bytes.len() && is_word(bytes[at]) {
                        at += 1;
                    }
                }
                _ => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
            tokens.push(Token { begin, end: at });
        }
        Self { text, tokens }
    }

    pub fn get(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &self.text[token.begin..token.end])
    }

    pub fn is_name(&self, index: usize) -> bool {
        self.get(index).starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// The first token at or after a location of an error.
    pub fn at(&self, line: usize, column: usize) -> usize {
        let before: usize = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let offset = self.text[before..].char_indices().nth(column - 1).map_or(self.text.len(), |(at, _)| before + at);
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
        self.tokens.len() - 1
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

    /// Replaces the tokens of a range, the last one included.
    pub fn replaced(&self, first: usize, last: usize, with: &str) -> String {
        let (begin, end) = (self.tokens[first].begin, self.tokens[last].end);
        format!("{}{with}{}", &self.text[..begin], &self.text[end..])
    }

    pub fn inserted_after(&self, index: usize, text: &str) -> String {
        let end = self.tokens[index].end;
        format!("{}{text}{}", &self.text[..end], &self.text[end..])
    }
}
