//! `document`: bytes to a document of the grammar, in most cases one with mistakes, for a catalog. The first byte chooses the
//! catalog, the second the document's size.
//!
//! - Refusals are in document order, within the cap, each once, at places that the text has.
//! - The verdict is that of an independent implementation (with the feature `apollo`).
//! - Every layout has the same verdict, with the same messages.
//! - A document without mistakes is valid, whatever its size within the limits.
//! - The whole request, with variables and limits, compiles or has errors in the same form.

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::error::graphql_error::{GraphqlErrors, MAX_ERRORS};
use orderql::query::operation::Operation;
use orderql::query::parse::Source;
use orderql::query::validate::validate;
use orderql_generator::choices::Choices;
use orderql_generator::generate::generate;
use orderql_generator::mistake::make_mistakes;
use orderql_generator::print::Layout;
use orderql_generator::values::Invented;

use crate::support::catalogs::catalogs;
use crate::support::input::{choice, settings};
use crate::support::refusal;

/// The bytes at the end that make mistakes, so that the document itself does not use them up.
const FOR_MISTAKES: usize = 48;

/// Runs the target.
pub fn run(data: &[u8]) {
    let (first, data) = choice(data);
    let (settings, data) = settings(data);
    let catalogs = catalogs();
    let index = if first & 0x80 == 0 { 0 } else { 1 % catalogs.len() };
    let catalog = &catalogs[index];
    let (data, mistakes) = data.split_at(data.len().saturating_sub(FOR_MISTAKES));
    let mut generated = generate(catalog, &Invented, settings, &mut Choices::new(data));
    let is_wrong = first & 0x70 != 0;
    if is_wrong {
        make_mistakes(catalog, &mut generated, &mut Choices::new(mistakes));
    }

    let request = generated.request();
    let name = generated.document.operations().next().and_then(|operation| operation.name.as_deref());
    let verdict = verdict(catalog, &request.query, name);
    match &verdict {
        Ok(_) => {}
        Err(errors) if is_wrong => refusal::check(errors, &request.query),
        Err(errors) => panic!("{errors}\n{}", request.query),
    }
    #[cfg(feature = "apollo")]
    crate::oracles::apollo::check(index, &request.query, verdict.as_ref().err());

    let other = generated.request_as(Layout::ALL[first % Layout::ALL.len()]).query;
    let again = self::verdict(catalog, &other, name);
    assert_eq!(messages(&verdict), messages(&again), "{}\n{other}", request.query);

    if let Err(errors) = compile(catalog, &request, &generated.limits) {
        refusal::check(&errors, &request.query);
    }
}

/// The operation with that name, or why the text has none.
fn verdict(catalog: &Catalog, text: &str, name: Option<&str>) -> Result<Operation, GraphqlErrors> {
    validate(catalog, &Source::read(text)?.parse()?, name)
}

/// The messages, sorted. Those of a list that was cut depend on where its places are.
fn messages(verdict: &Result<Operation, GraphqlErrors>) -> Vec<&str> {
    let Err(errors) = verdict else { return Vec::new() };
    let mut messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    if messages.len() == MAX_ERRORS {
        return vec!["many"];
    }
    messages.sort_unstable();
    messages
}
