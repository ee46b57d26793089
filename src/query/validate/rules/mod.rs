//! The rules of the GraphQL specification's section 5 that concern executable documents, and our own bounds. A rule is
//! a function over the [`DocumentIndex`] that adds what it finds.
//!
//! Every rule runs, whatever the others find, so that a client hears of all its mistakes at once. The report is ordered
//! by place, so the order of the rules is for readers, with one exception: two of [`bounds`] follow spreads and
//! so need a document without fragment cycles, and [`merging::check`] walks the document with all fragments spread
//! and so needs one that stays small then.
//!
//! A rule of the specification that is not here: `ExecutableDefinitions` (5.1.1) is the grammar's, and
//! `SingleFieldSubscriptions` (5.2.4.1) is for schemas with subscriptions.

pub(super) mod bounds;

mod argument_names;
mod directive_locations;
mod field_names;
mod fragment_cycles;
mod fragment_names;
mod fragment_types;
mod fragment_uses;
mod input_fields;
mod leaves;
mod merging;
mod operation_names;
mod operation_types;
mod required_arguments;
mod type_names;
mod values;
mod variable_names;
mod variable_positions;
mod variable_types;

use crate::catalog::Catalog;
use crate::error::graphql_error::GraphqlError;
use crate::query::parse::document::Document;
use crate::query::validate::document_index::{ArgumentOwner, DocumentIndex};
use crate::query::validate::violation::Findings;

/// The rules that need nothing.
const RULES: [fn(&DocumentIndex<'_, '_>, &mut Findings); 17] = [
    operation_types::check,
    operation_names::check,
    type_names::check,
    field_names::check,
    leaves::check,
    argument_names::check,
    required_arguments::check,
    values::check,
    input_fields::check,
    fragment_names::check,
    fragment_types::check,
    fragment_uses::check,
    directive_locations::check,
    variable_names::check,
    variable_types::check,
    variable_positions::check,
    bounds::of_directives,
];

/// What a document violates, in no order.
pub(super) fn check(catalog: &Catalog, document: &Document<'_>) -> Vec<GraphqlError> {
    let survey = DocumentIndex::new(catalog, document);
    let mut findings = Findings::default();
    for rule in RULES {
        rule(&survey, &mut findings);
    }
    let mut holds = |rule: fn(&DocumentIndex<'_, '_>, &mut Findings)| {
        let before = findings.len();
        rule(&survey, &mut findings);
        findings.len() == before && !findings.is_full()
    };
    let _ = holds(fragment_cycles::check)
        && holds(bounds::of_introspection)
        && holds(bounds::of_spreading)
        && holds(merging::check);
    findings.into_refusals()
}

/// A field or directive, for a reader.
fn describe(catalog: &Catalog, holder: ArgumentOwner<'_>) -> String {
    match holder {
        ArgumentOwner::Field(Some(parent), name) => format!("field \"{}.{name}\"", catalog.get(parent).name()),
        ArgumentOwner::Field(None, name) => format!("field \"{name}\""),
        ArgumentOwner::Directive(name) => format!("directive \"@{name}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse::Source;

    /// The facts of what is found in a document, a line each.
    fn facts(text: &str) -> String {
        let catalog = Catalog::built_in().unwrap();
        let source = Source::read(text).unwrap();
        let document = source.parse().unwrap();
        let found = check(&catalog, &document);
        found.iter().map(|refusal| serde_json::to_string(&refusal.extensions).unwrap() + "\n").collect()
    }

    #[test]
    fn a_program_is_told_what_it_may_use() {
        insta::assert_snapshot!(facts("{ product(productid: 1, x: 2) { prodctId ... on Produkt { a } } orders }"));
        insta::assert_snapshot!(facts(
            "query ($a: String, $b: Int) { orders(first: \"1\", sortKey: ORDER) { ...F } product(productId: $a) @live { productId { a } } }"
        ));
    }

    #[test]
    fn findings_are_bounded_before_they_are_ordered() {
        let fields: Vec<_> = (0..3_000).map(|number| format!("ordrs{number}")).collect();
        assert_eq!(facts(&format!("{{ {} }}", fields.join(" "))).lines().count(), 200);
    }
}
