//! Suggestions of page sizes for queries that cost too much.

use std::collections::HashSet;
use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::explanation::{Explanation, explain};
use orderql::cost::breakdown::CostNode;
use orderql::error::code::ErrorCode;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::{Value, json};

use crate::cost::random_requests::{first_code, random_request};

/// The extensions of an explanation's first error.
fn extensions(explanation: &Explanation) -> Value {
    Value::Object(explanation.errors.as_ref().unwrap().first().extensions.clone())
}

/// The selection, without its page sizes.
fn selection(lines: &[CostNode]) -> String {
    let line = |line: &CostNode| format!("{:?} {} {} {{{}}}", line.via, line.key, line.field, selection(&line.parts));
    lines.iter().map(line).collect()
}

/// Applies a suggestion's edits to a request, as a client would. `more` is added to each new page size.
fn edited(request: &Request, suggestion: &Value, more: impl Fn(usize) -> u64) -> Request {
    let mut request = request.clone();
    let mut texts = Vec::new();
    for (number, edit) in suggestion["edits"].as_array().unwrap().iter().enumerate() {
        let to = edit["to"].as_u64().unwrap() + more(number);
        assert!((1..edit["from"].as_u64().unwrap() + more(number)).contains(&to), "{edit}");
        if let Some(name) = edit["variable"].as_str() {
            assert!(edit.get("locations").is_none(), "{edit}");
            request.variables.insert(name.to_owned(), json!(to));
            continue;
        }
        for location in edit["locations"].as_array().unwrap() {
            let [line, column] = ["line", "column"].map(|part| location[part].as_u64().unwrap());
            let old = format!("{}: {}", edit["argument"].as_str().unwrap(), edit["from"]);
            texts.push((line, column, old, format!("{}: {to}", edit["argument"].as_str().unwrap())));
        }
    }
    let mut lines: Vec<String> = request.query.split('\n').map(str::to_owned).collect();
    // Backwards, so that the locations stay valid.
    texts.sort();
    for (line, column, old, new) in texts.into_iter().rev() {
        let line = &mut lines[usize::try_from(line).unwrap() - 1];
        let field = line.char_indices().nth(usize::try_from(column).unwrap() - 1).unwrap().0;
        let start = field + line[field..].find(&old).unwrap_or_else(|| panic!("no `{old}` in {line}"));
        let end = line[field..].find(')').unwrap() + field;
        assert!(start < end, "`{old}` belongs to another field: {line}");
        line.replace_range(start..start + old.len(), &new);
    }
    request.query = lines.join("\n");
    request
}

#[test]
fn every_suggestion_keeps_the_selection_and_has_the_stated_cost() {
    let catalog = Catalog::built_in().unwrap();
    let limits = Limits { max_depth: 60, ..Limits::default() };
    let (mut over_budget, mut applied, mut hopeless) = (0, 0, 0);
    let mut shrunk = HashSet::new();
    for seed in 0.. {
        let request = random_request(&catalog, seed);
        let explanation =
            explain(&catalog, &request, &limits).unwrap_or_else(|error| panic!("{seed}: {error}\n{}", request.query));
        let cost = explanation.estimate.cost();
        assert_eq!(first_code(&explanation), (cost > limits.max_cost).then_some(ErrorCode::CostExceeded), "{seed}");
        if cost <= limits.max_cost {
            continue;
        }
        over_budget += 1;
        let extensions = extensions(&explanation);
        assert_eq!((extensions["estimatedCost"].as_u64(), extensions["maxCost"].as_u64()), (Some(cost), Some(1000)));
        let suggestions = extensions["suggestions"].as_array().unwrap();
        let fits = extensions["minimumCost"].as_u64().unwrap() <= limits.max_cost;
        assert_eq!(!suggestions.is_empty(), fits, "{seed}: {extensions}\n{}", request.query);
        hopeless += u32::from(!fits);
        for suggestion in suggestions {
            let smaller = edited(&request, suggestion, |_| 0);
            let smaller = explain(&catalog, &smaller, &limits)
                .unwrap_or_else(|error| panic!("{seed}: {error}\n{suggestion}\n{}", request.query));
            assert_eq!(smaller.errors, None, "{seed}: {suggestion}\n{}", request.query);
            assert_eq!(suggestion["estimatedCost"], json!(smaller.estimate.cost()), "{seed}\n{}", request.query);
            assert_eq!(selection(&smaller.cost), selection(&explanation.cost), "{seed}");
            applied += 1;
            shrunk.insert(suggestion["shrinks"].as_str().unwrap().to_owned());
        }
        if over_budget == 250 {
            break;
        }
    }
    assert!(applied > 400 && hopeless < 100 && shrunk.len() == 3, "{applied} {hopeless} {shrunk:?}");
}

