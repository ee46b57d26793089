//! A corrected query never asks for other rows than the broken one meant: of mutations of queries that are known, the corrected ones have
//! the roots, the conditions and the orders of these.

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use graphql_parser::query::{
    Definition, Document, OperationDefinition, Selection, SelectionSet, Value as Literal, parse_query,
};
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::correction::attempt::CorrectionAttempt;
use orderql::correction::tokens::QueryText;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::Value;

use crate::query::mending::mistakes::{CHANGES_MEANING, MISTAKES};
use crate::query::mending::{queries, variables};

/// What a connection or a lookup asks for, by its path of response keys and names. Page sizes do not count.
type Asked = BTreeMap<String, BTreeSet<String>>;

fn asked(request: &Request) -> Asked {
    let document = parse_query::<String>(&request.query).unwrap();
    let mut asked = Asked::new();
    for definition in &document.definitions {
        let selection = match definition {
            Definition::Operation(OperationDefinition::SelectionSet(selection)) => selection,
            Definition::Operation(OperationDefinition::Query(query)) => &query.selection_set,
            _ => continue,
        };
        add(&document, selection, "", request, &mut asked);
    }
    asked
}

fn add(
    document: &Document<'_, String>,
    selection: &SelectionSet<'_, String>,
    path: &str,
    request: &Request,
    asked: &mut Asked,
) {
    for item in &selection.items {
        match item {
            Selection::Field(field) => {
                let path = format!("{path}/{}:{}", field.alias.as_ref().unwrap_or(&field.name), field.name);
                if !field.arguments.is_empty() {
                    let known = asked.entry(path.clone()).or_default();
                    for (name, value) in &field.arguments {
                        let value = match value {
                            Literal::Variable(variable) => {
                                request.variables.get(variable).cloned().unwrap_or_default().to_string()
                            }
                            other => other.to_string(),
                        };
                        match name.as_str() {
                            "first" | "last" => {}
                            "query" => known.extend(value.trim_matches('"').split_whitespace().map(str::to_owned)),
                            _ => known.extend([format!("{name}: {value}")]),
                        }
                    }
                }
                add(document, &field.selection_set, &path, request, asked);
            }
            Selection::InlineFragment(inline) => add(document, &inline.selection_set, path, request, asked),
            Selection::FragmentSpread(spread) => {
                let fragment = document.definitions.iter().find_map(|definition| match definition {
                    Definition::Fragment(fragment) if fragment.name == spread.fragment_name => Some(fragment),
                    _ => None,
                });
                if let Some(fragment) = fragment {
                    add(document, &fragment.selection_set, path, request, asked);
                }
            }
        }
    }
}

/// The query that the errors lead to, if there is one that is accepted.
fn accepted(catalog: &Catalog, request: Request) -> Option<CorrectionAttempt> {
    let mut attempt = CorrectionAttempt::new(request);
    loop {
        let errors = match compile(catalog, attempt.request(), &Limits::DEFAULT) {
            Ok(_) => return Some(attempt),
            Err(errors) => errors.iter().map(|error| serde_json::to_value(error).unwrap()).collect::<Vec<Value>>(),
        };
        if !attempt.correct(&errors) {
            return None;
        }
    }
}

#[test]
fn a_corrected_query_asks_for_no_other_rows_than_the_broken_one_meant() {
    let catalog = Catalog::built_in().unwrap();
    let count = env::var("CORRECTED_QUERIES").map_or(2000, |count| count.parse().unwrap());
    let valid = queries("valid.graphql");
    // Numbers without a pattern, always the same.
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % bound as u64).unwrap()
    };
    let (mut broken, mut restored) = (0, 0);
    while broken < count {
        let known = Request { query: valid[random(valid.len())].clone(), variables: variables(), operation_name: None };
        let mut request = known.clone();
        let mut means_the_same = true;
        for _ in 0..=random(3) {
            let (kind, mistake) = &MISTAKES[random(MISTAKES.len())];
            if let Some(query) = mistake(&QueryText::new(request.query.as_str()), random(6)) {
                request.query = query;
                means_the_same &= !CHANGES_MEANING.contains(kind);
                // What is in single quotes is no string to further mistakes: they would misspell its values, which no correction can know.
                if *kind == "single quotes" {
                    break;
                }
            }
        }
        if compile(&catalog, &request, &Limits::DEFAULT).is_ok() {
            continue;
        }
        broken += 1;
        let Some(attempt) = accepted(&catalog, request.clone()) else { continue };
        assert!(!attempt.changes().is_empty());
        let accepted = attempt.request();
        // What changed the meaning was in a part that a later mistake took away. The tests of mending have such mistakes alone.
        if !means_the_same {
            continue;
        }
        restored += 1;
        let (meant, found) = (asked(&known), asked(accepted));
        for (path, found) in &found {
            let meant = meant.get(path).unwrap_or_else(|| panic!("{path}\n{}\n{}", request.query, accepted.query));
            assert!(meant.is_subset(found), "{meant:?} of {path}\n{}\n{}", request.query, accepted.query);
        }
    }
    println!("{broken} broken queries, {restored} corrected");
    assert!(restored * 2 > broken, "{restored} of {broken}");
}
