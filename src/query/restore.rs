//! The parser's tree of an arranged text, as a tree of the client's text: places and literals put back.

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::query::arrange::{Arranged, Line};
use crate::query::strings;
use crate::query::tokens::{Kind, Token, Tokens};
use crate::refusal::Location;

/// The way back from an arranged text to the client's.
pub(super) struct Restorer<'t, 'a> {
    tokens: &'t Tokens<'a>,
    text: &'t str,
    lines: &'t [Line],
}

impl<'t, 'a> Restorer<'t, 'a> {
    /// For a text that was arranged of these tokens.
    pub(super) fn new(tokens: &'t Tokens<'a>, arranged: &'t Arranged<'a>) -> Self {
        Self { tokens, text: &arranged.text, lines: &arranged.lines }
    }

    /// The token on that line, counted from 1; `None` behind the last.
    pub(super) fn token(&self, line: usize) -> Option<&'t Token<'a>> {
        let line = self.lines.get(line.checked_sub(1)?)?;
        self.tokens.list.get(line.token)
    }

    /// A definition, put back.
    pub(super) fn definition<'r>(&self, definition: ast::Definition<'r, &'r str>) -> ast::Definition<'a, &'a str> {
        match definition {
            ast::Definition::Operation(operation) => ast::Definition::Operation(self.operation(operation)),
            ast::Definition::Fragment(fragment) => ast::Definition::Fragment(ast::FragmentDefinition {
                position: self.position(fragment.position),
                name: self.name(fragment.name),
                type_condition: self.condition(&fragment.type_condition),
                directives: self.directives(fragment.directives),
                selection_set: self.selections(fragment.selection_set),
            }),
        }
    }

    fn operation<'r>(&self, operation: ast::OperationDefinition<'r, &'r str>) -> ast::OperationDefinition<'a, &'a str> {
        match operation {
            ast::OperationDefinition::SelectionSet(set) => ast::OperationDefinition::SelectionSet(self.selections(set)),
            ast::OperationDefinition::Query(query) => ast::OperationDefinition::Query(ast::Query {
                position: self.position(query.position),
                name: query.name.map(|name| self.name(name)),
                variable_definitions: self.variables(query.variable_definitions),
                directives: self.directives(query.directives),
                selection_set: self.selections(query.selection_set),
            }),
            ast::OperationDefinition::Mutation(mutation) => ast::OperationDefinition::Mutation(ast::Mutation {
                position: self.position(mutation.position),
                name: mutation.name.map(|name| self.name(name)),
                variable_definitions: self.variables(mutation.variable_definitions),
                directives: self.directives(mutation.directives),
                selection_set: self.selections(mutation.selection_set),
            }),
            ast::OperationDefinition::Subscription(subscription) => {
                ast::OperationDefinition::Subscription(ast::Subscription {
                    position: self.position(subscription.position),
                    name: subscription.name.map(|name| self.name(name)),
                    variable_definitions: self.variables(subscription.variable_definitions),
                    directives: self.directives(subscription.directives),
                    selection_set: self.selections(subscription.selection_set),
                })
            }
        }
    }

    fn variables<'r>(
        &self,
        definitions: Vec<ast::VariableDefinition<'r, &'r str>>,
    ) -> Vec<ast::VariableDefinition<'a, &'a str>> {
        let restored = definitions.into_iter().map(|definition| ast::VariableDefinition {
            position: self.position(definition.position),
            name: self.name(definition.name),
            var_type: self.ty(definition.var_type),
            default_value: definition.default_value.map(|value| self.value(value)),
        });
        restored.collect()
    }

    fn ty<'r>(&self, ty: ast::Type<'r, &'r str>) -> ast::Type<'a, &'a str> {
        match ty {
            ast::Type::NamedType(name) => ast::Type::NamedType(self.name(name)),
            ast::Type::ListType(inner) => ast::Type::ListType(Box::new(self.ty(*inner))),
            ast::Type::NonNullType(inner) => ast::Type::NonNullType(Box::new(self.ty(*inner))),
        }
    }

    fn selections<'r>(&self, set: ast::SelectionSet<'r, &'r str>) -> ast::SelectionSet<'a, &'a str> {
        ast::SelectionSet {
            span: (self.position(set.span.0), self.position(set.span.1)),
            items: set.items.into_iter().map(|selection| self.selection(selection)).collect(),
        }
    }

    fn selection<'r>(&self, selection: ast::Selection<'r, &'r str>) -> ast::Selection<'a, &'a str> {
        match selection {
            ast::Selection::Field(field) => ast::Selection::Field(ast::Field {
                position: self.position(field.position),
                alias: field.alias.map(|alias| self.name(alias)),
                name: self.name(field.name),
                arguments: self.arguments(field.arguments),
                directives: self.directives(field.directives),
                selection_set: self.selections(field.selection_set),
            }),
            ast::Selection::FragmentSpread(spread) => ast::Selection::FragmentSpread(ast::FragmentSpread {
                position: self.before(spread.position),
                fragment_name: self.name(spread.fragment_name),
                directives: self.directives(spread.directives),
            }),
            ast::Selection::InlineFragment(fragment) => ast::Selection::InlineFragment(ast::InlineFragment {
                position: self.before(fragment.position),
                type_condition: fragment.type_condition.as_ref().map(|condition| self.condition(condition)),
                directives: self.directives(fragment.directives),
                selection_set: self.selections(fragment.selection_set),
            }),
        }
    }

    fn condition<'r>(&self, condition: &ast::TypeCondition<'r, &'r str>) -> ast::TypeCondition<'a, &'a str> {
        let ast::TypeCondition::On(name) = condition;
        ast::TypeCondition::On(self.name(name))
    }

    fn directives<'r>(&self, directives: Vec<ast::Directive<'r, &'r str>>) -> Vec<ast::Directive<'a, &'a str>> {
        let restored = directives.into_iter().map(|directive| ast::Directive {
            position: self.position(directive.position),
            name: self.name(directive.name),
            arguments: self.arguments(directive.arguments),
        });
        restored.collect()
    }

    fn arguments<'r>(
        &self,
        arguments: Vec<(&'r str, ast::Value<'r, &'r str>)>,
    ) -> Vec<(&'a str, ast::Value<'a, &'a str>)> {
        arguments.into_iter().map(|(name, value)| (self.name(name), self.value(value))).collect()
    }

    fn value<'r>(&self, value: ast::Value<'r, &'r str>) -> ast::Value<'a, &'a str> {
        match value {
            ast::Value::Variable(name) => ast::Value::Variable(self.name(name)),
            ast::Value::Int(number) => ast::Value::Int(number),
            ast::Value::Float(number) => ast::Value::Float(number),
            ast::Value::String(number) => self.literal(&number),
            ast::Value::Boolean(truth) => ast::Value::Boolean(truth),
            ast::Value::Null => ast::Value::Null,
            ast::Value::Enum(name) => ast::Value::Enum(self.name(name)),
            ast::Value::List(values) => ast::Value::List(values.into_iter().map(|value| self.value(value)).collect()),
            ast::Value::Object(fields) => ast::Value::Object(
                fields.into_iter().map(|(name, value)| (self.name(name), self.value(value))).collect(),
            ),
        }
    }

    /// The value of the literal whose token has that number.
    fn literal(&self, number: &str) -> ast::Value<'a, &'a str> {
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

    /// The same name in the client's text. The parser's is a part of the arranged text, and where it lies there tells its
    /// line.
    fn name(&self, name: &str) -> &'a str {
        let start = name.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        let token = self.lines.binary_search_by_key(&start, |line| line.start).ok();
        let token = token.and_then(|line| self.token(line + 1)).filter(|token| token.text == name);
        token.map_or_else(|| unreachable!("an arranged text has the client's names"), |token| token.text)
    }

    fn position(&self, position: Pos) -> Pos {
        self.place(position.line)
    }

    /// The place of the token before: the dots of a spread or an inline fragment.
    fn before(&self, position: Pos) -> Pos {
        self.place(position.line - 1)
    }

    fn place(&self, line: usize) -> Pos {
        let Location { line, column } = self.token(line).map_or(self.tokens.end, |token| token.location);
        let number = |n| usize::try_from(n).unwrap_or(usize::MAX);
        Pos { line: number(line), column: number(column) }
    }
}
