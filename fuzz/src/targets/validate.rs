//! `validate`: a text as a document of the schema.
//!
//! - Refusals are in document order, within the cap, each once, at places that the text has.
//! - The verdict on the printed document is the same, with the same messages.
//! - Memory grows with the text's length at most, and with the fields that its fragments make of it up to their limit.

use orderql::error::graphql_error::{GraphqlError, GraphqlErrors, MAX_ERRORS};
use orderql::fuzzing::document::{definitions, is_whole};
use orderql::query::operation::{Operation, Selection};
use orderql::query::parse::Source;
use orderql::query::validate::validate;

use crate::support::allocation::{Allowance, within};
use crate::support::catalog::catalog;
use crate::support::document::print;
use crate::support::refusal;

const ALLOWANCE: Allowance = Allowance { per_byte: 4000, constant: 200_000 };
/// With fragments, which a short text can spread into many fields.
const SPREADING: Allowance = Allowance { per_byte: 4000, constant: 64_000_000 };

/// Runs the target.
pub fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Ok(source) = Source::read(text) else { return };
    let Ok(document) = source.parse() else { return };
    let allowance = if text.contains("fragment") { SPREADING } else { ALLOWANCE };
    let catalog = catalog();
    let verdict = within(allowance, text.len(), || validate(catalog, &document, None));
    match &verdict {
        Ok(operation) => check_operation(operation),
        Err(errors) => refusal::check(errors, text),
    }
    if !is_whole(&document) {
        return;
    }
    let is_of_spelling = |error: &GraphqlError| error.message.contains("is selected with different arguments");
    if verdict.as_ref().is_err_and(|errors| errors.iter().any(is_of_spelling)) {
        return;
    }
    let printed = print(definitions(&document));
    let source = Source::read(&printed).expect("a printed document can be read");
    let again = validate(catalog, &source.parse().expect("a printed document can be read"), None);
    assert_eq!(messages(verdict.as_ref().err()), messages(again.as_ref().err()), "{printed}");
}

/// The ids of selections are below their count, each is there once, and each has its occurrences in order.
fn check_operation(operation: &Operation) {
    let mut ids = vec![false; operation.selection_count];
    let mut pending: Vec<&Selection> = operation.selections.iter().collect();
    while let Some(selection) = pending.pop() {
        assert!(!std::mem::replace(&mut ids[selection.id.index()], true), "an id is there twice");
        assert!(!selection.occurrences.is_empty());
        assert!(selection.occurrences.is_sorted_by(|one, other| one.order < other.order));
        pending.extend(&selection.selections);
    }
    assert!(ids.into_iter().all(|is_used| is_used), "an id is not used");
}

/// The messages, sorted. Which ones a list has that was cut depends on the order of places on one line. Whether two values are
/// the same depends on how they are written (`"a"` is not `"""a"""`), as in other implementations, and a printed document writes
/// equal values alike.
fn messages(errors: Option<&GraphqlErrors>) -> Option<Vec<&str>> {
    let mut messages: Vec<_> = errors?.iter().map(|error| error.message.as_str()).collect();
    if messages.len() == MAX_ERRORS {
        return Some(Vec::new());
    }
    messages.sort_unstable();
    Some(messages)
}
