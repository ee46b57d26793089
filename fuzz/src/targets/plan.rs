//! `plan`: bytes to a valid request for a catalog. The first byte chooses the catalog and what is checked beside the rest, the
//! second the request's size.
//!
//! - The request compiles. Cost, depth, statements and the shape of the response are what a second computation says.
//! - The SQL text has the words, tables and parameters that the catalog allows. It has a branch for each connection and lookup, below
//!   that of its parent and joined to it. Each finds the rows of the page that a filter and a sort find, and its flags are true.
//! - Limits reject what they have to, by the first limit that is exceeded.
//! - Other values of the same shape have the same SQL, with a cache and without.
//! - A larger page never costs less, nor a selection more.
//! - A cursor is accepted where it was made, and nowhere else.
//! - Every layout of the document compiles to the same plan.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use orderql::catalog::Catalog;
use orderql::catalog::connection::ListIndex;
use orderql::catalog::result_type::ResultType;
use orderql::compile::compile;
use orderql::compile::compiler::Compiler;
use orderql::compile::explanation::{Explanation, explain};
use orderql::error::code::ErrorCode;
use orderql::limits::Limits;
use orderql::plan::parameters::ParameterValue;
use orderql::plan::request_plan::Plan;
use orderql_generator::change::{change_values, enlarge_page, remove_selection};
use orderql_generator::choices::Choices;
use orderql_generator::cursor::Cursor;
use orderql_generator::document::Value;
use orderql_generator::generate::generate;
use orderql_generator::print::Layout;
use orderql_generator::request::Generated;
use orderql_generator::values::{Invented, MARK, Values as _};

use crate::oracles::branches::{Branch, Column, branches, steps as branches_of_steps};
use crate::oracles::cost::{cost, depth};
use crate::oracles::keyset;
use crate::oracles::response::{expected, written};
use crate::oracles::sql::{Word, expected_relations, identifiers, relations, words};
use crate::oracles::tree::{Above, Node, steps, steps_below, tree};
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
        _ => check_statement(catalog, &known_identifiers()[index], &generated, &explanation, &nodes),
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
    let steps_of_plan = explanation.plan.steps().len();
    assert_eq!(steps_of_plan, steps(catalog, nodes).len(), "the steps of {}", text());
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

