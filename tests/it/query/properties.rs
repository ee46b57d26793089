//! Properties of all queries, checked on random queries that are the same in every run.

use std::collections::HashSet;
use std::sync::Arc;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::compiler::Compiler;
use orderql::compile::explanation::{Explanation, explain};
use orderql::cost::breakdown::CostNode;
use orderql::cost::price::Cost;
use orderql::cursor::Encoder;
use orderql::error::code::ErrorCode;
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::value::{ScalarType, Timestamp};
use orderql_generator::change::{change_values, enlarge_page, remove_selection};
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use orderql_generator::request::Generated;
use orderql_generator::values::Invented;
use serde_json::{Value as Json, json};

use crate::support::cursor::numeric;
use crate::support::random::Random;

const QUERIES: u64 = 3000;

/// Limits that admit every query.
const UNLIMITED: Limits = Limits { max_page_size: 10_000, max_depth: 50, ..Limits::UNLIMITED };

fn catalog() -> Catalog {
    Catalog::built_in().unwrap()
}

/// A valid query without introspection.
fn random_query(catalog: &Catalog, seed: u64) -> Generated {
    let settings = Settings { max_fields: 20, introspection: false, ..Settings::default() };
    generate(catalog, &Invented, settings, &mut Choices::new(&bytes_of_seed(seed, 400)))
}

fn explained(catalog: &Catalog, query: &Generated) -> Explanation {
    let request = query.request();
    let explanation = explain(catalog, &request, &UNLIMITED)
        .unwrap_or_else(|errors| panic!("{errors}\n{}\n{:?}", request.query, request.variables));
    assert_eq!(explanation.errors, None, "{}", request.query);
    explanation
}

#[test]
fn the_breakdown_adds_up_to_the_estimate() {
    let catalog = catalog();
    for seed in 0..QUERIES {
        let query = random_query(&catalog, seed);
        let explanation = explained(&catalog, &query);
        let total: Cost = explanation.cost.iter().map(adds_up).sum();
        assert_eq!(total, explanation.estimate.cost(), "{seed}: {}", query.request().query);
    }
}

fn adds_up(node: &CostNode) -> Cost {
    let (of_page, of_rows): (Vec<_>, Vec<_>) = node.parts.iter().partition(|part| part.is_once);
    let total = |parts: Vec<&CostNode>| parts.into_iter().map(adds_up).sum::<Cost>();
    let (of_page, of_row) = (total(of_page), node.own + total(of_rows));
    assert_eq!(node.total, node.penalty + of_page + node.times * of_row, "{node:?}");
    assert_eq!(node.penalty, 50 * node.unindexed_terms);
    node.total
}

#[test]
fn the_actual_cost_equals_the_estimate_for_full_pages_and_is_lower_otherwise() {
    let catalog = catalog();
    for seed in 0..QUERIES {
        let query = random_query(&catalog, seed);
        let explanation = explained(&catalog, &query);
        let mut most = vec![0; explanation.plan.steps().len()];
        set_full_pages(&explanation, &explanation.cost, 1, &mut most);
        let (estimate, text) = (&explanation.estimate, query.request().query);
        assert_eq!(estimate.actual(&most), estimate.cost(), "{seed}: {text}");
        let mut random = Random(seed);
        let mut rows = most.clone();
        for _ in 0..5 {
            for (rows, most) in rows.iter_mut().zip(&most) {
                *rows = random.next() % (most + 1);
            }
            assert!(estimate.actual(&rows) <= estimate.cost(), "{seed}: {text}");
        }
        // Each further row raises the cost, and of totals every tenth.
        for step in 0..rows.len() {
            let before = estimate.actual(&rows);
            rows[step] += if explanation.plan.steps()[step].is_totals() { 10 } else { 1 };
            assert!(estimate.actual(&rows) > before, "{seed}: {text}");
        }
    }
}

