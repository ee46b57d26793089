//! Text to a document, by the grammar of the GraphQL specification (September 2025).
//!
//! The text is cut into tokens here (`tokens.rs`), arranged for `graphql_parser` (`arrange.rs`), which
//! holds the grammar, and its tree is put back into terms of the text (`restore.rs`). So numbers, strings, block
//! strings, escapes, ignored characters, descriptions, directives on variables, repeated input fields and places are
//! as the specification says, whatever the parser makes of them. What remains:
//!
//! - at most 10,000 tokens, and 50 brackets open at once;
//! - a text with type definitions is no document, instead of one that breaks a rule;
//! - a directive on a variable is held against no rule but its place, because none may stand there.

use std::fmt;

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::Diagnostic;
use crate::error::graphql_error::{GraphqlError, GraphqlErrors, Location};
use crate::query::arrange::{self, Arranged, Aside, MOST_OPEN_BRACKETS};
use crate::query::restore::Restorer;
use crate::query::strings::BadEscape;
use crate::query::tokens::{self, Kind, MOST_TOKENS, Token, TokenError, Tokens};

/// A text whose tokens are known, and arranged for the parser.
#[derive(Debug)]
pub struct Source<'a> {
    tokens: Tokens<'a>,
    arranged: Arranged<'a>,
}

/// A document as it was written. It borrows its source and never leaves this room.
#[derive(Debug)]
pub struct Document<'s> {
    pub(super) definitions: Vec<ast::Definition<'s, &'s str>>,
    pub(super) aside: &'s Aside<'s>,
    tokens: &'s [Token<'s>],
}

impl<'a> Source<'a> {
    /// Reads the tokens of a text.
    pub fn read(text: &'a str) -> Result<Self, GraphqlErrors> {
        let tokens = tokens::cut(text).map_err(refused)?;
        let arranged = arrange::arrange(&tokens).map_err(refused)?;
        Ok(Self { tokens, arranged })
    }

    /// Reads the document.
    pub fn parse(&self) -> Result<Document<'_>, GraphqlErrors> {
        let Self { tokens, arranged } = self;
        let restorer = Restorer::new(tokens, arranged);
        let parsed = ast::parse_query::<&str>(&arranged.text)
            .map_err(|error| refused(syntax_error(tokens, &restorer, &error.to_string())))?;
        let mut definitions = parsed.definitions;
        for definition in &mut definitions {
            restorer.definition(definition);
        }
        Ok(Document { definitions, aside: &arranged.aside, tokens: &tokens.list })
    }
}

fn refused((location, error): TokenError) -> GraphqlErrors {
    GraphqlErrors::one(GraphqlError::new(&error, [location]))
}

/// A position of the parser as a location of ours.
pub(super) fn location(position: Pos) -> Location {
    let number = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Location { line: number(position.line), column: number(position.column) }
}

