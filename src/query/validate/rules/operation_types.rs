//! An operation is of a type that the schema has a root for: here, a query. (Section 5.2.1.1, Operation Type Existence)

use graphql_parser::query::OperationDefinition;

use crate::query::validate::document_index::{DefinitionKind, DocumentIndex};
use crate::query::validate::violation::{Findings, Violation};

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    for definition in &survey.definitions {
        let what = match definition.kind {
            DefinitionKind::Operation(OperationDefinition::Mutation(_)) => "mutations",
            DefinitionKind::Operation(OperationDefinition::Subscription(_)) => "subscriptions",
            DefinitionKind::Operation(_) | DefinitionKind::Fragment(_) => continue,
        };
        findings.add(&Violation::NoSuchRoot(what), [definition.location]);
    }
}