/// Sets the number of rows of each step for full pages.
fn set_full_pages(of: &Explanation, nodes: &[CostNode], parents: u64, rows: &mut [u64]) {
    for node in nodes {
        let times = parents * node.times;
        if let Some(step) = node.step {
            rows[step] = parents * u64::from(of.plan.rows(step));
        }
        set_full_pages(of, &node.parts, times, rows);
    }
}

#[test]
fn a_larger_query_never_costs_less() {
    let catalog = catalog();
    let (mut shrunk, mut widened) = (0, 0);
    for seed in 0..QUERIES / 2 {
        let query = random_query(&catalog, seed);
        let cost = explained(&catalog, &query).estimate.cost();
        let bytes = bytes_of_seed(seed + QUERIES, 64);
        let choices = &mut Choices::new(&bytes);
        let mut smaller = query.clone();
        if remove_selection(&mut smaller, choices) {
            shrunk += 1;
            let less = explained(&catalog, &smaller).estimate.cost();
            assert!(less <= cost, "{less} > {cost}\n{}\n{}", smaller.request().query, query.request().query);
        }
        let mut wider = query.clone();
        if enlarge_page(&mut wider, choices) {
            widened += 1;
            let more = explained(&catalog, &wider).estimate.cost();
            assert!(more >= cost, "{more} < {cost}\n{}", wider.request().query);
        }
    }
    assert!(shrunk > 500 && widened > 500, "{shrunk} {widened}");
}

#[test]
fn a_cached_plan_equals_a_fresh_one() {
    let catalog = catalog();
    let compiler = Compiler::new(Arc::new(Catalog::built_in().unwrap()), 1 << 16);
    for seed in 0..QUERIES {
        let request = random_query(&catalog, seed).request();
        let first = compile(&catalog, &request, &UNLIMITED).unwrap();
        for _ in 0..2 {
            let cached = compiler.compile(&request, &UNLIMITED).unwrap();
            assert_eq!(cached.plan, first.plan, "{}", request.query);
            assert_eq!(cached.estimate.cost(), first.estimate.cost(), "{}", request.query);
        }
    }
}

/// Introspection with a plan that is always the same, with one that depends on a variable, and beside a step.
const INTROSPECTION: [&str; 4] = [
    "{ __schema { queryType { name } } }",
    "query ($name: String!) { __type(name: $name) { name fields { name } } }",
    "{ __type(name: \"Order\") { name } orders(first: 3) { edges { node { billToCustomer { lastName } } } } }",
    "query ($name: String!) { __type(name: $name) { kind } orders(first: 3) { edges { cursor } } }",
];

/// A generated query, or introspection.
fn query_or_introspection(catalog: &Catalog, seed: u64, random: &mut Random) -> Request {
    if random.chance(80) {
        return random_query(catalog, seed).request();
    }
    let query = (*random.pick(&INTROSPECTION)).to_owned();
    let variables = json!({ "name": random.pick(&["Order", "Facility", "Nothing"]) });
    Request { query, variables: variables.as_object().unwrap().clone(), ..Request::default() }
}

/// Limits near what a query has.
fn limits_near(explanation: &Explanation, random: &mut Random) -> Limits {
    let (cost, depth, bytes) = (explanation.estimate.cost(), explanation.depth, explanation.response_size.measured);
    Limits {
        max_cost: *random.pick(&[0, cost / 2, cost.saturating_sub(1), cost, cost + 1, u64::MAX]),
        response_size: *random.pick(&[bytes.saturating_sub(1), bytes]),
        max_page_size: *random.pick(&[1, 5, 100, 10_000, 10_000, 10_000]),
        max_depth: *random.pick(&[0, depth.saturating_sub(1), depth, depth + 1, 50, 50]),
        bucket_size: if random.chance(80) { u64::MAX } else { *random.pick(&[cost.saturating_sub(1), cost]) },
    }
}

