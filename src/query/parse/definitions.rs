//! The definitions of a document, one by one: what a client sends is one operation with the fragments that it needs.

use crate::error::graphql_error::GraphqlErrors;
use crate::query::parse::lexer::{Token, TokenKind};
use crate::query::parse::source::Source;

/// An operation or a fragment of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Whether it is an operation.
    pub is_operation: bool,
    /// Its name. A fragment always has one.
    pub name: Option<String>,
    /// The line of the document on which it begins.
    pub line: u32,
    /// Its text without comments. Each token is in its column, and as many lines below the first as in the document.
    pub text: String,
    /// The names of the fragments that it spreads.
    pub spreads: Vec<String>,
}

/// The definitions of a document, in its order; none of a text that has comments alone. Fails unless any other text is a document.
pub fn definitions(text: &str) -> Result<Vec<Definition>, GraphqlErrors> {
    let source = Source::read(text)?;
    if source.is_empty() {
        return Ok(Vec::new());
    }
    let document = source.parse()?;
    let (mut definitions, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (index, token) in document.tokens.iter().enumerate() {
        if token.is_opening_bracket() {
            depth += 1;
        } else if token.is_closing_bracket() {
            depth = depth.saturating_sub(1);
            // The braces of a selection set are the outermost ones.
            if depth == 0 && token.is_punctuator("}") {
                definitions.push(definition(&document.tokens[start..=index]));
                start = index + 1;
            }
        }
    }
    Ok(definitions)
}

fn definition(tokens: &[Token<'_>]) -> Definition {
    let described = usize::from(tokens[0].is_string());
    let (keyword, name) = (&tokens[described], tokens.get(described + 1));
    let name = name.filter(|name| keyword.kind == TokenKind::Name && name.kind == TokenKind::Name);
    let spreads = tokens.windows(2).filter(|pair| pair[0].is_punctuator("...") && !pair[1].is_name("on"));
    let spreads = spreads.filter(|pair| pair[1].kind == TokenKind::Name).map(|pair| pair[1].text.to_owned());
    Definition {
        is_operation: !keyword.is_name("fragment"),
        name: name.map(|name| name.text.to_owned()),
        line: tokens[0].location.line,
        text: written(tokens),
        spreads: spreads.collect(),
    }
}

/// The tokens where they were, but for the lines above the first.
fn written(tokens: &[Token<'_>]) -> String {
    let (mut text, mut line, mut column) = (String::new(), tokens[0].location.line, 1);
    for token in tokens {
        while line < token.location.line {
            text.push('\n');
            (line, column) = (line + 1, 1);
        }
        while column < token.location.column {
            text.push(' ');
            column += 1;
        }
        text.push_str(token.text);
        for c in token.text.replace("\r\n", "\n").chars() {
            (line, column) = if matches!(c, '\n' | '\r') { (line + 1, 1) } else { (line, column + 1) };
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_document_apart_without_moving_its_tokens() {
        let text = "# all\nquery A($q: String = \"}\") @x(a: {b: 1}) {\n\ta(query: \"\"\"one\n two\"\"\", b: 1) { ...F ... on T { b } }\n} \
                    # end\n  fragment F on T { c ...G ... @include(if: true) { d } }\n{ e }";
        let definitions = definitions(text).unwrap();
        let names: Vec<_> = definitions.iter().map(|one| (one.is_operation, one.name.as_deref(), one.line)).collect();
        assert_eq!(names, [(true, Some("A"), 2), (false, Some("F"), 6), (true, None, 7)]);
        assert_eq!(definitions[0].spreads, ["F"]);
        assert_eq!(definitions[1].spreads, ["G"]);
        let expected = "query A($q: String = \"}\") @x(a: {b: 1}) {\n a(query: \"\"\"one\n two\"\"\"  b: 1) { ...F ... on T { b } }\n}";
        assert_eq!(definitions[0].text, expected);
        assert_eq!(definitions[1].text, "  fragment F on T { c ...G ... @include(if: true) { d } }");
        assert!(super::definitions("{ a").is_err());
        assert_eq!(super::definitions("# Nothing.\n"), Ok(Vec::new()));
    }
}
