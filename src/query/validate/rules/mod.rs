//! The validation rules of the GraphQL specification (section 5) that concern executable documents, and our own limits.
//! A rule is a function from the [`DocumentIndex`] to violations.
//!
//! Every rule runs, whatever the others find, so that a client learns of all mistakes at once. Violations are sorted by
//! location afterwards, so the order of the rules does not matter, with these exceptions: two rules of [`document_size`]
//! follow fragment spreads and need a document without fragment cycles, [`field_merging`] spreads all fragments and needs a
//! document that stays small then, and [`page_sizes`] adds to what the others find.
//!
//! Rules of the specification that have no file here: `ExecutableDefinitions` (5.1.1), which the grammar enforces;
//! `SingleRootField` (5.2.4.1), which is for subscriptions; `InputObjectFieldNames` (5.6.2) and
//! `InputObjectRequiredFields` (5.6.4), because the schema has no input objects.

mod argument_names;
mod directive_locations;
mod document_size;
mod field_merging;
mod field_selections;
mod fragment_cycles;
mod fragment_names;
mod fragment_types;
mod fragment_uses;
mod input_fields;
mod leaf_fields;
mod operation_names;
mod operation_types;
mod page_sizes;
mod required_arguments;
mod type_names;
mod value_types;
mod variable_names;
mod variable_types;
mod variable_usages;

use crate::catalog::Catalog;
use crate::error::graphql_error::GraphqlError;
use crate::query::parse::document::Document;
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::index_builder;
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

type ValidationRule = fn(&DocumentIndex<'_, '_>, &mut Violations);

/// The rules that do not depend on others.
const INDEPENDENT_RULES: [ValidationRule; 17] = [
    operation_types::check,
    operation_names::check,
    type_names::check,
    field_selections::check,
    leaf_fields::check,
    argument_names::check,
    required_arguments::check,
    value_types::check,
    input_fields::check,
    fragment_names::check,
    fragment_types::check,
    fragment_uses::check,
    directive_locations::check,
    variable_names::check,
    variable_types::check,
    variable_usages::check,
    document_size::check_directives,
];

/// The rules that need the previous one to find nothing.
const DEPENDENT_RULES: [ValidationRule; 4] =
    [fragment_cycles::check, document_size::check_introspection, document_size::check_expansion, field_merging::check];

/// The violations of a document, in no particular order.
pub(super) fn check(catalog: &Catalog, document: &Document<'_>) -> Vec<GraphqlError> {
    check_index(&index_builder::build(catalog, document))
}

fn check_index(index: &DocumentIndex<'_, '_>) -> Vec<GraphqlError> {
    let mut violations = Violations::default();
    for rule in INDEPENDENT_RULES {
        rule(index, &mut violations);
    }
    for rule in DEPENDENT_RULES {
        let before = violations.len();
        rule(index, &mut violations);
        if violations.len() > before || violations.is_full() || index.work.is_too_much() {
            break;
        }
    }
    if violations.len() > 0 {
        page_sizes::check(index, &mut violations);
    }
    if index.work.is_too_much() {
        let first = index.operations().next();
        violations.add(&Violation::TooMuchWork, first.map(|(_, operation)| operation.location));
    }
    violations.into_errors()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::document_limits::MAX_WORK;
    use crate::query::parse::Source;

    /// The extensions of the errors of a document, a line each.
    fn extensions(text: &str) -> String {
        let catalog = Catalog::built_in().unwrap();
        let source = Source::read(text).unwrap();
        let document = source.parse().unwrap();
        let errors = check(&catalog, &document);
        errors.iter().map(|error| serde_json::to_string(&error.extensions).unwrap() + "\n").collect()
    }

    #[test]
    fn extensions_list_what_a_client_can_use_instead() {
        insta::assert_snapshot!(extensions("{ product(productid: 1, x: 2) { prodctId ... on Produkt { a } } orders }"));
        insta::assert_snapshot!(extensions(
            "query ($a: String, $b: Int) { orders(first: \"1\", sortKey: ORDER) { ...F } product(productId: $a) @live { productId { a } } }"
        ));
    }

    /// The visits that a document takes, and its errors.
    fn work(text: &str) -> (usize, String) {
        let catalog = Catalog::built_in().unwrap();
        let source = Source::read(text).unwrap();
        let document = source.parse().unwrap();
        let index = index_builder::build(&catalog, &document);
        let errors = check_index(&index);
        (
            index.work.visits(),
            errors.iter().map(|error| format!("{} {}\n", error.code, error.message)).collect::<Vec<_>>().concat(),
        )
    }

    /// `operations` operations that spread a chain of `fragments` fragments. `each` is in all of them.
    fn chain(operations: usize, fragments: usize, each: &str) -> String {
        let operations = (0..operations).map(|number| format!("query Q{number}($v: Boolean!) {{ ...F0 }} "));
        let fragment = |number: usize| match number + 1 {
            next if next < fragments => format!("fragment F{number} on Query {{ {each} ...F{next} }} "),
            _ => format!("fragment F{number} on Query {{ a{number}: __typename @skip(if: $v) }} "),
        };
        operations.chain((0..fragments).map(fragment)).collect()
    }

    #[test]
    fn the_work_of_one_operation_is_proportional_to_the_document() {
        let [small, large] = [100, 200].map(|fragments| work(&chain(1, fragments, "")));
        assert_eq!((small.1.as_str(), large.1.as_str()), ("", ""));
        assert!(small.0 > 300 && large.0 < 2 * small.0 + 10, "{} {}", small.0, large.0);
        // Numbers of operations and fragments that people write.
        assert_eq!(work(&chain(50, 50, "")).1, "");
    }

    #[test]
    fn the_work_of_merging_is_proportional_to_the_fields() {
        let repeated = |times: usize| format!("{{ order(orderId: 1) {{ {} }} }}", "orderId ".repeat(times));
        let [small, large] = [500, 1000].map(|times| work(&repeated(times)));
        assert_eq!((small.1.as_str(), large.1.as_str()), ("", ""));
        assert!(small.0 > 900 && large.0 < 2 * small.0 + 10, "{} {}", small.0, large.0);
    }

    #[test]
    fn rejects_documents_whose_operations_share_too_many_fragments() {
        for (operations, fragments, each) in
            [(380, 500, ""), (250, 300, "b: __typename @skip(if: $v)"), (490, 200, "...G")]
        {
            let mut text = chain(operations, fragments, each);
            if each == "...G" {
                text += "fragment G on Query { c: __typename }";
            }
            let (visits, errors) = work(&text);
            assert!(errors.starts_with("GRAPHQL_VALIDATION_FAILED "), "{errors}");
            assert!(errors.contains("Checking the document takes more than 100000 steps"), "{errors}");
            assert!(visits < MAX_WORK + 10_000, "{visits}");
        }
    }

    #[test]
    fn limits_the_number_of_violations_before_sorting_them() {
        let fields: Vec<_> = (0..3_000).map(|number| format!("ordrs{number}")).collect();
        assert_eq!(extensions(&format!("{{ {} }}", fields.join(" "))).lines().count(), 200);
    }
}
