//! What is told about costs: fields that add up, suggestions that fit, the same numbers from the library, `orderql
//! explain` and the server, and refusals that let a program mend its query.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::process::Command;

use orderql::access::accounts::{User, ensure_user};
use orderql::access::password::Passwords;
use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::explanation::{Explanation, explain};
use orderql::cost::breakdown::CostNode;
use orderql::error::code::ErrorCode;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::{Value, json};

use crate::support::database::{Database, migrated_database};
use crate::support::http::Response;
use crate::support::random::Random;
use crate::support::random_query::generator::random_query;
use crate::support::random_query::query::{Item, Selected};
use crate::support::server::Server;

/// A query made up from the catalog, with page sizes up to 90: some in one variable, some in a fragment that is spread
/// twice, some in a field that is written twice.
fn query(catalog: &Catalog, seed: u64) -> Request {
    let mut random = Random(seed);
    let mut query = random_query(catalog, seed);
    query.change_values(&mut random);
    let root = query.items.iter().position(|item| matches!(item, Item::Field(root) if !root.items.is_empty()));
    if let Some(root) = root {
        if random.chance(30) {
            // A variable has one place in what is written; both are to say the same.
            let Item::Field(field) = &mut query.items[root] else { unreachable!() };
            without_variables(field);
            query.items.push(query.items[root].clone());
        }
        if random.chance(30) {
            let mut again = query.items[root].clone();
            let Item::Field(field) = &mut again else { unreachable!() };
            field.alias = Some("again".to_owned());
            query.items.push(again);
        }
    }
    let mut request = query.request();
    let sizes: Vec<_> =
        request.variables.iter().filter(|(_, value)| value.is_u64()).map(|(name, _)| name.clone()).collect();
    if sizes.len() > 1 && random.chance(50) {
        // The second is said by the first.
        request.query = request.query.replacen(&format!("${}: Int", sizes[1]), "", 1);
        for behind in [",", ")"] {
            let [from, to] = [&sizes[1], &sizes[0]].map(|name| format!("${name}{behind}"));
            request.query = request.query.replace(&from, &to);
        }
        request.variables.remove(&sizes[1]);
    }
    request
}

/// Writes every argument out, but for those in fragments.
fn without_variables(field: &mut Selected) {
    fn walk(items: &mut [Item]) {
        for item in items {
            match item {
                Item::Field(field) => without_variables(field),
                Item::Inline { items, .. } => walk(items),
                Item::Spread { .. } => {}
            }
        }
    }
    field.arguments.iter_mut().for_each(|argument| argument.variable = None);
    walk(&mut field.items);
}

/// An explanation's first code.
fn code(explanation: &Explanation) -> Option<ErrorCode> {
    explanation.errors.as_ref().map(|refusals| refusals.first().code)
}

/// The facts of an explanation's first refusal.
fn facts(explanation: &Explanation) -> Value {
    Value::Object(explanation.errors.as_ref().unwrap().first().extensions.clone())
}

/// What is selected, whatever its page sizes are.
fn selection(lines: &[CostNode]) -> String {
    let line = |line: &CostNode| format!("{:?} {} {} {{{}}}", line.via, line.key, line.field, selection(&line.parts));
    lines.iter().map(line).collect()
}

/// A request with a suggestion's edits made, as a client would make them. `more` is added to every new page size.
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
    // From behind, so that places stay where they are.
    texts.sort();
    for (line, column, old, new) in texts.into_iter().rev() {
        let line = &mut lines[usize::try_from(line).unwrap() - 1];
        let field = line.char_indices().nth(usize::try_from(column).unwrap() - 1).unwrap().0;
        let place = field + line[field..].find(&old).unwrap_or_else(|| panic!("no `{old}` in {line}"));
        let end = line[field..].find(')').unwrap() + field;
        assert!(place < end, "`{old}` is of another field: {line}");
        line.replace_range(place..place + old.len(), &new);
    }
    request.query = lines.join("\n");
    request
}

