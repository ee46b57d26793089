//! A text in the course of parsing: its tokens, and the text that `graphql_parser` parses.

use graphql_parser::query as ast;

use crate::error::graphql_error::GraphqlErrors;
use crate::query::parse::document::Document;
use crate::query::parse::error::{ParseError, ParseErrorKind};
use crate::query::parse::lexer::{LexedTokens, TokenKind, tokenize};
use crate::query::parse::normalize::{NormalizedText, normalize};
use crate::query::parse::restore::Restorer;

/// The most characters of a token that an error repeats.
const MAX_TOKEN_IN_ERROR: usize = 60;

/// A text with its tokens. Documents borrow from it.
#[derive(Debug)]
pub struct Source<'a> {
    tokens: LexedTokens<'a>,
    normalized: NormalizedText<'a>,
}

impl<'a> Source<'a> {
    /// Splits a text into tokens. Fails at the first character that is not part of a token, and at a limit.
    pub fn read(text: &'a str) -> Result<Self, GraphqlErrors> {
        let tokens = tokenize(text)?;
        let normalized = normalize(&tokens)?;
        Ok(Self { tokens, normalized })
    }

    /// Whether the text has no token.
    pub(super) fn is_empty(&self) -> bool {
        self.tokens.list.is_empty()
    }

    /// Parses the document. Fails at the first token that the grammar does not allow.
    pub fn parse(&self) -> Result<Document<'_>, GraphqlErrors> {
        let Self { tokens, normalized } = self;
        let restorer = Restorer::new(tokens, normalized);
        let parsed = ast::parse_query::<&str>(&normalized.text)
            .map_err(|error| syntax_error(tokens, &restorer, &error.to_string()))?;
        let mut definitions = parsed.definitions;
        for definition in &mut definitions {
            restorer.definition(definition);
        }
        Ok(Document { definitions, omissions: &normalized.omissions, tokens: &tokens.list })
    }
}

/// The error for a report of `graphql_parser`. A report has several lines: `… Parse error at 1:7`, then what the parser
/// found and what it expected.
fn syntax_error(tokens: &LexedTokens<'_>, restorer: &Restorer<'_>, report: &str) -> ParseError {
    let mut lines = report.lines();
    let position = lines.next().and_then(|line| line.rsplit_once(" at ")).map(|(_, position)| position);
    let token = position.and_then(|position| restorer.token(position.split_once(':')?.0.trim().parse().ok()?));
    let expected = lines.find_map(|line| line.strip_prefix("Expected ")).unwrap_or_default();
    let found = match token {
        None => "the end of the text".to_owned(),
        Some(token) => match token.kind {
            TokenKind::String | TokenKind::BlockString => "a string".to_owned(),
            TokenKind::Int | TokenKind::Float => "a number".to_owned(),
            TokenKind::Punctuator | TokenKind::Name => {
                format!("\"{}\"", token.text.chars().take(MAX_TOKEN_IN_ERROR).collect::<String>())
            }
        },
    };
    let kind = ParseErrorKind::Unexpected { found, expected: expected_tokens(expected) };
    ParseError { location: token.map_or(tokens.end, |token| token.location), kind }
}

/// Translates the list of tokens that `graphql_parser` expected. The parser has its own names for kinds of tokens.
fn expected_tokens(report: &str) -> Vec<&'static str> {
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
    let mut expected = Vec::new();
    for word in report.split(", ").flat_map(|words| words.split(" or ")) {
        if let Some((_, text)) = known.iter().find(|(name, text)| *name == word && !expected.contains(text)) {
            expected.push(*text);
        }
    }
    if expected.contains(&"a value") {
        // A name is an enum value where values are allowed.
        expected.retain(|text| *text != "a name");
    }
    expected
}

#[cfg(test)]
mod tests {
    use graphql_parser::Pos;

    use super::*;
    use crate::error::graphql_error::Location;
    use crate::query::document_limits::MAX_OPEN_BRACKETS;
    use crate::query::parse::document::is_long_number;

    fn read(text: &str) -> Result<(), GraphqlErrors> {
        Source::read(text)?.parse().map(drop)
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// The value of the first field's first argument, as debug output.
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
    fn reads_literals_as_the_specification_defines_them() {
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
    fn parses_what_the_grammar_allows() {
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
            read(text).unwrap_or_else(|errors| panic!("{text}: {errors}"));
        }
    }

    #[test]
    fn rejects_what_the_grammar_does_not_allow() {
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
    fn reports_what_was_found_and_what_was_expected() {
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
            .map(error)
            .join("\n")
        );
    }

    #[test]
    fn limits_open_brackets_so_that_recursion_fits_the_stack() {
        for (open, close) in [("{a", "}"), ("...{a", "}")] {
            let nested = |depth: usize| format!("{{a{}{}}}", open.repeat(depth - 1), close.repeat(depth - 1));
            read(&nested(MAX_OPEN_BRACKETS)).unwrap();
            assert!(error(&nested(MAX_OPEN_BRACKETS + 1)).contains("at most 50 brackets"));
        }
        for (open, close) in [("[", "]"), ("{a:", "}"), ("[{a:", "}]")] {
            let nested = |depth: usize| {
                let times = (depth - 2) / open.matches(['[', '{']).count();
                format!("{{a(b: {}1{})}}", open.repeat(times), close.repeat(times))
            };
            read(&nested(MAX_OPEN_BRACKETS)).unwrap();
            assert!(error(&nested(MAX_OPEN_BRACKETS + 2)).contains("at most 50 brackets"));
        }
        assert!(error(&"[".repeat(9_000)).contains("at most 50 brackets"));
        let types = |depth: usize| format!("query ($a: {}Int{}) {{a}}", "[".repeat(depth), "]".repeat(depth));
        read(&types(MAX_OPEN_BRACKETS - 1)).unwrap();
    }

    #[test]
    fn locates_arguments_values_and_variables() {
        let text = "query($c: Int) {\n  x: a(b: [{b: 1}],\n    c: {d: $c}) @include(if:\n $c)\n}";
        let source = Source::read(text).unwrap();
        let document = source.parse().unwrap();
        let field = Pos { line: 2, column: 3 };
        assert_eq!(document.argument_location(field, 0), Location { line: 2, column: 8 });
        assert_eq!(document.value_location(field, 0), Location { line: 2, column: 11 });
        assert_eq!(document.argument_location(field, 1), Location { line: 3, column: 5 });
        assert_eq!(document.variable_location(field, 1, "c"), Location { line: 3, column: 12 });
        assert_eq!(document.variable_location(Pos { line: 3, column: 17 }, 0, "c"), Location { line: 4, column: 2 });
    }

    #[test]
    fn lists_what_the_tree_cannot_represent() {
        let source = Source::read("query ($a: Int @x) { a(b: {c: 1, d: {c: 1}, c: 2}) }").unwrap();
        let document = source.parse().unwrap();
        assert_eq!(document.omissions.variable_directives, [("x", Location { line: 1, column: 16 })]);
        let locations = [Location { line: 1, column: 28 }, Location { line: 1, column: 45 }];
        assert_eq!(document.omissions.duplicate_input_fields, [("c", locations)]);
    }
}
