//! A document as graphql-js prints it (`print(parse(text))`), since clients send the hash of that.

use crate::error::graphql_error::GraphqlErrors;
use crate::query::parse::lexer::{Token, TokenKind};
use crate::query::parse::source::Source;
use crate::query::parse::strings::{block_string_value, string_value};

/// The longest line of a field with its arguments, in UTF-16 code units.
const MAX_LINE: usize = 80;

/// The longest value of a block string on one line.
const MAX_BLOCK_LINE: usize = 70;

/// The document of a text as graphql-js prints it. Fails unless the text is a document.
pub fn print(text: &str) -> Result<String, GraphqlErrors> {
    let source = Source::read(text)?;
    if source.is_empty() {
        return Ok(String::new());
    }
    let mut printer = Printer(source.parse()?.tokens);
    let mut definitions = Vec::new();
    while !printer.0.is_empty() {
        definitions.push(printer.definition());
    }
    Ok(definitions.join("\n\n"))
}

/// Prints the tokens of a document that was parsed, from the first on.
struct Printer<'a>(&'a [Token<'a>]);

impl<'a> Printer<'a> {
    fn is(&self, punctuator: &str) -> bool {
        self.0.first().is_some_and(|token| token.is_punctuator(punctuator))
    }

    /// The next token's text. A document that was parsed has one.
    fn next(&mut self) -> &'a str {
        let Some((first, rest)) = self.0.split_first() else { return "" };
        self.0 = rest;
        first.text
    }

    fn skip(&mut self, punctuator: &str) -> bool {
        let is_next = self.is(punctuator);
        if is_next {
            self.next();
        }
        is_next
    }

    fn name(&mut self) -> &'a str {
        if self.0.first().is_some_and(|token| token.kind == TokenKind::Name) { self.next() } else { "" }
    }

    /// The items between two brackets; nothing if the first bracket is not next.
    fn all(&mut self, [open, close]: [&str; 2], item: impl Fn(&mut Self) -> String) -> Vec<String> {
        let mut items = Vec::new();
        if self.skip(open) {
            while !self.0.is_empty() && !self.skip(close) {
                items.push(item(self));
            }
        }
        items
    }

    fn definition(&mut self) -> String {
        let description = self.description();
        let keyword = self.name();
        let head = if keyword == "fragment" {
            let (name, on, of_type) = (self.next(), self.next(), self.next());
            format!("{keyword} {name} {on} {of_type}")
        } else {
            let name = self.name();
            let variables = self.all(["(", ")"], Self::variable);
            let variables = match variables.iter().any(|variable| variable.contains('\n')) {
                _ if variables.is_empty() => String::new(),
                true => format!("(\n{}\n)", variables.join("\n")),
                false => format!("({})", variables.join(", ")),
            };
            spaced([keyword.to_owned(), format!("{name}{variables}")])
        };
        let head = description + &spaced([head, self.directives()]);
        let selections = self.selection_set();
        if head == "query" { selections } else { spaced([head, selections]) }
    }

    /// A description and the end of its line, if there is one.
    fn description(&mut self) -> String {
        if self.0.first().is_some_and(Token::is_string) { self.value() + "\n" } else { String::new() }
    }

    fn variable(&mut self) -> String {
        let mut text = self.description();
        self.skip("$");
        text = format!("{text}${}: ", self.next());
        self.skip(":");
        text.push_str(&self.of_type());
        if self.skip("=") {
            text = format!("{text} = {}", self.value());
        }
        spaced([text, self.directives()])
    }

    fn of_type(&mut self) -> String {
        let mut text = if self.skip("[") {
            let item = self.of_type();
            self.skip("]");
            format!("[{item}]")
        } else {
            self.next().to_owned()
        };
        if self.skip("!") {
            text.push('!');
        }
        text
    }

    fn directives(&mut self) -> String {
        let mut directives = Vec::new();
        while self.skip("@") {
            let name = self.next();
            let arguments = self.all(["(", ")"], Self::named_value);
            let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
            directives.push(format!("@{name}{arguments}"));
        }
        directives.join(" ")
    }

    /// An argument, or a field of an input object.
    fn named_value(&mut self) -> String {
        let name = self.next();
        self.skip(":");
        format!("{name}: {}", self.value())
    }

    fn value(&mut self) -> String {
        if self.is("[") {
            return format!("[{}]", self.all(["[", "]"], Self::value).join(", "));
        }
        if self.is("{") {
            return format!("{{{}}}", self.all(["{", "}"], Self::named_value).join(", "));
        }
        if self.skip("$") {
            return format!("${}", self.next());
        }
        let kind = self.0.first().map(|token| token.kind);
        let text = self.next();
        match kind {
            Some(TokenKind::String) => quoted(&string_value(text)),
            Some(TokenKind::BlockString) => block(&block_string_value(text)),
            _ => text.to_owned(),
        }
    }

    /// The selections in braces; nothing if there are none.
    fn selection_set(&mut self) -> String {
        let selections = self.all(["{", "}"], Self::selection);
        if selections.is_empty() { String::new() } else { format!("{{\n{}\n}}", indented(&selections)) }
    }

    fn selection(&mut self) -> String {
        if self.skip("...") {
            return match self.name() {
                "on" => spaced([format!("... on {}", self.next()), self.directives(), self.selection_set()]),
                "" => spaced(["...".to_owned(), self.directives(), self.selection_set()]),
                name => spaced([format!("...{name}"), self.directives()]),
            };
        }
        let mut field = self.next().to_owned();
        if self.skip(":") {
            field = format!("{field}: {}", self.next());
        }
        let arguments = self.all(["(", ")"], Self::named_value);
        if !arguments.is_empty() {
            let line = format!("{field}({})", arguments.join(", "));
            let is_short = line.encode_utf16().count() <= MAX_LINE;
            field = if is_short { line } else { format!("{field}(\n{}\n)", indented(&arguments)) };
        }
        spaced([field, self.directives(), self.selection_set()])
    }
}

