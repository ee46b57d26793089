//! The parser's tree of an arranged text, made one of the client's text: places and literals are put back.

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::error::graphql_error::Location;
use crate::query::arrange::Arranged;
use crate::query::strings;
use crate::query::tokens::{Kind, Token, Tokens};

/// The way back from an arranged text to the client's.
pub(super) struct Restorer<'s> {
    tokens: &'s Tokens<'s>,
    lines: &'s [usize],
}

impl<'s> Restorer<'s> {
    /// For a text that was arranged of these tokens.
    pub(super) fn new(tokens: &'s Tokens<'s>, arranged: &'s Arranged<'s>) -> Self {
        Self { tokens, lines: &arranged.lines }
    }

    /// The token on that line, counted from 1; `None` behind the last.
    pub(super) fn token(&self, line: usize) -> Option<&'s Token<'s>> {
        let token = self.lines.get(line.checked_sub(1)?)?;
        self.tokens.list.get(*token)
    }

    /// Puts a definition back.
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
                    self.position_before(&mut spread.position);
                    self.directives(&mut spread.directives);
                }
                ast::Selection::InlineFragment(fragment) => {
                    self.position_before(&mut fragment.position);
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
            ast::Value::String(number) => *value = self.literal(number),
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

    /// The value of the literal whose token has that number.
    fn literal(&self, number: &str) -> ast::Value<'s, &'s str> {
        let token = number.parse().ok().and_then(|at: usize| self.tokens.list.get(at));
        match token.map(|token| (token.kind, token.text)) {
            Some((Kind::String, text)) => ast::Value::String(strings::string_value(text)),
            Some((Kind::BlockString, text)) => ast::Value::String(strings::block_string_value(text)),
            // The tree's integers have 64 bits. A longer one goes as what no enum value can be: `parse::is_long_number`.
            Some((Kind::Int, text)) => ast::Value::Enum(text),
            // A number too large for a float is infinite.
            Some((_, text)) => ast::Value::Float(text.parse().unwrap_or(f64::INFINITY)),
            None => unreachable!("an arranged text has no strings but the numbers of its tokens"),
        }
    }

    fn position(&self, position: &mut Pos) {
        *position = self.place(position.line);
    }

    /// Puts back the place of the token before: the dots of a spread or an inline fragment.
    fn position_before(&self, position: &mut Pos) {
        *position = self.place(position.line - 1);
    }

    fn place(&self, line: usize) -> Pos {
        let Location { line, column } = self.token(line).map_or(self.tokens.end, |token| token.location);
        let number = |n| usize::try_from(n).unwrap_or(usize::MAX);
        Pos { line: number(line), column: number(column) }
    }
}
