//! `plan`: bytes to a valid request for a catalog. The first byte chooses the catalog and what is checked beside the rest, the
//! second the request's size.
//!
//! - The request compiles. Cost, depth, statements and the shape of the response are what a second computation says.
//! - Every SQL text has the words, tables and parameters that the catalog allows. It finds the rows of the page that a filter
//!   and a sort find, and its flags are true.
//! - Limits reject what they have to, by the first limit that is exceeded.
//! - Other values of the same shape have the same SQL, with a cache and without. So no value is in an SQL text.
//! - A larger page never costs less, nor a selection more.
//! - A cursor is accepted where it was made, and nowhere else.
//! - Every layout of the document compiles to the same plan.

use std::collections::HashSet;
use std::iter;
use std::sync::{Arc, OnceLock};

use orderql::catalog::Catalog;
use orderql::catalog::binding::Binding;
use orderql::compile::compile;
use orderql::compile::compiler::Compiler;
use orderql::compile::explanation::{Explanation, explain};
use orderql::error::code::ErrorCode;
use orderql::limits::Limits;
use orderql::plan::request_plan::{Parameter, Plan};
use orderql::plan::step::Parents;
use orderql_generator::change::{change_values, enlarge_page, remove_selection};
use orderql_generator::choices::Choices;
use orderql_generator::cursor::Cursor;
use orderql_generator::document::Value;
use orderql_generator::generate::generate;
use orderql_generator::print::Layout;
use orderql_generator::request::Generated;
use orderql_generator::values::{Invented, MARK, Values as _};

use crate::oracles::cost::{cost, depth};
use crate::oracles::keyset;
use crate::oracles::response::{expected, written};
use crate::oracles::sql::{Word, expected_relations, identifiers, relations, words};
use crate::oracles::tree::{Node, steps, tree};
use crate::support::catalogs::catalogs;
use crate::support::input::{choice, settings};

/// The bytes at the end that choose how a request is changed, so that the request itself does not use them up.
const FOR_CHANGES: usize = 24;

/// Runs the target.
pub fn run(data: &[u8]) {
    let (first, data) = choice(data);
    let (settings, data) = settings(data);
    let catalogs = catalogs();
    let index = if first & 0x80 == 0 { 0 } else { 1 % catalogs.len() };
    let catalog = &catalogs[index];
    let (data, changes) = data.split_at(data.len().saturating_sub(FOR_CHANGES));
    let generated = generate(catalog, &Invented, settings, &mut Choices::new(data));
    let explanation = explained(catalog, &generated);
    let nodes = tree(&generated);
    check_price(catalog, &generated, &explanation, &nodes);
    check_response(catalog, &explanation, &nodes);
    let choices = &mut Choices::new(changes);
    // The statements take longer to check than to make, so the others are checked more often.
    match first & 0x7f {
        0..24 => check_limits(catalog, &generated, &explanation, &nodes, choices),
        24..48 => check_other_values(catalog, generated, &explanation, choices),
        48..60 => check_larger_page(catalog, generated, &explanation, choices),
        60..72 => check_fewer_selections(catalog, generated, &explanation, choices),
        72..96 => check_other_cursor(catalog, generated, choices),
        96..104 => check_layouts(catalog, &generated, &explanation),
        _ => check_statements(catalog, &known_identifiers()[index], &generated, &explanation, &nodes),
    }
}

fn known_identifiers() -> &'static [HashSet<String>] {
    static IDENTIFIERS: OnceLock<Vec<HashSet<String>>> = OnceLock::new();
    IDENTIFIERS.get_or_init(|| catalogs().iter().map(|catalog| identifiers(catalog)).collect())
}

fn explained(catalog: &Catalog, generated: &Generated) -> Explanation {
    let request = generated.request();
    let explanation = explain(catalog, &request, &generated.unlimited())
        .unwrap_or_else(|errors| panic!("{errors}\n{}\n{:?}", request.query, request.variables));
    assert_eq!(explanation.errors, None, "{}", request.query);
    explanation
}