fn check_statement(
    catalog: &Catalog,
    identifiers: &HashSet<String>,
    generated: &Generated,
    explanation: &Explanation,
    nodes: &[Node<'_>],
) {
    let (plan, nodes) = (&explanation.plan, steps_below(catalog, nodes));
    let sql = plan.sql();
    if nodes.is_empty() {
        assert_eq!(sql, "");
        assert_eq!(plan.parameters().len(), 0);
        return;
    }
    let words = check_sql(identifiers, sql, plan.parameters().len());
    let roots = branches(&words);
    let branches = branches_of_steps(&roots, None);
    // So every step has one branch.
    assert!(branches.iter().map(|(_, branch)| branch.step).eq(0..nodes.len()), "the branches of {sql}");
    let expected = |node| expected_relations(catalog, generated, node);
    for ((node, above), (parent, branch)) in nodes.iter().zip(&branches) {
        let step = &plan.steps()[branch.step];
        let expected_parent = above.map(|above| above.step);
        assert_eq!(
            (*parent, step.parent),
            (expected_parent, expected_parent),
            "the parent of {} in {sql}",
            branch.step
        );
        assert_eq!(step.end, branch.step + branches_of_steps(&branch.children, None).len() + 1, "the steps below");
        assert_eq!(relations(branch.page), expected(node), "the relations of {} in {sql}", branch.step);
        check_page(catalog, generated, plan, node, branch);
        check_columns(catalog, generated, plan, node, branch);
        let parent = above.map(|above| (above, nodes[above.step].0, branches[above.step].1));
        check_join(catalog, node, parent, branch);
        keyset::check(catalog, generated, node, parent.map(|(_, node, _)| node), plan, branch);
    }
    let all: BTreeSet<_> = nodes.iter().flat_map(|(node, _)| expected(node)).collect();
    assert_eq!(relations(&words), all, "the relations of {sql}");
    #[cfg(feature = "pg_query")]
    crate::oracles::postgres::check(sql, &all, plan.parameters().len());
}

/// Rows are numbered if something depends on it, and those of a page from the back are returned in the reverse order.
fn check_page(catalog: &Catalog, generated: &Generated, plan: &Plan, node: &Node<'_>, branch: &Branch<'_>) {
    let is_connection = node.connection(catalog).is_some();
    let (size, from_back) = if node.has_page(catalog) { node.page(catalog, generated) } else { (1, false) };
    assert_eq!(plan.size(branch.step), size);
    assert_eq!(plan.steps()[branch.step].is_backward(), from_back);
    assert_eq!(branch.is_reversed, from_back, "the order of {} in {}", branch.step, plan.sql());
    let has_numbers = is_connection && (from_back || !branch.children.is_empty());
    assert_eq!(branch.is_numbered, has_numbers, "the numbers of {} in {}", branch.step, plan.sql());
}

/// The columns that a branch returns are of the types that all branches have, and are what the plan says that they are.
fn check_columns(catalog: &Catalog, generated: &Generated, plan: &Plan, node: &Node<'_>, branch: &Branch<'_>) {
    let (step, types) = (&plan.steps()[branch.step], plan.columns().types());
    let context = || format!("{branch:?} of {}", plan.sql());
    assert_eq!(branch.columns.len(), types.len(), "{}", context());
    for (column, ty) in branch.columns.iter().zip(types) {
        let is_valid = match *column {
            Column::Null(name) => *name == ty.to_string(),
            Column::OfPage("matches" | "present", None) | Column::NumberAbove(_) => *ty == ResultType::Boolean,
            // The flags of `pageInfo`, then the count, or whether a bounded list is too long.
            Column::OfPage("f0" | "f1" | "f2", None) => matches!(ty, ResultType::Boolean | ResultType::Int8),
            Column::OfPage("number", None) => *ty == ResultType::Int8,
            Column::OfPage(name, Some(converted)) => *converted == ty.to_string() && has_column(branch, name, |_| true),
            Column::OfPage(_, None) => false,
        };
        assert!(is_valid, "{column:?} as {ty:?} in {}", context());
    }
    // The first column is the step's number.
    let column = |index: usize| branch.columns[index - 1];
    let layout = &step.layout;
    let flags = [layout.before_page, layout.after_page, layout.count, layout.is_too_long];
    let is_bounded = node.connection(catalog).is_some_and(|connection| connection.found_by != ListIndex::Order);
    assert_eq!(layout.is_too_long.is_some(), is_bounded, "{}", context());
    for (name, index) in ["f0", "f1", "f2"].into_iter().zip(flags.into_iter().flatten()) {
        assert_eq!(column(index), Column::OfPage(name, None), "{}", context());
    }
    let has_flags = step.is_totals() || flags.iter().any(Option::is_some);
    assert_eq!(layout.present.is_some(), has_flags, "{}", context());
    assert_eq!(layout.beyond_page.is_some(), step.is_backward(), "{}", context());
    let search = step.search();
    let named =
        [("present", layout.present), ("matches", search.map(|it| it.matches)), ("number", search.map(|it| it.number))];
    for (name, index) in named {
        assert!(index.is_none_or(|index| column(index) == Column::OfPage(name, None)), "{name} in {}", context());
    }
    if let Some(index) = layout.beyond_page {
        let Column::NumberAbove(number) = column(index) else { panic!("{}", context()) };
        assert_eq!(plan.parameters().nth(number - 1), Some(ParameterValue::Limit(plan.size(branch.step).into())));
    }
    if let (Some(cursor), Some(connection)) = (&step.cursor, node.connection(catalog)) {
        let expected: Vec<_> = connection.cursor_columns(node.sort_key(catalog, generated, connection)).collect();
        assert_eq!(cursor.columns.len(), expected.len(), "the cursor of {}", context());
        for ((index, scalar), expected) in cursor.columns.iter().zip(expected) {
            let Column::OfPage(name, Some(_)) = column(*index) else { panic!("the cursor of {}", context()) };
            let is_expected = |words: &[Word]| *words == of_alias("t", &expected.name);
            assert!(has_column(branch, name, is_expected), "{} in the cursor of {}", expected.name, context());
            assert_eq!(*scalar, expected.scalar);
        }
    }
}

/// `t."column"`
fn of_alias(alias: &str, column: &str) -> [Word; 3] {
    [Word::Bare(alias.to_owned()), Word::Sign("."), Word::Identifier(column.to_owned())]
}

/// Whether the page selects a column with that name, and the three words before its `AS` fulfil a condition wherever it does.
fn has_column(branch: &Branch<'_>, name: &str, fulfils: impl Fn(&[Word]) -> bool) -> bool {
    let selected = branch.page.windows(2).enumerate().filter(|(_, pair)| pair[0].is("AS") && pair[1].is(name));
    let fulfilled: Vec<_> = selected.map(|(at, _)| fulfils(&branch.page[at.saturating_sub(3)..at])).collect();
    !fulfilled.is_empty() && fulfilled.into_iter().all(|fulfilled| fulfilled)
}

/// Wherever a page reads its own relation, it reads the rows of one parent. It reads nothing else of the steps above.
fn check_join(
    catalog: &Catalog,
    node: &Node<'_>,
    parent: Option<(Above, &Node<'_>, &Branch<'_>)>,
    branch: &Branch<'_>,
) {
    let page = &with_equalities(branch.page);
    let of_steps_above = page.iter().filter_map(|word| word.number_after("p"));
    let Some((above, _, parent)) = parent else {
        assert_eq!(of_steps_above.count(), 0, "{branch:?}");
        return;
    };
    assert!(of_steps_above.clone().all(|step| step == above.step), "{branch:?}");
    let join = &node.connection(catalog).expect("what is below a row is a connection").join;
    let scans = page
        .windows(3)
        .filter(|words| matches!(words[0], Word::Identifier(_)) && words[1].is("AS") && words[2].is("t"));
    let mut joined = 0;
    for words in page.windows(7) {
        let [alias, dot, Word::Identifier(to), equals, step, of, Word::Bare(key)] = words else { continue };
        if !(alias.is("t") && dot.is(".") && equals.is("=") && step.number_after("p").is_some() && of.is(".")) {
            continue;
        }
        let index = joined % join.to.len();
        assert_eq!(*to, join.to[index], "{branch:?}");
        let is_key = |words: &[Word]| {
            let [alias, dot, Word::Identifier(by)] = words else { return false };
            let is_alias = if above.is_joined { alias.number_after("j").is_some() } else { alias.is("t") };
            is_alias && dot.is(".") && *by == join.by[index].name
        };
        assert!(has_column(parent, key, is_key), "{key} of {parent:?} for {branch:?}");
        joined += 1;
    }
    assert_eq!(joined, scans.count() * join.to.len(), "the joins of {branch:?}");
    // The others are the number of the row, and whether it is one of the page.
    let others = page.windows(3).filter(|words| {
        words[0].number_after("p").is_some() && (words[2].is("n") || words[2].is("matches") || words[2].is("present"))
    });
    assert_eq!(of_steps_above.count(), joined + others.count(), "{branch:?}");
}

/// The page with `t."column" = p0.c0` in place of the two other ways in which a bounded list says it: `= ANY(ARRAY[p0.c0])`, and
/// `>= p0.c0 AND t."column" <= p0.c0`.
fn with_equalities(page: &[Word]) -> Vec<Word> {
    let is = |at: usize, texts: &[&str]| {
        page.get(at..at + texts.len()).is_some_and(|words| words.iter().zip(texts).all(|(word, text)| word.is(text)))
    };
    let key = |at: usize| page.get(at..at + 3).filter(|key| key[0].number_after("p").is_some() && key[1].is("."));
    let (mut words, mut at) = (Vec::new(), 0);
    while at < page.len() {
        let (of_parent, length) = match key(at + 5).filter(|_| is(at, &["=", "ANY", "(", "ARRAY", "["])) {
            Some(of_parent) => (Some(of_parent), 10),
            None => (key(at + 1).filter(|of_parent| is(at, &[">="]) && key(at + 9) == Some(*of_parent)), 12),
        };
        if let Some(of_parent) = of_parent {
            assert!(is(at + 8, &["]", ")"]) || is(at + 4, &["AND", "t", "."]) && is(at + 8, &["<="]), "{page:?}");
            words.push(Word::Sign("="));
            words.extend_from_slice(of_parent);
            at += length;
        } else {
            words.push(page[at].clone());
            at += 1;
        }
    }
    words
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
    let (cost, depth, bytes) = (explanation.estimate.cost(), explanation.depth, explanation.response_size.measured);
    let mut near = |measured: u64| {
        let near = [0, measured / 2, measured.saturating_sub(1), measured, measured + 1, u64::MAX];
        *choices.pick(&near).unwrap_or(&measured)
    };
    let sizes = steps(catalog, nodes).into_iter().filter(|node| node.has_page(catalog));
    let largest = sizes.map(|node| node.page(catalog, generated).0).max();
    let small = |limit: u64| u32::try_from(limit).unwrap_or(1_000_000);
    let limits = Limits {
        max_cost: near(cost),
        bucket_size: near(cost),
        response_size: near(bytes),
        max_depth: small(near(depth.into())),
        max_page_size: small(near(largest.unwrap_or(1).into())),
    };
    let expected = if largest.is_some_and(|largest| largest > limits.max_page_size) {
        Some(ErrorCode::FirstTooLarge)
    } else if depth > limits.max_depth {
        Some(ErrorCode::DepthExceeded)
    } else if cost > limits.max_cost.min(limits.bucket_size) {
        Some(ErrorCode::CostExceeded)
    } else if cost > 0 && bytes > limits.response_size.max(cost.saturating_mul(1024)) {
        Some(ErrorCode::ResponseTooLarge)
    } else {
        None
    };
    let request = generated.request();
    let result = compile(catalog, &request, &limits);
    let found = result.as_ref().err().map(|errors| errors.first().code);
    assert_eq!(found, expected, "{limits:?} {}", request.query);
    if let Ok(compiled) = result {
        assert_eq!(compiled.estimate.cost(), cost);
        assert_eq!(compiled.plan.sql(), explanation.plan.sql());
    }
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
        assert_eq!(compiled.plan.sql(), explanation.plan.sql(), "{query}");
        let fresh = compile(catalog, &request, &limits).expect("it was compiled");
        assert_eq!(compiled.estimate.cost(), fresh.estimate.cost(), "{query}");
        assert!(fresh.plan.parameters().eq(compiled.plan.parameters()), "{query}");
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
        assert_eq!(larger.plan.sql(), explanation.plan.sql());
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
    let connections: Vec<_> = catalog.fields().filter_map(|(_, _, binding)| binding.connection()).collect();
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
