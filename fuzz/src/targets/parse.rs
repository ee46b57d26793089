//! `parse`: a text as a GraphQL document.
//!
//! - Reading, printing and reading again gives the same document.
//! - The positions of a document are those of what they name.
//! - What cannot be read has one error, at a place that the text has.
//! - Memory grows with the text's length at most.

use graphql_parser::Pos;
use graphql_parser::query::Definition;
use orderql::error::graphql_error::GraphqlErrors;
use orderql::fuzzing::document::definitions;
use orderql::query::parse::Source;

use crate::support::allocation::{Allowance, within};
use crate::support::document::{print, visit_positions, without_positions};
use crate::support::refusal;

const ALLOWANCE: Allowance = Allowance { per_byte: 2000, constant: 100_000 };

/// Runs the target.
pub fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let result = within(ALLOWANCE, text.len(), || read(text));
    if let Err(errors) = result {
        refusal::check(&errors, text);
        assert_eq!(errors.iter().count(), 1, "{errors}");
        return;
    }
    let source = Source::read(text).expect("it was read");
    let document = source.parse().expect("it was read");
    let document = definitions(&document);
    check_positions(text, document);

    let printed = print(document);
    let again = Source::read(&printed).unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
    let again = again.parse().unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
    assert_eq!(without_positions(document), without_positions(definitions(&again)), "{printed}");
}

fn read(text: &str) -> Result<(), GraphqlErrors> {
    Source::read(text)?.parse().map(drop)
}

fn check_positions<'a>(text: &str, document: &[Definition<'a, &'a str>]) {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<&str> = text.split(['\n', '\r']).collect();
    visit_positions(document, &mut |Pos { line, column }, expected| {
        let found = lines[line - 1].char_indices().nth(column - 1).map(|(start, _)| &lines[line - 1][start..]);
        assert!(found.is_some_and(|found| found.starts_with(expected)), "{line}:{column} is not {expected}");
    });
}
