//! The places where documents may have directives (GraphQL specification, section 3.13).

use crate::catalog::Catalog;
use crate::catalog::schema::Directive;

/// The directive with that name.
pub(super) fn named<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c Directive> {
    catalog.directives().iter().find(|directive| directive.name == name)
}

/// The names of the directives that are allowed somewhere in a document. The others belong in schemas.
pub(super) fn executable_names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    let directives = catalog.directives().iter();
    directives.filter(|directive| is_executable(directive)).map(|directive| directive.name.as_str())
}

/// Whether a directive is allowed somewhere in a document.
pub(super) fn is_executable(directive: &Directive) -> bool {
    DirectiveLocation::ALL.into_iter().any(|location| location.allows(directive))
}

/// A location of directives in documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectiveLocation {
    /// A query. Another rule rejects mutations and subscriptions.
    Operation,
    Field,
    FragmentDefinition,
    FragmentSpread,
    InlineFragment,
    VariableDefinition,
}

impl DirectiveLocation {
    const ALL: [Self; 6] = [
        Self::Field,
        Self::FragmentSpread,
        Self::InlineFragment,
        Self::Operation,
        Self::FragmentDefinition,
        Self::VariableDefinition,
    ];

    /// Whether the directive is allowed at this location.
    pub(super) fn allows(self, directive: &Directive) -> bool {
        directive.locations.contains(&self.name())
    }

    /// The name in SDL.
    fn name(self) -> &'static str {
        match self {
            Self::Operation => "QUERY",
            Self::Field => "FIELD",
            Self::FragmentDefinition => "FRAGMENT_DEFINITION",
            Self::FragmentSpread => "FRAGMENT_SPREAD",
            Self::InlineFragment => "INLINE_FRAGMENT",
            Self::VariableDefinition => "VARIABLE_DEFINITION",
        }
    }

    /// The location as error messages name it.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Operation => "an operation",
            Self::Field => "a field",
            Self::FragmentDefinition => "a fragment definition",
            Self::FragmentSpread => "a fragment spread",
            Self::InlineFragment => "an inline fragment",
            Self::VariableDefinition => "a variable",
        }
    }
}