/// The parts that are not empty, with spaces between them.
fn spaced<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

fn indented(lines: &[String]) -> String {
    format!("  {}", lines.join("\n").replace('\n', "\n  "))
}

fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            c if c.is_control() => text = format!("{text}\\u{:04X}", u32::from(c)),
            c => text.push(c),
        }
    }
    text + "\""
}

fn block(value: &str) -> String {
    let escaped = value.replace("\"\"\"", "\\\"\"\"");
    let mut others = escaped.split('\n').skip(1).peekable();
    let is_single = others.peek().is_none();
    let starts_with_space = |line: &str| line.starts_with([' ', '\t']);
    let leads = !is_single && others.all(|line| line.is_empty() || starts_with_space(line));
    let ends_with_quotes = escaped.ends_with("\\\"\"\"");
    let trails = value.ends_with('"') && !ends_with_quotes || value.ends_with('\\');
    let has_lines = !is_single || value.encode_utf16().count() > MAX_BLOCK_LINE || trails || leads || ends_with_quotes;
    let begin = if has_lines && !(is_single && starts_with_space(value)) || leads { "\n" } else { "" };
    let end = if has_lines { "\n" } else { "" };
    format!("\"\"\"{begin}{escaped}{end}\"\"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each text, and what graphql-js 16.15 prints of it.
    const PRINTED: [(&str, &str); 7] = [
        ("query{a}", "{\n  a\n}"),
        ("query A { a }", "query A {\n  a\n}"),
        (
            "query($a:[ID!]!=[\"1\",2],$b:I={x:{y:1,z:E},t:true,n:null,f:1.50e3}@d(e:-0)) @d { b:a(i:$a,) @skip(if:true)@x{c} }",
            "query ($a: [ID!]! = [\"1\", 2], $b: I = {x: {y: 1, z: E}, t: true, n: null, f: 1.50e3} @d(e: -0)) @d {\n  \
             b: a(i: $a) @skip(if: true) @x {\n    c\n  }\n}",
        ),
        (
            "{ ...F ...@include(if:false){a} ...on T@d{b} } fragment F on T @d { c }",
            "{\n  ...F\n  ... @include(if: false) {\n    a\n  }\n  ... on T @d {\n    b\n  }\n}\n\nfragment F on T @d {\n  c\n}",
        ),
        (
            "{ orders(first: 10, query: \"status:ORDER_APPROVED facility:BROADWAY\", sortKey: ORDER) { x } }",
            "{\n  orders(\n    first: 10\n    query: \"status:ORDER_APPROVED facility:BROADWAY\"\n    sortKey: ORDER\n  ) {\n    x\n  }\n}",
        ),
        (
            "{ a(b: \"\\u00e9\\u0007\\t\\/\\\\\\\"\\u007f\") c(d: \"\"\"\n   one\n     two\n\"\"\") }",
            "{\n  a(b: \"é\\u0007\\t/\\\\\\\"\\u007F\")\n  c(d: \"\"\"\n  one\n    two\n  \"\"\")\n}",
        ),
        ("# Nothing.\n", ""),
    ];

    #[test]
    fn prints_as_graphql_js_does() {
        for (text, printed) in PRINTED {
            assert_eq!(print(text).unwrap(), printed, "{text}");
            assert_eq!(print(printed).unwrap(), printed);
        }
        assert!(print("{ a").is_err());
    }

    #[test]
    fn block_strings_have_lines_of_their_own_where_that_is_readable() {
        for (value, printed) in [
            ("a", "\"\"\"a\"\"\""),
            (" a", "\"\"\" a\"\"\""),
            ("a\"", "\"\"\"\na\"\n\"\"\""),
            ("a\\", "\"\"\"\na\\\n\"\"\""),
            ("\"\"\"", "\"\"\"\n\\\"\"\"\n\"\"\""),
            ("a\n b", "\"\"\"\na\n b\n\"\"\""),
        ] {
            assert_eq!(block(value), printed, "{value}");
        }
    }
}