#[test]
fn every_suggestion_gives_the_same_selection_at_the_price_that_it_says() {
    let catalog = Catalog::built_in().unwrap();
    let limits = Limits { max_depth: 60, ..Limits::default() };
    let (mut over_budget, mut applied, mut hopeless) = (0, 0, 0);
    let mut shrunk = HashSet::new();
    for seed in 0.. {
        let request = query(&catalog, seed);
        let explanation =
            explain(&catalog, &request, &limits).unwrap_or_else(|error| panic!("{seed}: {error}\n{}", request.query));
        let cost = explanation.estimate.cost();
        assert_eq!(code(&explanation), (cost > limits.max_cost).then_some(ErrorCode::CostExceeded), "{seed}");
        if cost <= limits.max_cost {
            continue;
        }
        over_budget += 1;
        let facts = facts(&explanation);
        assert_eq!((facts["estimatedCost"].as_u64(), facts["maxCost"].as_u64()), (Some(cost), Some(1000)));
        let suggestions = facts["suggestions"].as_array().unwrap();
        let fits = facts["minimumCost"].as_u64().unwrap() <= limits.max_cost;
        assert_eq!(!suggestions.is_empty(), fits, "{seed}: {facts}\n{}", request.query);
        hopeless += u32::from(!fits);
        for suggestion in suggestions {
            let mended = edited(&request, suggestion, |_| 0);
            let mended = explain(&catalog, &mended, &limits)
                .unwrap_or_else(|error| panic!("{seed}: {error}\n{suggestion}\n{}", request.query));
            assert_eq!(mended.errors, None, "{seed}: {suggestion}\n{}", request.query);
            assert_eq!(suggestion["estimatedCost"], json!(mended.estimate.cost()), "{seed}\n{}", request.query);
            assert_eq!(selection(&mended.cost), selection(&explanation.cost), "{seed}");
            applied += 1;
            shrunk.insert(suggestion["shrinks"].as_str().unwrap().to_owned());
        }
        if over_budget == 1000 {
            break;
        }
    }
    assert!(applied > 1500 && hopeless < 100 && shrunk.len() == 3, "{applied} {hopeless} {shrunk:?}");
}