#[test]
fn a_cached_request_has_the_same_result_as_a_fresh_one_whatever_limits_came_before() {
    let catalog = Arc::new(catalog());
    let (mut admitted, mut rejected, mut different) = (0, 0, 0);
    for seed in 0..QUERIES / 4 {
        let mut random = Random(seed);
        let request = query_or_introspection(&catalog, seed, &mut random);
        let explanation = explain(&catalog, &request, &UNLIMITED).unwrap();
        let callers = [(); 2].map(|()| limits_near(&explanation, &mut random));
        let fresh = callers.map(|limits| compile(&catalog, &request, &limits).map(|compiled| format!("{compiled:?}")));
        for order in [[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1]] {
            let compiler = Compiler::new(Arc::clone(&catalog), 1 << 20);
            for caller in order {
                let limits = &callers[caller];
                let cached = compiler.compile(&request, limits).map(|compiled| format!("{compiled:?}"));
                assert_eq!(cached, fresh[caller], "{seed}: {limits:?} {}", request.query);
                if let Ok(explanation) = compiler.explain(&request, limits) {
                    let is_admitted = explanation.check.is_admitted() && explanation.response_size.is_passed();
                    assert_eq!(is_admitted, cached.is_ok(), "{seed}: {limits:?}");
                    assert_eq!(explanation.errors, cached.err(), "{seed}: {limits:?}");
                }
            }
        }
        admitted += fresh.iter().filter(|result| result.is_ok()).count();
        rejected += fresh.iter().filter(|result| result.is_err()).count();
        different += usize::from(fresh[0].is_ok() != fresh[1].is_ok());
    }
    assert!(admitted > 150 && rejected > 150 && different > 150, "{admitted} {rejected} {different}");
}

/// A query in which everything that can change the SQL is a variable.
const QUERY_WITH_VARIABLES: &str = "
    query ($first: Int, $last: Int, $after: String, $before: String, $sort: OrderSortKey, $reverse: Boolean,
           $search: String, $customer: Boolean!, $items: Boolean!, $size: Int!, $id: ID, $externalId: String) {
        orders(first: $first, last: $last, after: $after, before: $before, sortKey: $sort, reverse: $reverse, query: $search) {
            pageInfo { hasPreviousPage hasNextPage }
            edges { node {
                orderItems(first: $size) @include(if: $items) { edges { node { quantity } } }
                billToCustomer @include(if: $customer) { lastName }
                ... @skip(if: $items) { orderId statuses(last: $size) { edges { cursor } } }
            } }
        }
        order(orderId: $id, externalId: $externalId) { shipGroups(first: $size) { edges { node { facilityId } } } }
    }";

