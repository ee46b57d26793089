//! A parsed document: the tree of `graphql_parser`, and the locations that the tree lacks.

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::error::graphql_error::Location;
use crate::query::parse::lexer::{Token, TokenKind};
use crate::query::parse::normalize::AstOmissions;

/// A document. It borrows from its source and does not leave the module `query`.
#[derive(Debug)]
pub struct Document<'s> {
    pub(crate) definitions: Vec<ast::Definition<'s, &'s str>>,
    pub(in crate::query) omissions: &'s AstOmissions<'s>,
    pub(super) tokens: &'s [Token<'s>],
}

/// Converts a position of the parser.
pub(in crate::query) fn location(position: Pos) -> Location {
    let number = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Location { line: number(position.line), column: number(position.column) }
}

/// The parts that operations and fragments have in common.
pub(in crate::query) struct DefinitionParts<'d, 'a> {
    /// Fragments always have one.
    pub(in crate::query) name: Option<&'a str>,
    pub(in crate::query) position: Pos,
    pub(in crate::query) variables: &'d [ast::VariableDefinition<'a, &'a str>],
    pub(in crate::query) directives: &'d [ast::Directive<'a, &'a str>],
    pub(in crate::query) selection_set: &'d ast::SelectionSet<'a, &'a str>,
}

/// The parts of an operation, whatever its kind.
pub(in crate::query) fn operation_parts<'d, 'a>(
    operation: &'d ast::OperationDefinition<'a, &'a str>,
) -> DefinitionParts<'d, 'a> {
    let (name, position, variables, directives, selection_set) = match operation {
        ast::OperationDefinition::SelectionSet(set) => (None, set.span.0, &[][..], &[][..], set),
        ast::OperationDefinition::Query(query) => {
            (query.name, query.position, &*query.variable_definitions, &*query.directives, &query.selection_set)
        }
        ast::OperationDefinition::Mutation(other) => {
            (other.name, other.position, &*other.variable_definitions, &*other.directives, &other.selection_set)
        }
        ast::OperationDefinition::Subscription(other) => {
            (other.name, other.position, &*other.variable_definitions, &*other.directives, &other.selection_set)
        }
    };
    DefinitionParts { name, position, variables, directives, selection_set }
}

/// Whether the name of an enum value is in fact a whole number, one that exceeds the tree's integers. No name begins
/// like a number.
pub(in crate::query) fn is_long_number(name: &str) -> bool {
    name.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Arguments are addressed by the position of their field or directive (`owner`) and their index.
impl Document<'_> {
    /// Whether the tree has all of the document but for descriptions.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn is_whole(&self) -> bool {
        self.omissions.variable_directives.is_empty() && self.omissions.duplicate_input_fields.is_empty()
    }

    /// The location of an argument's name.
    pub(in crate::query) fn argument_location(&self, owner: Pos, index: usize) -> Location {
        let name = self.argument_token(owner, index);
        name.map_or(location(owner), |token| self.tokens[token].location)
    }

    /// The location of an argument's value.
    pub(in crate::query) fn value_location(&self, owner: Pos, index: usize) -> Location {
        let value = self.argument_token(owner, index).and_then(|token| self.tokens.get(token + 2));
        value.map_or(location(owner), |token| token.location)
    }

    /// The location of a variable's first use in an argument's value.
    pub(in crate::query) fn variable_location(&self, owner: Pos, index: usize, name: &str) -> Location {
        let rest = self.argument_token(owner, index).map_or(&[][..], |token| &self.tokens[token..]);
        let usage = rest.windows(2).find(|pair| pair[0].is_punctuator("$") && pair[1].is_name(name));
        usage.map_or(location(owner), |pair| pair[0].location)
    }

    /// The first tokens of the values of an owner's arguments, in document order. The iterator does not end with the last argument of the
    /// owner: further tokens belong to other parts.
    pub(in crate::query) fn value_tokens(&self, owner: Pos) -> impl Iterator<Item = &Token<'_>> {
        self.argument_tokens(owner).filter_map(|token| self.tokens.get(token + 2))
    }

    fn argument_token(&self, owner: Pos, index: usize) -> Option<usize> {
        self.argument_tokens(owner).nth(index)
    }

    /// The indexes of the tokens that name arguments: the arguments of the owner, then the arguments in the text after it.
    fn argument_tokens(&self, owner: Pos) -> impl Iterator<Item = usize> {
        let owner = location(owner);
        let start = self.tokens.binary_search_by_key(&owner, |token| token.location).unwrap_or(self.tokens.len());
        let mut depth = 0_usize;
        self.tokens.windows(2).enumerate().skip(start).filter_map(move |(index, pair)| {
            let token = &pair[0];
            if token.is_opening_bracket() {
                depth += 1;
            } else if token.is_closing_bracket() {
                depth = depth.saturating_sub(1);
            }
            (depth == 1 && token.kind == TokenKind::Name && pair[1].is_punctuator(":")).then_some(index)
        })
    }
}