fn check_price(catalog: &Catalog, generated: &Generated, explanation: &Explanation, nodes: &[Node<'_>]) {
    let text = || generated.request().query;
    assert_eq!(explanation.estimate.cost(), cost(catalog, generated, nodes), "the cost of {}", text());
    assert_eq!(explanation.depth, depth(catalog, nodes), "the depth of {}", text());
    let statements = explanation.plan.steps().len();
    assert_eq!(statements, steps(catalog, nodes).len(), "the statements of {}", text());
    let of_lines: u64 = explanation.cost.iter().map(|line| line.total).sum();
    assert_eq!(of_lines, explanation.estimate.cost(), "the lines of {}", text());
}

fn check_response(catalog: &Catalog, explanation: &Explanation, nodes: &[Node<'_>]) {
    let written = written(explanation.plan.response_template());
    if let Some(expected) = expected(catalog, catalog.query(), nodes) {
        assert_eq!(written, expected);
    } else {
        serde_json::from_str::<serde_json::Value>(&written).expect("a response is JSON");
    }
}

fn check_statements(
    catalog: &Catalog,
    identifiers: &HashSet<String>,
    generated: &Generated,
    explanation: &Explanation,
    nodes: &[Node<'_>],
) {
    let (plan, nodes) = (&explanation.plan, steps(catalog, nodes));
    for (index, (step, node)) in plan.steps().iter().zip(&nodes).enumerate() {
        if let Parents::Rows { step: parent, .. } = step.parents {
            assert!(parent < index, "a step's parents come before it");
        }
        let size = if node.connection(catalog).is_some() { node.page(catalog, generated).0 } else { 1 };
        assert_eq!(plan.size(index), size);
        let expected = |step: usize| expected_relations(catalog, generated, nodes[step]);
        let words = check_sql(identifiers, &step.sql, step.parameters.len());
        assert_eq!(relations(&words), expected(index), "the relations of {}", step.sql);
        #[cfg(feature = "pg_query")]
        crate::oracles::postgres::check(&step.sql, &expected(index), step.parameters.len());
        keyset::check(catalog, generated, node, plan, index, &words);

        let Some(statement) = plan.self_contained(index) else { continue };
        let words = check_sql(identifiers, &statement.sql, statement.parameters.len());
        let found = relations(&words);
        assert!(expected(index).is_subset(&found), "the relations of {}", statement.sql);
        let parent = |step: usize| match plan.steps()[step].parents {
            Parents::Known => None,
            Parents::Rows { step, .. } => Some(step),
        };
        let of_parents = iter::successors(parent(index), |step| parent(*step)).flat_map(expected);
        let allowed = of_parents.chain(expected(index)).collect();
        assert!(found.is_subset(&allowed), "the relations of {}", statement.sql);
        assert!(plan.parameters_of(statement).all(|parameter| !matches!(parameter, Parameter::ParentKeys(_))));
        #[cfg(feature = "pg_query")]
        crate::oracles::postgres::check(&statement.sql, &found, statement.parameters.len());
    }
}

/// The words of an SQL text: all identifiers are of the catalog, all parameters are used, and there is no value.
fn check_sql(identifiers: &HashSet<String>, sql: &str, parameters: usize) -> Vec<Word> {
    let words = words(sql);
    let mut is_used = vec![false; parameters];
    for word in &words {
        match word {
            Word::Identifier(name) => {
                assert!(identifiers.contains(name), "\"{name}\" is not of the catalog: {sql}");
            }
            Word::Parameter(number) => is_used[number - 1] = true,
            Word::Bare(_) | Word::Number(_) | Word::Sign(_) => {}
        }
    }
    assert!(is_used.into_iter().all(|is_used| is_used), "a parameter is not used: {sql}");
    assert!(!sql.contains(MARK), "a value in {sql}");
    words
}

fn check_limits(
    catalog: &Catalog,
    generated: &Generated,
    explanation: &Explanation,
    nodes: &[Node<'_>],
    choices: &mut Choices<'_>,
) {
    let (cost, depth) = (explanation.estimate.cost(), explanation.depth);
    let mut near = |measured: u64| {
        let near = [0, measured / 2, measured.saturating_sub(1), measured, measured + 1, u64::MAX];
        *choices.pick(&near).unwrap_or(&measured)
    };
    let sizes = steps(catalog, nodes).into_iter().filter(|node| node.connection(catalog).is_some());
    let largest = sizes.map(|node| node.page(catalog, generated).0).max();
    let small = |limit: u64| u32::try_from(limit).unwrap_or(1_000_000);
    let limits = Limits {
        max_cost: near(cost),
        bucket_size: near(cost),
        max_depth: small(near(depth.into())),
        max_page_size: small(near(largest.unwrap_or(1).into())),
    };
    let expected = if largest.is_some_and(|largest| largest > limits.max_page_size) {
        Some(ErrorCode::FirstTooLarge)
    } else if depth > limits.max_depth {
        Some(ErrorCode::DepthExceeded)
    } else if cost > limits.max_cost.min(limits.bucket_size) {
        Some(ErrorCode::CostExceeded)
    } else {
        None
    };
    let request = generated.request();
    let result = compile(catalog, &request, &limits);
    let found = result.as_ref().err().map(|errors| errors.first().code);
    assert_eq!(found, expected, "{limits:?} {}", request.query);
    if let Ok(compiled) = result {
        assert_eq!(compiled.estimate.cost(), cost);
        assert_eq!(statements(&compiled.plan), statements(&explanation.plan));
    }
}

fn statements(plan: &Plan) -> Vec<&str> {
    plan.steps().iter().map(|step| step.sql.as_str()).collect()
}

fn check_other_values(
    catalog: &Arc<Catalog>,
    mut generated: Generated,
    explanation: &Explanation,
    choices: &mut Choices<'_>,
) {
    let cache = Compiler::new(Arc::clone(catalog), 1 << 20);
    let limits = generated.unlimited();
    // With the plan of the old values in the cache.
    let (old, only_variables) = (generated.clone(), choices.chance(50));
    change_values(&mut generated, choices);
    if only_variables {
        // The text stays, so that the cache has it.
        generated.document = old.document.clone();
    }
    for request in [old.request(), generated.request()] {
        let query = &request.query;
        let compiled = cache.compile(&request, &limits).unwrap_or_else(|errors| panic!("{errors}\n{query}"));
        assert_eq!(statements(&compiled.plan), statements(&explanation.plan), "{query}");
        let fresh = compile(catalog, &request, &limits).expect("it was compiled");
        assert_eq!(compiled.estimate.cost(), fresh.estimate.cost(), "{query}");
        for step in 0..fresh.plan.steps().len() {
            assert!(fresh.plan.parameters(step).eq(compiled.plan.parameters(step)), "{query}");
        }
    }
}

fn check_larger_page(
    catalog: &Catalog,
    mut generated: Generated,
    explanation: &Explanation,
    choices: &mut Choices<'_>,
) {
    if enlarge_page(&mut generated, choices) {
        let larger = explained(catalog, &generated);
        assert!(larger.estimate.cost() >= explanation.estimate.cost(), "{}", generated.request().query);
        assert_eq!(statements(&larger.plan), statements(&explanation.plan));
    }
}

fn check_fewer_selections(
    catalog: &Catalog,
    mut generated: Generated,
    explanation: &Explanation,
    choices: &mut Choices<'_>,
) {
    if remove_selection(&mut generated, choices) {
        let smaller = explained(catalog, &generated);
        assert!(smaller.estimate.cost() <= explanation.estimate.cost(), "{}", generated.request().query);
        assert!(smaller.depth <= explanation.depth, "{}", generated.request().query);
    }
}

/// Puts a cursor of another connection, sort key or direction where one was made for this.
fn check_other_cursor(catalog: &Catalog, mut generated: Generated, choices: &mut Choices<'_>) {
    let connections = catalog.fields().filter_map(|(_, _, binding)| match binding {
        Binding::Connection(connection) => Some(connection),
        _ => None,
    });
    let connections: Vec<_> = connections.collect();
    let Some(other) = choices.pick(&connections).copied() else { return };
    let Some(sort_key) = choices.pick(&other.sort_keys) else { return };
    let mut replaced = None;
    let reverse = choices.chance(50);
    let values = Invented.cursor(other, sort_key, choices);
    let cursor = Cursor::new(other, sort_key, reverse, values);
    generated.visit_values(&mut |value| {
        let Value::Cursor(here) = value else { return };
        let (text, tag) = replaced.get_or_insert_with(|| (here.text(), here.tag));
        // A field that is selected twice has the same arguments.
        if here.tag == *tag && here.text() == *text {
            *here = cursor.clone();
        }
    });
    let Some((old, tag)) = replaced else { return };
    let request = generated.request();
    let result = explain(catalog, &request, &generated.unlimited());
    // The cursor may be below a condition that does not hold, or in a default.
    let is_read = tree_has(&tree(&generated), &generated, catalog, &cursor.text());
    let is_same = tag == cursor.tag;
    match result {
        Ok(_) => assert!(!is_read || is_same, "a cursor of another ordering in {} for {old}", request.query),
        Err(errors) => {
            assert!(is_read && !is_same, "{errors}\n{}", request.query);
            assert!(errors.iter().all(|error| error.code == ErrorCode::BadUserInput), "{errors}");
        }
    }
}

/// Whether a connection that is selected has that cursor.
fn tree_has(nodes: &[Node<'_>], generated: &Generated, catalog: &Catalog, cursor: &str) -> bool {
    steps(catalog, nodes).into_iter().any(|node| {
        let values = node.field.arguments.iter().filter_map(|argument| generated.resolve(&argument.value));
        let mut cursors = values.filter_map(|value| match value {
            Value::Cursor(cursor) => Some(cursor.text()),
            _ => None,
        });
        cursors.any(|text| text == cursor)
    })
}

fn check_layouts(catalog: &Catalog, generated: &Generated, explanation: &Explanation) {
    for layout in Layout::ALL {
        let request = generated.request_as(layout);
        let other = explain(catalog, &request, &generated.unlimited())
            .unwrap_or_else(|errors| panic!("{errors}\n{}", request.query));
        assert_eq!(other.plan, explanation.plan, "{}", request.query);
    }
}