#[test]
fn a_cached_text_with_other_variables_compiles_like_a_fresh_one() {
    let catalog = catalog();
    let compiler = Compiler::new(Arc::new(Catalog::built_in().unwrap()), 1 << 20);
    let orders = catalog.fields().find(|(_, field, _)| field.name == "orders").unwrap();
    let orders = orders.2.connection().unwrap();
    let limits = Limits { max_cost: 120, ..Limits::default() };
    let mut random = Random(1);
    let (mut admitted, mut statements) = (0, HashSet::new());
    for _ in 0..2000 {
        let sort_key = random.pick(&orders.sort_keys);
        let reverse = random.chance(50);
        let cursor = |random: &mut Random| {
            if random.chance(60) {
                return Json::Null;
            }
            let mut cursor = Encoder::default();
            cursor.begin(if reverse { sort_key.tag.reversed() } else { sort_key.tag });
            for column in &sort_key.columns {
                match column.scalar {
                    _ if sort_key.nullable && column.name != "order_id" && random.chance(50) => cursor.null(),
                    ScalarType::DateTime => cursor.timestamp(Timestamp(random.below(1 << 50).try_into().unwrap())),
                    ScalarType::Decimal => cursor.numeric(&numeric(&random.below(100).to_string())),
                    _ => cursor.text(random.below(100).to_string().as_bytes()),
                }
            }
            let mut text = Vec::new();
            cursor.finish(&mut text);
            Json::from(String::from_utf8(text).unwrap())
        };
        let (after, before) = (cursor(&mut random), cursor(&mut random));
        let terms =
            ["orderId:A,B", "statusId:C", "orderDate:>2026-01-01", "orderDate:<=2026-02-01", "productStoreId:D"];
        let search: Vec<_> = terms.into_iter().filter(|_| random.chance(30)).collect();
        let size = json!(1 + random.below(10));
        let (first, last) = if random.chance(50) { (&size, &Json::Null) } else { (&Json::Null, &size) };
        let (id, external_id) = if random.chance(50) { (json!("1"), Json::Null) } else { (Json::Null, json!("2")) };
        let variables = json!({
            "first": first, "last": last, "after": after, "before": before, "sort": sort_key.name, "reverse": reverse,
            "search": search.join(" "), "customer": random.chance(50), "items": random.chance(50),
            "size": 1 + random.below(10), "id": id, "externalId": external_id,
        });
        let variables = variables.as_object().unwrap().clone();
        let request = Request { query: QUERY_WITH_VARIABLES.to_owned(), variables, ..Request::default() };
        let (cached, fresh) = (compiler.compile(&request, &limits), compile(&catalog, &request, &limits));
        assert_eq!(format!("{cached:?}"), format!("{fresh:?}"), "{:?}", request.variables);
        if let Ok(compiled) = cached {
            admitted += 1;
            statements.insert(compiled.plan.sql().to_owned());
        }
    }
    assert!((500..1500).contains(&admitted), "{admitted} admitted");
    assert!(statements.len() > 500, "{} statements", statements.len());
}

#[test]
fn sql_does_not_depend_on_values() {
    let catalog = catalog();
    for seed in 0..QUERIES {
        let query = random_query(&catalog, seed);
        let mut other = query.clone();
        change_values(&mut other, &mut Choices::new(&bytes_of_seed(seed + QUERIES, 200)));
        let statement = |query: &Generated| explained(&catalog, query).plan.sql().to_owned();
        assert_eq!(statement(&query), statement(&other), "{}", query.request().query);
    }
}

#[test]
fn no_text_makes_the_compiler_panic() {
    let catalog = catalog();
    let compiler = Compiler::new(Arc::new(Catalog::built_in().unwrap()), 1 << 16);
    let check = |query: String| {
        let request = Request { query, ..Request::default() };
        let fresh = compile(&catalog, &request, &Limits::default());
        let cached = compiler.compile(&request, &Limits::default());
        assert_eq!(fresh.err(), cached.err());
    };
    let pieces = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "\"",
        "\"\"\"",
        "\\",
        "\\u{1F600}",
        "\\ud83d",
        "...",
        "@include(if: ",
        "on ",
        "$",
        "$a",
        ":",
        "!",
        "=",
        "|",
        "&",
        "query ",
        "fragment F on Order ",
        "...F",
        "mutation ",
        "orders",
        "first: ",
        "1",
        "-0",
        "1e9",
        "9223372036854775808",
        "null",
        "true",
        "#\n",
        ",",
        "\u{feff}",
        "\0",
        "é",
        "日本",
        "\u{202e}",
        "order(orderId: \"A\")",
        "edges",
        "node",
        "__typename",
        "__schema",
        "\r",
        "\n",
        "\t",
        " ",
    ];
    let mut random = Random(7);
    for _ in 0..20_000 {
        let count = random.below(30);
        check((0..count).map(|_| *random.pick(&pieces)).collect());
    }
    for _ in 0..5_000 {
        let bytes: Vec<_> = (0..random.below(60)).map(|_| random.next().to_le_bytes()[0]).collect();
        check(String::from_utf8_lossy(&bytes).into_owned());
    }
}

