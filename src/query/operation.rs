//! An operation that is valid against the catalog: fragments are spread, selections of one response key merged, names
//! replaced by ids. It owns itself, so it can be kept for the next request with the same text.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::ids::{FieldId, TypeId};
use crate::catalog::schema::TypeRef;
use crate::error::graphql_error::Location;

/// A valid operation, before its variables are known.
#[derive(Debug)]
pub struct Operation {
    /// Its name, where it has one.
    pub name: Option<Arc<str>>,
    /// The variables that it declares.
    pub variables: Vec<VariableDefinition>,
    /// What it selects from the root.
    pub selections: Vec<Selection>,
    /// How many selections it has in all: their ids are below it.
    pub selection_count: usize,
    /// The variables that `@skip` and `@include` name, by their places. Where there are any, the order and presence of
    /// selections must be found anew each time.
    pub conditions: BTreeSet<usize>,
}

impl Operation {
    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let variables = self.variables.iter().map(|variable| size_of::<VariableDefinition>() + variable.name.len());
        let conditions = self.conditions.len() * size_of::<usize>();
        size_of::<Self>() + variables.sum::<usize>() + conditions + selections_bytes(&self.selections)
    }
}

fn selections_bytes(selections: &[Selection]) -> usize {
    let bytes = |selection: &Selection| {
        let occurrences = selection.occurrences.iter();
        let occurrences =
            occurrences.map(|occurrence| size_of::<Occurrence>() + size_of_val(occurrence.conditions.as_slice()));
        let arguments = selection.arguments.iter().map(|(_, literal)| size_of::<(usize, Literal)>() + literal.bytes());
        size_of::<Selection>()
            + selection.key.len()
            + occurrences.sum::<usize>()
            + arguments.sum::<usize>()
            + selections_bytes(&selection.selections)
    };
    selections.iter().map(bytes).sum()
}

/// A variable that an operation declares.
#[derive(Debug)]
pub struct VariableDefinition {
    /// Its name, without the dollar sign.
    pub name: String,
    /// Its type.
    pub ty: TypeRef,
    /// What it is where the request does not give it.
    pub default: Option<Literal>,
    /// Where it is declared.
    pub location: Location,
}

/// The number of a selection in its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SelectionId(pub(super) usize);

impl SelectionId {
    /// The number, from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// All selections of one response key in one selection set, merged.
#[derive(Debug)]
pub struct Selection {
    /// Its number in the operation.
    pub id: SelectionId,
    /// The key in the response: the alias, or the field's name.
    pub key: Arc<str>,
    /// What is selected.
    pub target: Target,
    /// The arguments, by their place among the field's arguments, each at most once.
    pub arguments: Vec<(usize, Literal)>,
    /// Where the key is first selected.
    pub location: Location,
    /// What is selected from it, where it has fields.
    pub selections: Vec<Selection>,
    /// When it is selected: any of these occurrences, in document order. Never empty.
    pub occurrences: Vec<Occurrence>,
    /// Whether it is a connection, a point root or introspection, or has one below it: elsewhere, nothing takes arguments.
    pub takes_arguments: bool,
}

/// What a selection selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// `__typename`, which is known without asking.
    TypeName(TypeId),
    /// A field of the catalog.
    Field(FieldId),
}

/// One place where a response key is selected, and the conditions on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Its place in document order among the occurrences of one selection set.
    pub order: u32,
    /// What must hold, all of it; empty where it is always selected.
    pub conditions: Vec<Condition>,
    /// Where it stands.
    pub location: Location,
}

/// `@include(if: $variable)` or `@skip(if: $variable)`; where the truth is written out, it is decided already.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The variable's place in [`Operation::variables`].
    pub variable: usize,
    /// What it must be: true for `@include`, false for `@skip`.
    pub wanted: bool,
}

/// A value as a document writes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// The variable's place in [`Operation::variables`].
    Variable(usize),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or exponent.
    Float(f64),
    /// Text.
    String(String),
    /// True or false.
    Boolean(bool),
    /// Null, which is given, unlike an argument that is left out.
    Null,
    /// A name.
    Enum(String),
    /// A list.
    List(Vec<Literal>),
}

impl Literal {
    /// How much memory it takes behind itself, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::String(text) | Self::Enum(text) => text.len(),
            Self::List(elements) => elements.iter().map(|element| size_of::<Self>() + element.bytes()).sum(),
            Self::Variable(_) | Self::Int(_) | Self::Float(_) | Self::Boolean(_) | Self::Null => 0,
        }
    }
}