/// Whether the name of an enum value is a whole number instead, one that the tree's integers cannot hold. No name begins
/// like one.
pub(super) fn is_long_number(name: &str) -> bool {
    name.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

impl Document<'_> {
    /// Where an argument stands: the one of that number, from 0, of the field or directive at a position.
    pub(super) fn argument(&self, holder: Pos, number: usize) -> Location {
        let found = self.argument_token(holder, number);
        found.map_or(location(holder), |at| self.tokens[at].location)
    }

    /// Where an argument's value begins.
    pub(super) fn argument_value(&self, holder: Pos, number: usize) -> Location {
        let value = self.argument_token(holder, number).and_then(|at| self.tokens.get(at + 2));
        value.map_or(location(holder), |token| token.location)
    }

    /// Where the value of an argument first uses a variable.
    pub(super) fn variable(&self, holder: Pos, number: usize, name: &str) -> Location {
        let rest = self.argument_token(holder, number).map_or(&[][..], |at| &self.tokens[at..]);
        let found = rest.windows(2).find(|pair| pair[0].is("$") && pair[1].is_name(name));
        found.map_or(location(holder), |pair| pair[0].location)
    }

    /// The first tokens of the values of the arguments of the field or directive at a position, in document order. Those
    /// that follow the last are of something else.
    pub(super) fn argument_values(&self, holder: Pos) -> impl Iterator<Item = &Token<'_>> {
        self.argument_tokens(holder).filter_map(|at| self.tokens.get(at + 2))
    }

    fn argument_token(&self, holder: Pos, number: usize) -> Option<usize> {
        self.argument_tokens(holder).nth(number)
    }

    /// The names of arguments, and those of whatever follows.
    fn argument_tokens(&self, holder: Pos) -> impl Iterator<Item = usize> {
        let holder = location(holder);
        let start = self.tokens.binary_search_by_key(&holder, |token| token.location).unwrap_or(self.tokens.len());
        let mut depth = 0_usize;
        self.tokens.windows(2).enumerate().skip(start).filter_map(move |(at, pair)| {
            let token = &pair[0];
            if token.opens() {
                depth += 1;
            } else if token.closes() {
                depth = depth.saturating_sub(1);
            }
            (depth == 1 && token.kind == Kind::Name && pair[1].is(":")).then_some(at)
        })
    }
}

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParseError {
    /// More than [`MOST_TOKENS`] tokens.
    TooManyTokens,
    /// More than [`MOST_OPEN_BRACKETS`] open brackets.
    TooDeep,
    /// A character that no token begins with.
    Character(char),
    /// A number that breaks off or runs on: what was expected.
    Number(&'static str),
    /// A string without an end on its line.
    UnterminatedString,
    /// A block string without an end.
    UnterminatedBlockString,
    /// A backslash that stands for nothing.
    Escape(BadEscape),
    /// A fragment whose name is a keyword.
    FragmentNamedOn,
    /// A token that cannot stand where it stands.
    Unexpected {
        /// The token.
        found: String,
        /// What could stand there.
        expected: Vec<&'static str>,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyTokens => write!(f, "Syntax error: a document has at most {MOST_TOKENS} tokens"),
            Self::TooDeep => write!(f, "Syntax error: at most {MOST_OPEN_BRACKETS} brackets are open at once"),
            Self::Character(found @ ('\'' | '\u{2018}' | '\u{201c}' | '\u{201d}')) => {
                write!(f, "Syntax error: found the character {found}; strings stand in double quotes (\")")
            }
            Self::Character('.') => {
                f.write_str("Syntax error: found a single dot; a fragment is spread with three (...)")
            }
            Self::Character(found) => {
                write!(f, "Syntax error: found the character {found:?}, which stands for nothing outside a string")
            }
            Self::Number(expected) => write!(f, "Syntax error: not a number: expected {expected}"),
            Self::UnterminatedString => f.write_str(
                "Syntax error: a string without its closing quote on the same line; longer ones stand in triple quotes (\"\"\")",
            ),
            Self::UnterminatedBlockString => f.write_str("Syntax error: a block string without its closing quotes"),
            Self::Escape(BadEscape { found, expected }) => {
                write!(f, "Syntax error: found the escape {found}, expected {expected}")
            }
            Self::FragmentNamedOn => f.write_str("Syntax error: a fragment cannot be named \"on\""),
            Self::Unexpected { found, expected } => {
                write!(f, "Syntax error: found {found}")?;
                for (place, expected_token) in expected.iter().enumerate() {
                    let before = match place {
                        0 => ", expected ",
                        _ if place + 1 == expected.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{before}{expected_token}")?;
                }
                Ok(())
            }
        }
    }
}

impl Diagnostic for ParseError {
    fn code(&self) -> ErrorCode {
        ErrorCode::GraphqlParseFailed
    }
}

/// The parser's report comes as lines of text: `… Parse error at 1:7`, then what it met and what it expected.
fn syntax_error(tokens: &Tokens<'_>, restorer: &Restorer<'_>, report: &str) -> TokenError {
    let mut lines = report.lines();
    let place = lines.next().and_then(|line| line.rsplit_once(" at ")).and_then(|(_, place)| place.split_once(':'));
    let token = place.and_then(|(line, _)| restorer.token(line.trim().parse().ok()?));
    let expected = lines.find_map(|line| line.strip_prefix("Expected ")).unwrap_or_default();
    // One text for each of what the parser can expect; it names kinds of tokens by its own words.
    let known = [
        ("Name", "a name"),
        ("IntValue", "a value"),
        ("FloatValue", "a value"),
        ("StringValue", "a value"),
        ("BlockString", "a value"),
        ("true", "a value"),
        ("false", "a value"),
        ("null", "a value"),
        ("query", "\"query\""),
        ("mutation", "\"mutation\""),
        ("subscription", "\"subscription\""),
        ("fragment", "\"fragment\""),
        ("on", "\"on\""),
        ("end of input", "the end of the text"),
        ("...", "\"...\""),
        ("{", "\"{\""),
        ("}", "\"}\""),
        ("(", "\"(\""),
        (")", "\")\""),
        ("[", "\"[\""),
        ("]", "\"]\""),
        (":", "\":\""),
        ("!", "\"!\""),
        ("$", "\"$\""),
        ("=", "\"=\""),
        ("@", "\"@\""),
    ];
    let mut list = Vec::new();
    for word in expected.split(", ").flat_map(|words| words.split(" or ")) {
        if let Some((_, text)) = known.iter().find(|(name, text)| *name == word && !list.contains(text)) {
            list.push(*text);
        }
    }
    if list.contains(&"a value") {
        list.retain(|expected| *expected != "a name"); // which is an enum value there
    }
    let found = match token {
        None => "the end of the text".to_owned(),
        Some(token) => match token.kind {
            Kind::String | Kind::BlockString => "a string".to_owned(),
            Kind::Int | Kind::Float => "a number".to_owned(),
            Kind::Punctuator | Kind::Name => format!("\"{}\"", token.text.chars().take(60).collect::<String>()),
        },
    };
    (token.map_or(tokens.end, |token| token.location), ParseError::Unexpected { found, expected: list })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(), GraphqlErrors> {
        Source::read(text)?.parse().map(drop)
    }

    fn refusal(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// The string that the first argument of the first field is.
    fn argument(text: &str) -> String {
        let text = format!("{{ a(b: {text}) }}");
        let source = Source::read(&text).unwrap();
        let document = source.parse().unwrap();
        let ast::Definition::Operation(ast::OperationDefinition::SelectionSet(set)) = &document.definitions[0] else {
            panic!("not a shorthand query")
        };
        let ast::Selection::Field(field) = &set.items[0] else { panic!("not a field") };
        format!("{:?}", field.arguments[0].1)
    }

    #[test]
    fn literals_are_read_as_the_specification_says() {
        assert_eq!(argument(r#""\b\u{1F600}\uD83D\uDE00""#), "String(\"\\u{8}😀😀\")");
        assert_eq!(argument("\"\"\"\n  a\r\r  b \\\"\"\" \\n\n\"\"\""), "String(\"a\\n\\nb \\\"\\\"\\\" \\\\n\")");
        assert_eq!(argument("9223372036854775807"), "Int(Number(9223372036854775807))");
        assert_eq!(argument("9223372036854775808"), "Enum(\"9223372036854775808\")");
        assert!(is_long_number("-9223372036854775809") && !is_long_number("ORDER_DATE"));
        assert_eq!(argument("-1.5e2"), "Float(-150.0)");
        assert_eq!(argument("1e9"), "Float(1000000000.0)");
        assert_eq!(argument("[1, {z: \"z\", a: 1e0}]"), argument("[1 {a:1e0 z:\"\"\"z\"\"\"}]"));
    }

    #[test]
    fn what_the_specification_allows_is_read() {
        for text in [
            "\u{feff}{a}",
            "\"what\" query Q(\"who\" $a: Int = 1 \"\"\"why\"\"\" $b: String = \"x\") {a} \"how\" fragment F on T {a}",
            "query Q($a: Int = 1 @x(y: [1, {z: 2}]) @w, $b: [Int!]! @v) {a}",
            "query query { on: fragment type: query(null: null, true: true, on: on) @on ... on on { mutation } ... fragment }",
            "query fragment {a}",
            "fragment fragment on on {a}",
            "subscription {a}",
            "{ a(b: [], c: {}) }",
        ] {
            read(text).unwrap_or_else(|refusals| panic!("{text}: {refusals}"));
        }
    }

    #[test]
    fn what_the_specification_forbids_is_refused() {
        for text in [
            "",
            " # {a}",
            "{}",
            "{a{}}",
            "{a()}",
            "query () {a}",
            "query Q {a",
            "{a}}",
            "{a) }",
            "fragment on on T {a}",
            "\"x\" fragment on on T {a}",
            "fragment F($a: Int) on T {a}",
            "fragment F on {a}",
            "{ ...on }",
            "{ ... on {a} }",
            "{ ... }",
            "query ($a) {a}",
            "query ($a: Int!!) {a}",
            "query ($a: Int = $b) {a}",
            "query (\"x\" \"y\" $a: Int) {a}",
            "query ($a: \"x\" $b: Int) {a}",
            "query ($a \"x\" : Int) {a}",
            "\"x\" {a}",
            "\"x\" \"y\" query {a}",
            "query \"x\" Q {a}",
            "\"x\"",
            "{ \"x\" a }",
            "{ a: b: c }",
            "{ a @ }",
            "{ $a }",
            "{ a & b }",
            "{ a | b }",
            "type T {a: Int}",
            "extend type T {a: Int}",
            "{ a(b: c d) }",
            "query ($a: Int @) {a}",
            "query ($a: Int @x() {a}",
            "query ($a: Int @x()) {a}",
            "query ($a: Int @x(y: {z: [1}])) {a}",
            "query ($a: Int @x(y: {1: z})) {a}",
            "query ($a: Int @x(y 1)) {a}",
            "query ($a: Int @x : Int) {a}",
            "query ($a: Int @x(y: $a)) {a}",
            "query (@x $a: Int) {a}",
            "query ($a: Int! @x !) {a}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_say_what_was_found_and_what_was_expected() {
        insta::assert_snapshot!(
            [
                "{ a(b: ) }",
                "{ a",
                "",
                "{ orders {\n\t edges } ]",
                "{ a(b 1) }",
                "query ($a Int) {a}",
                "type T {a: Int}",
                "{ a(b: \"é😀\" ;) }",
                "{ a(b: 'x') }",
                "{ a(b: 01) }",
                "{ a(b: \"\\q\") }",
                "{ a(b: \"x\n\") }",
                "{ a(b: \"\"\"x\n) }",
                "{ a . b }",
                "fragment on on T {a}",
                "\"x\" {a}",
            ]
            .map(refusal)
            .join("\n")
        );
    }

    #[test]
    fn brackets_are_bounded_and_the_stack_holds_them() {
        for (open, close) in [("{a", "}"), ("...{a", "}")] {
            let nested = |depth: usize| format!("{{a{}{}}}", open.repeat(depth - 1), close.repeat(depth - 1));
            read(&nested(MOST_OPEN_BRACKETS)).unwrap();
            assert!(refusal(&nested(MOST_OPEN_BRACKETS + 1)).contains("at most 50 brackets"));
        }
        for (open, close) in [("[", "]"), ("{a:", "}"), ("[{a:", "}]")] {
            let nested = |depth: usize| {
                let times = (depth - 2) / open.matches(['[', '{']).count();
                format!("{{a(b: {}1{})}}", open.repeat(times), close.repeat(times))
            };
            read(&nested(MOST_OPEN_BRACKETS)).unwrap();
            assert!(refusal(&nested(MOST_OPEN_BRACKETS + 2)).contains("at most 50 brackets"));
        }
        assert!(refusal(&"[".repeat(9_000)).contains("at most 50 brackets"));
        let types = |depth: usize| format!("query ($a: {}Int{}) {{a}}", "[".repeat(depth), "]".repeat(depth));
        read(&types(MOST_OPEN_BRACKETS - 1)).unwrap();
    }

    #[test]
    fn arguments_are_found_again() {
        let text = "query($c: Int) {\n  x: a(b: [{b: 1}],\n    c: {d: $c}) @include(if:\n $c)\n}";
        let source = Source::read(text).unwrap();
        let document = source.parse().unwrap();
        let field = Pos { line: 2, column: 3 };
        assert_eq!(document.argument(field, 0), Location { line: 2, column: 8 });
        assert_eq!(document.argument_value(field, 0), Location { line: 2, column: 11 });
        assert_eq!(document.argument(field, 1), Location { line: 3, column: 5 });
        assert_eq!(document.variable(field, 1, "c"), Location { line: 3, column: 12 });
        assert_eq!(document.variable(Pos { line: 3, column: 17 }, 0, "c"), Location { line: 4, column: 2 });
    }

    #[test]
    fn what_the_tree_cannot_hold_is_told_aside() {
        let source = Source::read("query ($a: Int @x) { a(b: {c: 1, d: {c: 1}, c: 2}) }").unwrap();
        let document = source.parse().unwrap();
        assert_eq!(document.aside.variable_directives, [("x", Location { line: 1, column: 16 })]);
        let places = [Location { line: 1, column: 28 }, Location { line: 1, column: 45 }];
        assert_eq!(document.aside.repeated_input_fields, [("c", places)]);
    }
}