#[test]
fn no_page_of_a_suggestion_could_be_larger() {
    let catalog = Catalog::built_in().unwrap();
    let limits = Limits { max_depth: 60, ..Limits::default() };
    let mut tried = 0;
    for seed in 0..600 {
        let request = query(&catalog, seed);
        let explanation = explain(&catalog, &request, &limits).unwrap();
        if code(&explanation).is_none() || explanation.plan.steps().len() > 24 {
            continue;
        }
        for suggestion in facts(&explanation)["suggestions"].as_array().unwrap() {
            for larger in 0..suggestion["edits"].as_array().unwrap().len() {
                let request = edited(&request, suggestion, |number| u64::from(number == larger));
                let refused = compile(&catalog, &request, &limits).unwrap_err();
                assert_eq!(refused.first().code, ErrorCode::CostExceeded, "{seed}: {suggestion}");
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn the_costs_of_fields_add_up() {
    let catalog = Catalog::built_in().unwrap();
    let mut listed = 0;
    for seed in 0..2000 {
        let explanation = explain(&catalog, &query(&catalog, seed), &Limits::default()).unwrap();
        let list = explanation.fields();
        let sum: u64 = list.iter().map(|field| field.requested_total_cost).sum();
        assert_eq!(sum, explanation.estimate.cost(), "{seed}");
        let roots = list.iter().filter(|field| field.path.len() == 1);
        assert_eq!(roots.map(|root| root.requested_subtree_cost).sum::<u64>(), sum, "{seed}");
        let mut seen = HashSet::new();
        for (place, field) in list.iter().enumerate() {
            assert!(seen.insert(&field.path), "{seed}: {:?} twice", field.path);
            assert_eq!(field.requested_total_cost, field.defined_cost * field.times + field.search_penalty);
            let within = list[place..].iter().take_while(|other| other.path.starts_with(&field.path));
            let subtree: u64 = within.map(|other| other.requested_total_cost).sum();
            assert_eq!(field.requested_subtree_cost, subtree, "{seed}: {:?}", field.path);
        }
        listed += list.len();
    }
    assert!(listed > 20_000, "{listed}");
}

/// What the specification's worked case is refused with.
fn worked_case() -> Value {
    let catalog = Catalog::built_in().unwrap();
    let query = include_str!("../../plans/worked_case_1366.graphql").to_owned();
    let variables = serde_json::from_str(include_str!("../../plans/worked_case_1366.variables.json")).unwrap();
    let request = Request { query, operation_name: None, variables };
    facts(&explain(&catalog, &request, &Limits::default()).unwrap())
}

#[test]
fn the_worked_case_is_told_what_is_heavy_and_what_would_fit() {
    let facts = worked_case();
    assert_eq!(facts["minimumCost"], 16 + 1 + 14 + 6);
    let groups = json!(["order", "shipGroups"]);
    let items = json!(["order", "shipGroups", "edges", "node", "orderItems"]);
    assert_eq!(
        facts["branches"],
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
        facts["suggestions"],
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

/// The suggestions for a query of several alike pages.
fn suggestions(query: &str) -> Vec<Value> {
    let catalog = Catalog::built_in().unwrap();
    let request = Request { query: query.to_owned(), ..Request::default() };
    let explanation = explain(&catalog, &request, &Limits::default()).unwrap();
    assert_eq!(code(&explanation), Some(ErrorCode::CostExceeded), "{query}");
    facts(&explanation)["suggestions"].as_array().unwrap().clone()
}

#[test]
fn page_sizes_that_are_written_once_move_together() {
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

    // A field that is written twice, once of them left out: both places must say the same.
    let found = suggestions(
        "query A($no: Boolean = false) {
           orders(first: 100) @include(if: $no) { edges { node { orderName } } }
           orders(first: 100) { edges { node { orderId statusId orderDate grandTotal orderItemCount orderTypeId } } }
         }",
    );
    let places = json!([{ "line": 2, "column": 12 }, { "line": 3, "column": 12 }]);
    assert_eq!((found.len(), &found[0]["edits"][0]["locations"]), (1, &places));
}

#[test]
fn where_no_page_size_helps_a_query_is_told_so() {
    let catalog = Catalog::built_in().unwrap();
    let mut query = String::from("{");
    for number in 0..350 {
        write!(query, " a{number}: orders(first: 1) {{ edges {{ node {{ orderId statusId }} }} }}").unwrap();
    }
    query.push('}');
    let request = Request { query, ..Request::default() };
    let refusals = compile(&catalog, &request, &Limits::default()).unwrap_err();
    let refusal = refusals.first();
    assert!(refusal.message.contains("select fewer collections or fields"), "{}", refusal.message);
    assert_eq!((&refusal.extensions["minimumCost"], &refusal.extensions["suggestions"]), (&json!(1050), &json!([])));
    assert_eq!(refusal.extensions["branches"].as_array().unwrap().len(), 5);
}

/// A server on a fresh database, and a token of `demo`, whose bucket is large.
async fn server() -> (Server, Database, String) {
    let database = migrated_database().await;
    let profile = Profile { bucket_size: Some(1_000_000), ..Profile::default() };
    let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
    ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
    let server = Server::start(&database, &["--restore-rate", "0"]);
    let token = server.token("demo");
    (server, database, token)
}

fn ask(server: &Server, token: &str, request: &Request, headers: &[&str]) -> Response {
    let body = json!({ "query": request.query, "variables": request.variables }).to_string();
    let headers = [&["Connection: close"], headers].concat().join("\r\n");
    let head = format!(
        "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         {headers}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut answers = server.exchange(head + &body);
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.remove(0)
}

const VALIDATE: &str = "GraphQL-Cost: validate";
const FIELDS: &str = "X-GraphQL-Cost-Include-Fields: true";

/// What `orderql explain --json` prints.
fn printed(request: &Request) -> Value {
    let mut program = Command::new(env!("CARGO_BIN_EXE_orderql"));
    program.args(["explain", "--json", "--variables", &Value::Object(request.variables.clone()).to_string()]);
    serde_json::from_slice(&program.arg(&request.query).output().unwrap().stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn library_program_and_server_tell_the_same_numbers() {
    let catalog = Catalog::built_in().unwrap();
    let (server, _database, token) = server().await;
    let mut codes = HashSet::new();
    let mut debited = 0;
    let deep = Request { query: deep(), ..Request::default() };
    for (seed, request) in [deep].into_iter().chain((0..40).map(|seed| query(&catalog, seed))).enumerate() {
        let explanation = explain(&catalog, &request, &Limits::default()).unwrap();
        let answer = ask(&server, &token, &request, &[VALIDATE]);
        let body = answer.json();
        let cost = &body["extensions"]["cost"];
        assert_eq!((answer.status, &body["data"]), (200, &Value::Null), "{seed}: {body}");
        assert_eq!(cost["requestedQueryCost"], explanation.estimate.cost(), "{seed}");
        assert_eq!((&cost["depth"], &cost["maxDepth"]), (&json!(explanation.depth), &json!(6)), "{seed}");
        assert_eq!((&cost["statements"], &cost["maxCost"]), (&json!(explanation.plan.steps().len()), &json!(1000)));
        assert_eq!(cost["fields"], json!(explanation.fields()), "{seed}");
        assert_eq!(cost["admitted"], explanation.errors.is_none(), "{seed}");

        let printed = printed(&request);
        assert_eq!(printed["cost"], cost["requestedQueryCost"], "{seed}");
        assert_eq!((&printed["depth"], &printed["admitted"]), (&cost["depth"], &cost["admitted"]), "{seed}");
        assert_eq!(json!(printed["statements"].as_array().unwrap().len()), cost["statements"], "{seed}");
        let roots = printed["breakdown"].as_array().unwrap().iter().map(|line| line["total"].as_u64().unwrap());
        assert_eq!(json!(roots.sum::<u64>()), cost["requestedQueryCost"], "{seed}");

        let run = ask(&server, &token, &request, &[FIELDS]).json();
        codes.insert(code(&explanation));
        if explanation.errors.is_some() {
            assert_eq!(body["errors"], run["errors"], "{seed}");
            let extensions = |errors: &Value| errors[0]["extensions"].clone();
            assert_eq!(extensions(&body["errors"]), extensions(&printed["errors"]), "{seed}");
        } else {
            assert_eq!((body.get("errors"), run.get("errors")), (None, None), "{seed}: {run}");
            assert_eq!(run["extensions"]["cost"]["fields"], cost["fields"], "{seed}");
            assert_eq!(run["extensions"]["cost"]["requestedQueryCost"], cost["requestedQueryCost"], "{seed}");
            debited += explanation.estimate.cost();
            let available = &run["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"];
            assert_eq!(*available, 1_000_000 - debited, "{seed}");
        }
    }
    assert_eq!(codes, HashSet::from([None, Some(ErrorCode::CostExceeded), Some(ErrorCode::DepthExceeded)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_price_is_told_without_running_or_paying() {
    let database = migrated_database().await;
    let profile = Profile { bucket_size: Some(3), ..Profile::default() };
    let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
    ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
    let server = Server::start(&database, &["--restore-rate", "0"]);
    let token = server.token("demo");
    let order = |selection: &str| Request {
        query: format!("{{ order(orderId: \"NONE\") {{ {selection} }} }}"),
        ..Request::default()
    };
    for (request, passed) in [(order("orderId statusId"), true), (order("orderId statusId orderDate"), false)] {
        for accept in ["Accept: application/json", "Accept: application/graphql-response+json"] {
            let answer = ask(&server, &token, &request, &[VALIDATE, accept]);
            let body = answer.json();
            let cost = &body["extensions"]["cost"];
            assert_eq!((answer.status, &body["data"], body.get("errors")), (200, &Value::Null, None));
            let bucket = json!({ "passed": passed, "retryAfterMs": if passed { json!(0) } else { Value::Null } });
            let gates = json!({ "depth": { "passed": true }, "cost": { "passed": true }, "bucket": bucket });
            assert_eq!((&cost["admitted"], &cost["gates"]), (&json!(true), &gates));
            let status = json!({ "maximumAvailable": 3, "currentlyAvailable": 3, "restoreRate": 0 });
            assert_eq!(cost["throttleStatus"], status);
            assert_eq!(cost.get("actualQueryCost"), None);
        }
    }
    // What stands before the price is refused as ever.
    let refused = ask(&server, &token, &order("nothing"), &[VALIDATE, "Accept: application/graphql-response+json"]);
    assert_eq!((refused.status, refused.code().as_str()), (400, "GRAPHQL_VALIDATION_FAILED"));
    assert_eq!(ask(&server, "none", &order("orderId"), &[VALIDATE]).status, 401);
    let misspelt = ask(&server, &token, &order("orderId"), &["GraphQL-Cost: validte"]);
    assert_eq!((misspelt.status, misspelt.code().as_str()), (400, "BAD_USER_INPUT"));
    // Without the header, or with another value of it, there is no list.
    for headers in [&[][..], &["X-GraphQL-Cost-Include-Fields: false"]] {
        let answer = ask(&server, &token, &Request { query: "{ __typename }".into(), ..Request::default() }, headers);
        assert_eq!(answer.json()["extensions"]["cost"].get("fields"), None);
    }
    let throttled = ask(&server, &token, &order("orderId statusId orderDate"), &[]);
    let extensions = &throttled.json()["errors"][0]["extensions"];
    let expected = json!({
        "code": "THROTTLED", "requestedQueryCost": 4, "currentlyAvailable": 3, "retryAfterMs": null,
    });
    assert_eq!(*extensions, expected);
}

/// A query, where its first error stands, and what that tells.
type Refused = (String, (u32, u32), Value);

fn search(search: &str) -> String {
    format!("{{\n  orders(first: 1, query: {search:?}) {{ pageInfo {{ endCursor }} }} }}")
}

fn refused_searches() -> Vec<Refused> {
    vec![
        (
            search("orderId:1 orderDat:>2026-05-01"),
            (2, 3),
            json!({ "code": "FIELD_NOT_FILTERABLE", "field": "orders", "key": "orderDat", "offset": 10, "nearest": "orderDate" }),
        ),
        (
            search("statusId:>A"),
            (2, 3),
            json!({
                "code": "OPERATOR_NOT_ALLOWED", "field": "orders", "key": "statusId", "offset": 0, "comparator": ">",
                "allowed": ["equals", "in"],
            }),
        ),
        (
            search("orderId:1 statusid"),
            (2, 3),
            json!({
                "code": "MALFORMED_QUERY", "field": "orders", "term": "statusid", "offset": 10, "expected": "key:value",
                "nearest": "statusId",
            }),
        ),
        (
            search("status_Id:A"),
            (2, 3),
            json!({ "code": "FIELD_NOT_FILTERABLE", "field": "orders", "key": "status_Id", "nearest": "statusId" }),
        ),
        (
            search("-orderdat:A"),
            (2, 3),
            json!({ "code": "MALFORMED_QUERY", "field": "orders", "expected": "key:value", "nearest": "orderDate" }),
        ),
        (
            search("statusId=ORDER_HELD"),
            (2, 3),
            json!({ "code": "MALFORMED_QUERY", "field": "orders", "expected": "key:value", "nearest": "statusId" }),
        ),
        (
            search("orderDate:>yesterday"),
            (2, 3),
            json!({ "code": "MALFORMED_QUERY", "field": "orders", "term": "orderDate:>yesterday", "offset": 0 }),
        ),
    ]
}

/// A query of seven levels.
fn deep() -> String {
    let items = "orderItems(first: 1) { edges { node { order { ";
    format!("{{ order(orderId: \"1\") {{\n{items}{items}{items}orderId{}", " }".repeat(14))
}

fn refused_documents() -> Vec<Refused> {
    vec![
        (
            "{ orders { pageInfo { endCursor } } }".to_owned(),
            (1, 3),
            json!({ "code": "FIRST_REQUIRED", "field": "orders", "maxFirst": 100 }),
        ),
        (
            "{ orders(first: 101) { pageInfo { endCursor } } }".to_owned(),
            (1, 3),
            json!({ "code": "FIRST_TOO_LARGE", "field": "orders", "requested": 101, "maxFirst": 100 }),
        ),
        (
            deep(),
            (2, 131),
            json!({
                "code": "DEPTH_EXCEEDED", "depth": 7, "maxDepth": 6,
                "paths": [["order", "orderItems", "edges", "node", "order", "orderItems", "edges", "node", "order",
                    "orderItems", "edges", "node", "order"]],
            }),
        ),
        (
            "{ order(orderId: \"1\", externalId: \"2\") { orderId } }".to_owned(),
            (1, 3),
            json!({ "code": "BAD_USER_INPUT", "field": "order", "allowed": ["orderId", "externalId"], "given": 2 }),
        ),
        (
            "{ orders(first: 1, after: \"x\") { pageInfo { endCursor } } }".to_owned(),
            (1, 3),
            json!({ "code": "BAD_USER_INPUT", "field": "orders", "argument": "after" }),
        ),
        (
            "{ order(orderId: \"1\") { ordername } }".to_owned(),
            (1, 25),
            json!({ "code": "GRAPHQL_VALIDATION_FAILED", "type": "Order", "field": "ordername", "suggestions": ["orderName"] }),
        ),
        (
            "{ orders(first: 1, sortKey: ORDER_DAT) { pageInfo { endCursor } } }".to_owned(),
            (1, 29),
            json!({ "code": "GRAPHQL_VALIDATION_FAILED", "argument": "sortKey", "suggestions": ["ORDER_DATE"] }),
        ),
        (
            "{ orders(frist: 1) { pageInfo { endCursor } } }".to_owned(),
            (1, 10),
            json!({ "code": "GRAPHQL_VALIDATION_FAILED", "argument": "frist", "suggestions": ["first"] }),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_tell_where_what_is_allowed_and_what_was_meant() {
    let (server, _database, token) = server().await;
    for (query, place, expected) in refused_searches().into_iter().chain(refused_documents()) {
        let answer = ask(&server, &token, &Request { query: query.clone(), ..Request::default() }, &[]).json();
        let error = &answer["errors"][0];
        let (line, column) = place;
        assert_eq!(error["locations"][0], json!({ "line": line, "column": column }), "{query}: {answer}");
        for (name, fact) in expected.as_object().unwrap() {
            assert_eq!(error["extensions"][name], *fact, "{query}: {answer}");
        }
    }
    let keys = ["orderId", "externalId", "orderName", "statusId", "orderDate", "productStoreId", "orderTypeId"];
    for term in ["colour:red", "red"] {
        let request = Request { query: search(term), ..Request::default() };
        let allowed = &ask(&server, &token, &request, &[]).json()["errors"][0]["extensions"]["allowed"];
        for key in keys {
            assert!(allowed.as_array().unwrap().contains(&json!(key)), "{term}: {allowed}");
        }
    }
}