#[test]
fn no_page_of_a_suggestion_could_be_larger() {
    let catalog = Catalog::built_in().unwrap();
    let limits = Limits { max_depth: 60, ..Limits::default() };
    let mut tried = 0;
    for seed in 0..1000 {
        let request = random_request(&catalog, seed);
        let explanation = explain(&catalog, &request, &limits).unwrap();
        if first_code(&explanation).is_none() || explanation.plan.steps().len() > 24 {
            continue;
        }
        for suggestion in extensions(&explanation)["suggestions"].as_array().unwrap() {
            for larger in 0..suggestion["edits"].as_array().unwrap().len() {
                let request = edited(&request, suggestion, |number| u64::from(number == larger));
                let errors = compile(&catalog, &request, &limits).unwrap_err();
                assert_eq!(errors.first().code, ErrorCode::CostExceeded, "{seed}: {suggestion}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

/// The extensions of the error for the specification's worked case.
fn worked_case() -> Value {
    let catalog = Catalog::built_in().unwrap();
    let query = include_str!("../../plans/worked_case_1366.graphql").to_owned();
    let variables = serde_json::from_str(include_str!("../../plans/worked_case_1366.variables.json")).unwrap();
    let request = Request { query, operation_name: None, variables };
    extensions(&explain(&catalog, &request, &Limits::default()).unwrap())
}

#[test]
fn the_worked_case_gets_its_expensive_branches_and_suggestions() {
    let extensions = worked_case();
    assert_eq!(extensions["minimumCost"], 16 + 1 + 14 + 6);
    let groups = json!(["order", "shipGroups"]);
    let items = json!(["order", "shipGroups", "edges", "node", "orderItems"]);
    assert_eq!(
        extensions["branches"],
        json!([
            { "path": ["order"], "total": 1366, "share": 1.0 },
            { "path": groups, "total": 1350, "share": 0.988 },
            { "path": items, "total": 1200, "share": 0.878 },
        ])
    );
    let edit = |path: &Value, line: u64, column: u64, from: u64, to: u64| {
        let locations = json!([{ "line": line, "column": column }]);
        json!({ "path": path, "argument": "first", "from": from, "to": to, "locations": locations })
    };
    assert_eq!(
        extensions["suggestions"],
        json!([
            // 16 + 7 × (15 + 20 × 6)
            { "shrinks": "outermost", "estimatedCost": 961, "edits": [edit(&groups, 11, 5, 10, 7)] },
            // 16 + 10 × (15 + 13 × 6)
            { "shrinks": "nested", "estimatedCost": 946, "edits": [edit(&items, 22, 11, 20, 13)] },
            // 16 + 8 × (15 + 18 × 6)
            {
                "shrinks": "all",
                "estimatedCost": 1000,
                "edits": [edit(&groups, 11, 5, 10, 8), edit(&items, 22, 11, 20, 18)],
            },
        ])
    );
}

/// The suggestions for a query.
fn suggestions(query: &str) -> Vec<Value> {
    let catalog = Catalog::built_in().unwrap();
    let request = Request { query: query.to_owned(), ..Request::default() };
    let explanation = explain(&catalog, &request, &Limits::default()).unwrap();
    assert_eq!(first_code(&explanation), Some(ErrorCode::CostExceeded), "{query}");
    extensions(&explanation)["suggestions"].as_array().unwrap().clone()
}

#[test]
fn page_sizes_from_one_literal_or_variable_change_together() {
    // A variable for both levels: n × (1 + n × 2) is 1000 at most up to 22.
    let found = suggestions(
        "query A($n: Int = 50) { orders(first: $n) { edges { node { orderItems(last: $n) { edges { node { orderId } } } } } } }",
    );
    let edit = json!({ "path": ["orders"], "argument": "first", "from": 50, "to": 22, "variable": "n" });
    assert_eq!(found, [json!({ "shrinks": "outermost", "estimatedCost": 990, "edits": [edit] })]);

    // A fragment that two fields spread: 2 × 10 × (1 + n × 2).
    let found = suggestions(
        "{ a: orders(first: 10) { ...F } b: orders(first: 10) { ...F } }
         fragment F on OrderConnection { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } }",
    );
    let nested = &found.iter().find(|suggestion| suggestion["shrinks"] == "nested").unwrap();
    assert_eq!((nested["edits"].as_array().unwrap().len(), &nested["edits"][0]["to"]), (1, &json!(24)));
    assert_eq!(nested["edits"][0]["path"], json!(["a", "edges", "node", "orderItems"]));

    // A field that is selected twice, once of them skipped: both page sizes must be equal.
    let found = suggestions(
        "query A($no: Boolean = false) {
           orders(first: 100) @include(if: $no) { edges { node { orderName } } }
           orders(first: 100) { edges { node { orderId statusId orderDate grandTotal orderItemCount orderTypeId } } }
         }",
    );
    let locations = json!([{ "line": 2, "column": 12 }, { "line": 3, "column": 12 }]);
    assert_eq!((found.len(), &found[0]["edits"][0]["locations"]), (1, &locations));
}

#[test]
fn totals_that_cost_too_much_get_fewer_rows() {
    // Each costs 1 + 1 and 1 for every ten rows, of lines and of their orders.
    let found = suggestions(
        "query A($rows: Int = 4000) {
           a: itemTotals(first: 9, rows: $rows, groupBy: [SALES_CHANNEL_ENUM_ID]) { complete }
           b: itemTotals(first: 9, rows: 2000, groupBy: [SALES_CHANNEL_ENUM_ID]) { complete }
         }",
    );
    let edit = |path: &str, from: u64, to: u64| json!({ "path": [path], "argument": "rows", "from": from, "to": to });
    let (mut of_variable, mut of_text) = (edit("a", 4000, 3320), edit("b", 2000, 1660));
    of_variable["variable"] = json!("rows");
    of_text["locations"] = json!([{ "line": 3, "column": 12 }]);
    let suggestion = json!({ "shrinks": "outermost", "estimatedCost": 1000, "edits": [of_variable, of_text] });
    assert_eq!(found, [suggestion]);

    // The default of one is not written, and stays.
    let found = suggestions(
        "{
           a: itemTotals(first: 9, groupBy: [SALES_CHANNEL_ENUM_ID]) { complete }
           b: itemTotals(first: 9, rows: 4000, groupBy: [SALES_CHANNEL_ENUM_ID]) { complete }
         }",
    );
    assert_eq!(
        (found.len(), &found[0]["edits"][0]["path"], &found[0]["edits"][0]["to"]),
        (1, &json!(["b"]), &json!(3980))
    );
}

#[test]
fn reports_that_no_page_size_makes_a_query_cheap_enough() {
    let catalog = Catalog::built_in().unwrap();
    let mut query = String::from("{");
    for number in 0..350 {
        write!(query, " a{number}: orders(first: 1) {{ edges {{ node {{ orderId statusId }} }} }}").unwrap();
    }
    query.push('}');
    let request = Request { query, ..Request::default() };
    let errors = compile(&catalog, &request, &Limits::default()).unwrap_err();
    let error = errors.first();
    assert!(error.message.contains("select fewer collections or fields"), "{}", error.message);
    assert_eq!((&error.extensions["minimumCost"], &error.extensions["suggestions"]), (&json!(1050), &json!([])));
    assert_eq!(error.extensions["branches"].as_array().unwrap().len(), 5);
}
