//! A valid operation: fragments are spread, fields of one response key merged, names replaced by ids. It borrows
//! nothing, so it can be cached for the next request with the same text.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::ids::{FieldId, TypeId};
use crate::catalog::schema::TypeRef;
use crate::error::graphql_error::Location;

/// A valid operation without the values of its variables.
#[derive(Debug)]
pub struct Operation {
    pub(crate) name: Option<Arc<str>>,
    /// The variables that the operation declares.
    pub(crate) variables: Vec<VariableDefinition>,
    /// The selections from the root.
    pub selections: Vec<Selection>,
    /// The number of selections on all levels. The ids of selections are below it.
    pub selection_count: usize,
    /// The indexes of the variables that `@skip` and `@include` name. If there are any, the presence and order of
    /// selections depend on the values of variables.
    pub(crate) conditions: BTreeSet<usize>,
}

impl Operation {
    /// About how much memory the operation takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
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
pub(crate) struct VariableDefinition {
    pub(crate) name: String,
    pub(crate) ty: TypeRef,
    /// The value if the request gives none.
    pub(crate) default: Option<Literal>,
    pub(crate) location: Location,
}

/// Identifies a selection of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SelectionId(pub(super) usize);

impl SelectionId {
    /// The selection's number in the operation, from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// The merged fields of one response key.
#[derive(Debug)]
pub struct Selection {
    /// The selection's id.
    pub id: SelectionId,
    /// The response key: the alias, or the field's name.
    pub(crate) key: Arc<str>,
    pub(crate) target: Target,
    /// The given arguments: the index of each among the field's arguments, and its value.
    pub(crate) arguments: Vec<(usize, Literal)>,
    pub(crate) location: Location,
    /// The merged selection sets; empty for scalars and enums.
    pub selections: Vec<Selection>,
    /// The fields that were merged, in document order. Never empty. The response has the key if the conditions of any
    /// of them are met.
    pub occurrences: Vec<Occurrence>,
    /// Whether the field or one below it can have arguments: a connection, a lookup field or introspection.
    pub(crate) takes_arguments: bool,
}

/// A field that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// `__typename` of that type.
    TypeName(TypeId),
    Field(FieldId),
}

/// A field of a document, and the conditions under which it is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The field's index in document order, among the occurrences of all selections of the merged selection sets.
    pub order: u32,
    /// The conditions, which must all be met; empty if the field is always selected.
    pub(crate) conditions: Vec<DirectiveCondition>,
    pub(crate) location: Location,
}

/// `@include(if: $variable)` or `@skip(if: $variable)`. Directives with a literal value have been evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct DirectiveCondition {
    /// The variable's index in [`Operation::variables`].
    pub(crate) variable: usize,
    /// The value that meets the condition: true for `@include`, false for `@skip`.
    pub(crate) expected: bool,
}

/// A value in a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    /// A variable: its index in [`Operation::variables`].
    Variable(usize),
    Int(i64),
    /// A number with a fraction or exponent.
    Float(f64),
    String(String),
    Boolean(bool),
    /// Null, which differs from an argument that is not given.
    Null,
    /// The name of an enum value.
    Enum(String),
    List(Vec<Literal>),
}

impl Literal {
    /// How much memory the value takes on the heap, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::String(text) | Self::Enum(text) => text.len(),
            Self::List(elements) => elements.iter().map(|element| size_of::<Self>() + element.bytes()).sum(),
            Self::Variable(_) | Self::Int(_) | Self::Float(_) | Self::Boolean(_) | Self::Null => 0,
        }
    }
}