#[test]
fn no_modified_query_makes_the_compiler_panic() {
    let catalog = catalog();
    for seed in 0..QUERIES {
        let mut request = random_query(&catalog, seed).request();
        let mut random = Random(seed);
        for _ in 0..4 {
            let mut text: Vec<char> = request.query.chars().collect();
            let (a, b) = (random.below(text.len()), random.below(text.len()));
            let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 20));
            match random.below(4) {
                0 => drop(text.drain(from..to)),
                1 => text.swap(from, to),
                2 => {
                    let copied = text[from..to].to_vec();
                    text.splice(from..from, copied);
                }
                _ => {
                    text.insert(from, *random.pick(&['{', '}', '(', ')', '"', '$', ':', '@', '\\', '0', '\u{0}', 'é']));
                }
            }
            if text.is_empty() {
                break;
            }
            request.query = text.into_iter().collect();
            let _ = explain(&catalog, &request, &Limits::default());
        }
        // The variables of another query.
        request.variables = random_query(&catalog, seed + 1).request().variables;
        let _ = explain(&catalog, &request, &Limits::default());
    }
}

#[test]
fn rejects_huge_deep_and_exponential_queries() {
    let catalog = catalog();
    let rejection = |query: String| {
        let request = Request { query, ..Request::default() };
        let Err(errors) = compile(&catalog, &request, &Limits::default()) else { panic!("{:.200}", request.query) };
        errors.first().code
    };
    let many = |part: fn(usize) -> String| (0..20_000).map(part).collect::<Vec<_>>().concat();
    for (open, close) in
        [("{ orders(first: 1) { edges { node ", "} } }"), ("{", "}"), ("{ a(b: [", "]) }"), ("(", ")"), ("{ ... ", "}")]
    {
        rejection(open.repeat(10_000) + &close.repeat(10_000));
        rejection(open.repeat(100_000));
    }
    rejection(format!("{{ {} }}", "orders(first: 1) { edges { node { orderId } } } ".repeat(50_000)));
    rejection(format!("{{ {} }}", many(|n| format!("a{n}: __typename "))));
    rejection(format!("{{ order(orderId: \"A\") {{ {} }} }}", "orderName @skip(if: false) ".repeat(20_000)));
    rejection(format!("{{ __typename {} }}", "@include(if: true) ".repeat(20_000)));
    rejection(format!("query Q({}) {{ __typename }}", many(|n| format!("$a{n}: Int "))));

    // Each fragment spreads the next one twice, with different response keys, which makes 2^40 fields.
    let doubling = |a: &str, b: &str| -> String {
        let fragment = |n: usize| {
            let next = format!("...F{} }} }} }} }}", n + 1);
            format!("fragment F{n} on Order {{ {a} {next} {b} {next} }} ")
        };
        let fragments = (0..40).map(fragment).collect::<Vec<_>>().concat();
        format!("{{ order(orderId: \"A\") {{ ...F0 }} }} {fragments} fragment F40 on Order {{ orderId }}")
    };
    let items = "orderItems(first: 1) { edges { node { order {";
    for (a, b) in [(format!("a: {items}"), format!("b: {items}")), (items.to_owned(), items.to_owned())] {
        let code = rejection(doubling(&a, &b));
        assert!(matches!(code, ErrorCode::GraphqlValidationFailed | ErrorCode::DepthExceeded), "{code}");
    }
    // Cycles of fragments.
    rejection(
        "{ order(orderId: \"A\") { ...A } } fragment A on Order { ...B } fragment B on Order { ...A }".to_owned(),
    );
    rejection("{ ...A } fragment A on Query { ...A }".to_owned());
    // As many equal fields as a document may have are merged into one.
    let same = "orders(first: 1) { edges { node { orderItems(first: 1) { edges { node { productId } } } } } } ";
    let request = Request { query: format!("{{ {} }}", same.repeat(300)), ..Request::default() };
    assert_eq!(compile(&catalog, &request, &Limits::default()).unwrap().estimate.cost(), 3);
}
