//! Connections have a page size.
//!
//! This is no rule of the GraphQL specification. The binder checks it in valid documents; of an invalid one, the client learns
//! it here together with the other errors, and can correct all of them at once.

use crate::catalog::schema::{Argument, ArgumentRole};
use crate::query::parse::document::location;
use crate::query::validate::document_index::{ArgumentOwner, DocumentIndex};
use crate::query::validate::rules::argument_names::suggested;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    for list in &index.argument_lists {
        let (ArgumentOwner::Field(_, field), Some(declared)) = (list.owner, list.declared) else { continue };
        let is_size = |name: &str| {
            let argument = declared.iter().find(|argument| argument.name == name);
            argument.is_some_and(|argument| matches!(argument.role, ArgumentRole::First | ArgumentRole::Last))
        };
        // A misspelt page size is an error already.
        let is_given =
            |name: &str| is_size(name) || suggested(name, declared).first().is_some_and(|name| is_size(name));
        // Another rule finds that a required page size is missing.
        let is_optional = |argument: &Argument| is_size(&argument.name) && !argument.ty.is_non_null();
        if declared.iter().any(is_optional) && !list.given.iter().any(|(name, _)| is_given(name)) {
            violations.add(&Violation::MissingPageSize(field.into()), [location(list.position)]);
        }
    }
}
