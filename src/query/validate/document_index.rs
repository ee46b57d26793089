//! The parts of a document that rules examine, listed by kind, with the types that the catalog gives them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::catalog::Catalog;
use crate::catalog::ids::TypeId;
use crate::catalog::schema::{self, TypeRef};
use crate::error::graphql_error::Location;
use crate::query::parse::document::Document;
use crate::query::validate::directives::DirectiveLocation;
use crate::query::validate::work::Work;

/// The meta-field that every object has.
pub(super) const TYPE_NAME: &str = "__typename";

/// An index of a document. `'d` is the lifetime of the document and the catalog, `'a` the lifetime of the text. All lists are in document
/// order.
pub(super) struct DocumentIndex<'d, 'a> {
    pub(super) catalog: &'d Catalog,
    pub(super) document: &'d Document<'a>,
    /// Operations and fragments.
    pub(super) definitions: Vec<IndexedDefinition<'d, 'a>>,
    pub(super) fields: Vec<SelectedField<'d, 'a>>,
    pub(super) inline_fragments: Vec<InlineFragment<'a>>,
    pub(super) fragment_spreads: Vec<FragmentSpread<'a>>,
    /// The arguments of fields and directives. Fields and directives that neither declare nor are given any are left
    /// out.
    pub(super) argument_lists: Vec<ArgumentList<'d, 'a>>,
    /// The directives, a list per location that has any.
    pub(super) directives: Vec<(DirectiveLocation, &'d [ast::Directive<'a, &'a str>])>,
    pub(super) variable_usages: Vec<VariableUsage<'d, 'a>>,
    /// The indexes of fragments in `definitions`, by name. Of several fragments with the same name, the first.
    pub(super) fragments: HashMap<&'a str, usize>,
    /// The work of the rules so far.
    pub(super) work: Work,
}

/// An operation or a fragment.
pub(super) struct IndexedDefinition<'d, 'a> {
    pub(super) kind: DefinitionKind<'d, 'a>,
    /// Fragments always have a name.
    pub(super) name: Option<&'a str>,
    pub(super) location: Location,
    pub(super) selection_set: &'d ast::SelectionSet<'a, &'a str>,
    /// The variables that an operation declares.
    pub(super) variables: Vec<DeclaredVariable<'d, 'a>>,
    /// The definition's part of [`DocumentIndex::fragment_spreads`].
    pub(super) fragment_spreads: Range<usize>,
    /// The definition's part of [`DocumentIndex::variable_usages`]: indexes by name of the variable.
    pub(super) variable_usages: BTreeMap<&'a str, Vec<usize>>,
}

pub(super) enum DefinitionKind<'d, 'a> {
    Operation(&'d ast::OperationDefinition<'a, &'a str>),
    /// A fragment on the type with that name.
    Fragment(&'a str),
}

/// A variable that an operation declares.
pub(super) struct DeclaredVariable<'d, 'a> {
    pub(super) definition: &'d ast::VariableDefinition<'a, &'a str>,
    /// The name of the type inside all lists and non-null types.
    pub(super) type_name: &'a str,
    /// The variable's type, if the catalog has it.
    pub(super) ty: Option<TypeRef>,
}

/// A field of a selection set.
pub(super) struct SelectedField<'d, 'a> {
    pub(super) field: &'d ast::Field<'a, &'a str>,
    /// The object type that the field is selected from, if it is known.
    pub(super) parent: Option<TypeId>,
    /// The named type of the field, if it is known.
    pub(super) ty: Option<TypeId>,
}

pub(super) struct InlineFragment<'a> {
    pub(super) location: Location,
    /// The name of the type condition, if the fragment has one.
    pub(super) type_condition: Option<&'a str>,
    /// The object type that the fragment is in, if it is known.
    pub(super) parent: Option<TypeId>,
}

pub(super) struct FragmentSpread<'a> {
    pub(super) location: Location,
    /// The name of the fragment.
    pub(super) name: &'a str,
    /// The fragment's index in [`DocumentIndex::definitions`], if the document defines it.
    pub(super) target: Option<usize>,
    /// The object type that the spread is in, if it is known.
    pub(super) parent: Option<TypeId>,
}

/// The arguments of a field or directive.
pub(super) struct ArgumentList<'d, 'a> {
    pub(super) owner: ArgumentOwner<'a>,
    /// The position of the owner.
    pub(super) position: Pos,
    /// Names and values.
    pub(super) given: &'d [(&'a str, ast::Value<'a, &'a str>)],
    /// The arguments that the owner declares, if it is known.
    pub(super) declared: Option<&'d [schema::Argument]>,
}

