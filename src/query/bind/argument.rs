//! The arguments of one selected field, with variables replaced by their values.

use crate::catalog::binding::Lookup;
use crate::catalog::column::Column;
use crate::catalog::connection::Connection;
use crate::catalog::prices::{COUNT_RANGE, MAX_COUNT};
use crate::catalog::schema::{Argument, ArgumentRole, Field};
use crate::query::bind::column_value;
use crate::query::bind::error::BindError;
use crate::query::bind::variable::Values;
use crate::query::operation::{Literal, Selection};
use crate::value::Value;

/// A selection, and the field that it selects.
#[derive(Clone, Copy)]
pub(super) struct Selected<'a> {
    pub(super) selection: &'a Selection,
    pub(super) field: &'a Field,
}

impl<'a> Selected<'a> {
    /// The arguments that the selection gives to the field.
    pub(super) fn arguments<'v>(self, values: &'v Values<'v>) -> Arguments<'v>
    where
        'a: 'v,
    {
        Arguments::new(self.field, &self.selection.arguments, values)
    }
}

/// The arguments of one selected field.
pub(crate) struct Arguments<'a> {
    pub(crate) field: &'a Field,
    given: &'a [(usize, Literal)],
    values: &'a Values<'a>,
}

impl<'a> Arguments<'a> {
    /// The arguments that a selection gives to a field.
    pub(super) fn new(field: &'a Field, given: &'a [(usize, Literal)], values: &'a Values<'a>) -> Self {
        Self { field, given, values }
    }

    /// The value of the argument with that role; `None` if it is left out, null, or a variable without a value.
    pub(crate) fn get(&self, role: ArgumentRole) -> Option<&'a Literal> {
        let index = self.field.arguments.iter().position(|argument| argument.role == role)?;
        self.at(index)
    }

    /// Whether the field has an argument with that role.
    pub(super) fn takes(&self, role: ArgumentRole) -> bool {
        self.field.arguments.iter().any(|argument| argument.role == role)
    }

    /// The index of the variable that gives the argument with that role, if one does.
    pub(super) fn variable(&self, role: ArgumentRole) -> Option<usize> {
        let index = self.field.arguments.iter().position(|argument| argument.role == role)?;
        match self.given.iter().find(|(given, _)| *given == index)? {
            (_, Literal::Variable(variable)) => Some(*variable),
            _ => None,
        }
    }

    /// An error for each argument that is null and cannot be. A variable with a default may have such a null.
    pub(super) fn nulls(&self) -> impl Iterator<Item = BindError> {
        let is_null = |index: usize, argument: &Argument| {
            let given = self.given.iter().find(|(given, _)| *given == index);
            let Some((_, Literal::Variable(variable))) = given else { return false };
            match self.values.get(*variable) {
                Some(value) => *value == Literal::Null,
                None => argument.default.is_none(),
            }
        };
        let arguments = self.field.arguments.iter().enumerate();
        let nulls = arguments.filter(move |(index, argument)| argument.ty.is_non_null() && is_null(*index, argument));
        nulls.map(|(_, argument)| bad_argument(self.field, argument, "a value that is not null"))
    }

    /// The elements of the list that the argument with that role has, or its one value. Nulls among them are left out.
    pub(super) fn list(&self, role: ArgumentRole) -> Vec<&'a Literal> {
        let elements = match self.get(role) {
            Some(Literal::List(elements)) => elements.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        let value = |element: &'a Literal| match element {
            Literal::Variable(variable) => self.values.get(*variable),
            element => Some(element),
        };
        elements.iter().filter_map(value).collect()
    }

    fn at(&self, index: usize) -> Option<&'a Literal> {
        let literal = self.given.iter().find(|(given, _)| *given == index).map(|(_, literal)| literal)?;
        let literal = match literal {
            Literal::Variable(variable) => self.values.get(*variable)?,
            literal => literal,
        };
        (*literal != Literal::Null).then_some(literal)
    }
}

/// The index of the sort key among the connection's, if one is given, and whether the order is reversed.
pub(super) fn order(arguments: &Arguments<'_>, connection: &Connection) -> (Option<usize>, bool) {
    let sort_key = match arguments.get(ArgumentRole::SortKey) {
        Some(Literal::Enum(name)) => connection.sort_keys.iter().position(|key| key.name == *name),
        _ => None,
    };
    (sort_key, arguments.get(ArgumentRole::Reverse) == Some(&Literal::Boolean(true)))
}

/// Reads how many rows are counted at most. A number that cannot be used adds an error.
pub(super) fn count_up_to(arguments: &Arguments<'_>, errors: &mut Vec<BindError>) -> Option<u32> {
    let Some(Literal::Int(requested)) = arguments.get(ArgumentRole::CountUpTo) else { return None };
    let count = u32::try_from(*requested).ok().filter(|count| (1..=MAX_COUNT).contains(count));
    if count.is_none() {
        let (field, argument) = (arguments.field.name.clone(), "countUpTo".to_owned());
        errors.push(BindError::BadArgument { field, argument, expected: COUNT_RANGE });
    }
    count
}

/// The keys of a lookup, by their indexes, and their values: exactly one if its arguments are alternatives, else all of them.
pub(super) fn keys(arguments: &Arguments<'_>, lookup: &Lookup) -> Result<(Vec<usize>, Vec<Value>), Vec<BindError>> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let mut errors: Vec<_> = arguments.nulls().collect();
    for (index, argument) in arguments.field.arguments.iter().enumerate() {
        let Some(literal) = arguments.at(index) else { continue };
        match key(&lookup.keys[index], literal) {
            Ok(value) => {
                keys.push(index);
                values.push(value);
            }
            Err(expected) => errors.push(bad_argument(arguments.field, argument, expected)),
        }
    }
    if errors.is_empty() && lookup.alternatives && keys.len() != 1 {
        errors.push(BindError::Alternatives {
            field: arguments.field.name.clone(),
            arguments: arguments.field.arguments.iter().map(|argument| argument.name.clone()).collect(),
            given: keys.len(),
        });
    }
    if errors.is_empty() { Ok((keys, values)) } else { Err(errors) }
}

fn bad_argument(field: &Field, argument: &Argument, expected: &'static str) -> BindError {
    BindError::BadArgument { field: field.name.clone(), argument: argument.name.clone(), expected }
}

fn key(column: &Column, literal: &Literal) -> Result<Value, &'static str> {
    let text = match literal {
        Literal::String(text) => text.clone(),
        Literal::Int(number) => number.to_string(),
        Literal::Boolean(truth) => truth.to_string(),
        Literal::Enum(name) => name.clone(),
        Literal::Float(number) => number.to_string(),
        Literal::Variable(_) | Literal::Null | Literal::List(_) => {
            return Err("a string");
        }
    };
    column_value::parse(column, &text)
}
