//! Puts the positions and literals of the client's text back into the tree that the parser made of the normalized text.

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::error::graphql_error::Location;
use crate::query::parse::lexer::{LexedTokens, Token, TokenKind};
use crate::query::parse::normalize::NormalizedText;
use crate::query::parse::strings;

/// Maps lines of a normalized text to the client's tokens.
pub(super) struct Restorer<'s> {
    tokens: &'s LexedTokens<'s>,
    token_indexes: &'s [usize],
}

impl<'s> Restorer<'s> {
    /// The normalized text must have been made of these tokens.
    pub(super) fn new(tokens: &'s LexedTokens<'s>, normalized: &'s NormalizedText<'s>) -> Self {
        Self { tokens, token_indexes: &normalized.token_indexes }
    }

    /// The token on that line, counted from 1; `None` after the last.
    pub(super) fn token(&self, line: usize) -> Option<&'s Token<'s>> {
        let index = self.token_indexes.get(line.checked_sub(1)?)?;
        self.tokens.list.get(*index)
    }

    /// Restores a definition.
    pub(super) fn definition(&self, definition: &mut ast::Definition<'s, &'s str>) {
        match definition {
            ast::Definition::Operation(operation) => self.operation(operation),
            ast::Definition::Fragment(fragment) => {
                self.position(&mut fragment.position);
                self.directives(&mut fragment.directives);
                self.selections(&mut fragment.selection_set);
            }
        }
    }

    fn operation(&self, operation: &mut ast::OperationDefinition<'s, &'s str>) {
        let (position, variables, directives, selections) = match operation {
            ast::OperationDefinition::SelectionSet(set) => return self.selections(set),
            ast::OperationDefinition::Query(query) => {
                (&mut query.position, &mut query.variable_definitions, &mut query.directives, &mut query.selection_set)
            }
            ast::OperationDefinition::Mutation(other) => {
                (&mut other.position, &mut other.variable_definitions, &mut other.directives, &mut other.selection_set)
            }
            ast::OperationDefinition::Subscription(other) => {
                (&mut other.position, &mut other.variable_definitions, &mut other.directives, &mut other.selection_set)
            }
        };
        self.position(position);
        for variable in variables {
            self.position(&mut variable.position);
            variable.default_value.iter_mut().for_each(|value| self.value(value));
        }
        self.directives(directives);
        self.selections(selections);
    }

    fn selections(&self, set: &mut ast::SelectionSet<'s, &'s str>) {
        self.position(&mut set.span.0);
        self.position(&mut set.span.1);
        for selection in &mut set.items {
            match selection {
                ast::Selection::Field(field) => {
                    self.position(&mut field.position);
                    self.arguments(&mut field.arguments);
                    self.directives(&mut field.directives);
                    self.selections(&mut field.selection_set);
                }
                ast::Selection::FragmentSpread(spread) => {
                    self.previous_position(&mut spread.position);
                    self.directives(&mut spread.directives);
                }
                ast::Selection::InlineFragment(fragment) => {
                    self.previous_position(&mut fragment.position);
                    self.directives(&mut fragment.directives);
                    self.selections(&mut fragment.selection_set);
                }
            }
        }
    }

    fn directives(&self, directives: &mut [ast::Directive<'s, &'s str>]) {
        for directive in directives {
            self.position(&mut directive.position);
            self.arguments(&mut directive.arguments);
        }
    }

    fn arguments(&self, arguments: &mut [(&'s str, ast::Value<'s, &'s str>)]) {
        for (_, value) in arguments {
            self.value(value);
        }
    }

    fn value(&self, value: &mut ast::Value<'s, &'s str>) {
        match value {
            ast::Value::String(index) => *value = self.literal(index),
            ast::Value::List(values) => values.iter_mut().for_each(|value| self.value(value)),
            ast::Value::Object(fields) => fields.values_mut().for_each(|value| self.value(value)),
            ast::Value::Variable(_)
            | ast::Value::Int(_)
            | ast::Value::Float(_)
            | ast::Value::Boolean(_)
            | ast::Value::Null
            | ast::Value::Enum(_) => {}
        }
    }

    /// The value of the literal whose token has that index.
    fn literal(&self, index: &str) -> ast::Value<'s, &'s str> {
        let token = index.parse().ok().and_then(|index: usize| self.tokens.list.get(index));
        match token.map(|token| (token.kind, token.text)) {
            Some((TokenKind::String, text)) => ast::Value::String(strings::string_value(text)),
            Some((TokenKind::BlockString, text)) => ast::Value::String(strings::block_string_value(text)),
            // The tree's integers have 64 bits. A longer one becomes an enum value that no enum can have, which
            // `document::is_long_number` recognizes.
            Some((TokenKind::Int, text)) => ast::Value::Enum(text),
            // A number that exceeds the range of floats is infinite. The normalizer replaces no other tokens.
            Some((TokenKind::Float | TokenKind::Punctuator | TokenKind::Name, text)) => {
                ast::Value::Float(text.parse().unwrap_or(f64::INFINITY))
            }
            None => unreachable!("the strings of a normalized text are indexes of tokens"),
        }
    }

    fn position(&self, position: &mut Pos) {
        *position = self.token_position(position.line);
    }

    /// Restores the position of the previous token: the dots of a spread or an inline fragment.
    fn previous_position(&self, position: &mut Pos) {
        *position = self.token_position(position.line - 1);
    }

    fn token_position(&self, line: usize) -> Pos {
        let Location { line, column } = self.token(line).map_or(self.tokens.end, |token| token.location);
        let number = |n| usize::try_from(n).unwrap_or(usize::MAX);
        Pos { line: number(line), column: number(column) }
    }
}
