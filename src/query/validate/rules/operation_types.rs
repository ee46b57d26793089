//! The schema has a root type for the operation: here, operations are queries.
//!
//! GraphQL specification, section 5.2.1.1 (Operation Type Existence).

use graphql_parser::query::OperationDefinition;

use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for definition in &index.definitions {
        let kind = match definition.kind {
            DefinitionKind::Operation(OperationDefinition::Mutation(_)) => "mutations",
            DefinitionKind::Operation(OperationDefinition::Subscription(_)) => "subscriptions",
            DefinitionKind::Operation(OperationDefinition::SelectionSet(_) | OperationDefinition::Query(_))
            | DefinitionKind::Fragment(_) => continue,
        };
        violations.add(&Violation::UnsupportedOperation(kind), [definition.location]);
    }
}