impl<'d> ArgumentList<'d, '_> {
    /// The declaration of the argument with that name.
    pub(super) fn declaration(&self, name: &str) -> Option<&'d schema::Argument> {
        self.declared?.iter().find(|argument| argument.name == name)
    }
}

/// The owner of arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArgumentOwner<'a> {
    /// A field: its parent type, if known, and its name.
    Field(Option<TypeId>, &'a str),
    /// A directive: its name.
    Directive(&'a str),
}

impl ArgumentOwner<'_> {
    /// The owner as error messages name it.
    pub(super) fn describe(self, catalog: &Catalog) -> String {
        match self {
            Self::Field(Some(parent), name) => format!("field \"{}.{name}\"", catalog.get(parent).name()),
            Self::Field(None, name) => format!("field \"{name}\""),
            Self::Directive(name) => format!("directive \"@{name}\""),
        }
    }
}

/// An argument that is given.
#[derive(Clone, Copy)]
pub(super) struct ArgumentPlace {
    /// The position of the field or directive that the argument belongs to.
    pub(super) owner: Pos,
    /// The index of the argument.
    pub(super) argument: usize,
}

/// A use of a variable in an argument's value.
pub(super) struct VariableUsage<'d, 'a> {
    /// The name of the variable.
    pub(super) name: &'a str,
    pub(super) place: ArgumentPlace,
    /// The expected type, if it is known.
    pub(super) expected: Option<&'d TypeRef>,
}

impl VariableUsage<'_, '_> {
    pub(super) fn location(&self, index: &DocumentIndex<'_, '_>) -> Location {
        index.document.variable_location(self.place.owner, self.place.argument, self.name)
    }
}

impl<'d, 'a> DocumentIndex<'d, 'a> {
    /// The operations, with their indexes in [`DocumentIndex::definitions`].
    pub(super) fn operations(&self) -> impl Iterator<Item = (usize, &IndexedDefinition<'d, 'a>)> {
        let is_operation =
            |definition: &IndexedDefinition<'_, '_>| matches!(definition.kind, DefinitionKind::Operation(_));
        self.definitions.iter().enumerate().filter(move |(_, definition)| is_operation(definition))
    }

    /// The fragments, with their names and the names of their types.
    pub(super) fn fragments(&self) -> impl Iterator<Item = (&IndexedDefinition<'d, 'a>, &'a str, &'a str)> {
        self.definitions.iter().filter_map(|definition| match definition.kind {
            DefinitionKind::Fragment(ty) => Some((definition, definition.name?, ty)),
            DefinitionKind::Operation(_) => None,
        })
    }

    /// The index of the fragment with that name; of several, the first.
    pub(super) fn fragment(&self, name: &str) -> Option<usize> {
        self.fragments.get(name).copied()
    }

    /// The indexes of definitions and of all fragments that they spread, directly or through others, each once. Not
    /// recursive, because chains of fragments can be long.
    pub(super) fn reachable_from(&self, definitions: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut seen = vec![false; self.definitions.len()];
        let mut reachable: Vec<_> = definitions.into_iter().collect();
        for definition in &reachable {
            seen[*definition] = true;
        }
        let mut next = 0;
        while let Some(current) = reachable.get(next).copied() {
            next += 1;
            for spread in &self.fragment_spreads[self.definitions[current].fragment_spreads.clone()] {
                let target = spread.target.filter(|target| !std::mem::replace(&mut seen[*target], true));
                reachable.extend(target);
            }
        }
        self.work.add(reachable.len());
        reachable
    }
}
