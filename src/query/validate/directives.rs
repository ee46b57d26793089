//! The directives that the schema knows (GraphQL specification, section 3.13), and where they may stand.

use crate::catalog::Catalog;
use crate::catalog::schema::Argument;

/// Directives of selections: these alone may stand in a document. Each takes `if: Boolean!`.
pub(super) const CONDITIONS: [&str; 2] = ["include", "skip"];

/// Directives of schemas. They are known, but may stand nowhere in a document.
const OF_SCHEMAS: [&str; 4] = ["deprecated", "specifiedBy", "oneOf", "search"];

/// Whether a directive of that name is known.
pub(super) fn is_known(name: &str) -> bool {
    CONDITIONS.contains(&name) || OF_SCHEMAS.contains(&name)
}

/// The arguments that a directive has, where it is one of [`CONDITIONS`].
pub(super) fn arguments<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c [Argument]> {
    let directive = catalog.directives().iter().find(|directive| directive.name == name)?;
    CONDITIONS.contains(&name).then_some(&directive.arguments)
}

/// Where a directive stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectiveLocation {
    /// On an operation.
    Operation,
    /// On a variable's definition.
    Variable,
    /// On a field.
    Field,
    /// On a fragment's definition.
    Fragment,
    /// On the spread of a fragment.
    Spread,
    /// On an inline fragment.
    InlineFragment,
}

impl DirectiveLocation {
    /// Whether [`CONDITIONS`] may stand there.
    pub(super) fn takes_conditions(self) -> bool {
        matches!(self, Self::Field | Self::Spread | Self::InlineFragment)
    }

    /// What it is, for a reader.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Operation => "an operation",
            Self::Variable => "a variable",
            Self::Field => "a field",
            Self::Fragment => "a fragment definition",
            Self::Spread => "a fragment spread",
            Self::InlineFragment => "an inline fragment",
        }
    }
}
