//! Reported costs: the sum of the fields, and the same numbers from the library, `orderql explain` and the server.

use std::collections::HashSet;

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use orderql::compile::explanation::explain;
use orderql::error::code::ErrorCode;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::{Value, json};

use crate::cost::random_requests::{first_code, random_request};
use crate::support::command::{orderql, run};
use crate::support::http::{Response, bearer};
use crate::support::server::{Server, server_with_demo_user};

const VALIDATE: &str = "GraphQL-Cost: validate";
const FIELDS: &str = "X-GraphQL-Cost-Include-Fields: true";

/// Sends a request with these headers.
pub fn send(server: &Server, token: &str, request: &Request, headers: &[&str]) -> Response {
    let body = json!({ "query": request.query, "variables": request.variables }).to_string();
    let authorization = bearer(token);
    let headers = [&[authorization.as_str(), "Content-Type: application/json"], headers].concat();
    server.request("POST /rest/s1/graphql", &headers, body)
}

/// The output of `orderql explain --json`.
fn explain_json(request: &Request) -> Value {
    let variables = Value::Object(request.variables.clone()).to_string();
    let result = run(orderql().args(["explain", "--json", "--variables", &variables, &request.query]), "");
    serde_json::from_str(&result.stdout).unwrap()
}

/// A query of depth 7.
pub fn too_deep_query() -> String {
    let items = "orderItems(first: 1) { edges { node { order { ";
    format!("{{ order(orderId: \"1\") {{\n{items}{items}{items}orderId{}", " }".repeat(14))
}

#[test]
fn the_costs_of_the_fields_add_up() {
    let catalog = Catalog::built_in().unwrap();
    let mut listed = 0;
    for seed in 0..2000 {
        let explanation = explain(&catalog, &random_request(&catalog, seed), &Limits::default()).unwrap();
        let list = explanation.fields();
        let sum: u64 = list.iter().map(|field| field.requested_total_cost).sum();
        assert_eq!(sum, explanation.estimate.cost(), "{seed}");
        let roots = list.iter().filter(|field| field.path.len() == 1);
        assert_eq!(roots.map(|root| root.requested_subtree_cost).sum::<u64>(), sum, "{seed}");
        let mut paths = HashSet::new();
        for (index, field) in list.iter().enumerate() {
            assert!(paths.insert(&field.path), "{seed}: {:?} is listed twice", field.path);
            assert_eq!(field.requested_total_cost, field.defined_cost * field.times + field.search_penalty);
            let within = list[index..].iter().take_while(|other| other.path.starts_with(&field.path));
            let subtree: u64 = within.map(|other| other.requested_total_cost).sum();
            assert_eq!(field.requested_subtree_cost, subtree, "{seed}: {:?}", field.path);
        }
        listed += list.len();
    }
    assert!(listed > 15_000, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_the_command_and_the_server_report_the_same_costs() {
    let catalog = Catalog::built_in().unwrap();
    let profile = Profile { bucket_size: Some(1_000_000), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    let mut codes = HashSet::new();
    let mut debited = 0;
    let expensive =
        "{ orders(first: 100) { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } } }";
    let rejected = [too_deep_query(), expensive.to_owned()].map(|query| Request { query, ..Request::default() });
    for (seed, request) in rejected.into_iter().chain((0..40).map(|seed| random_request(&catalog, seed))).enumerate() {
        let explanation = explain(&catalog, &request, &Limits::default()).unwrap();
        let response = send(&server, &token, &request, &[VALIDATE]);
        let body = response.json();
        let cost = &body["extensions"]["cost"];
        assert_eq!((response.status, &body["data"]), (200, &Value::Null), "{seed}: {body}");
        assert_eq!(cost["requestedQueryCost"], explanation.estimate.cost(), "{seed}");
        assert_eq!((&cost["depth"], &cost["maxDepth"]), (&json!(explanation.depth), &json!(6)), "{seed}");
        assert_eq!((&cost["branches"], &cost["maxCost"]), (&json!(explanation.plan.steps().len()), &json!(1000)));
        assert_eq!(cost["fields"], json!(explanation.fields()), "{seed}");
        assert_eq!(cost["admitted"], explanation.errors.is_none(), "{seed}");

        let printed = explain_json(&request);
        assert_eq!(printed["cost"], cost["requestedQueryCost"], "{seed}");
        assert_eq!((&printed["depth"], &printed["admitted"]), (&cost["depth"], &cost["admitted"]), "{seed}");
        let most = explanation.estimate.cost().saturating_mul(1024).max(4 << 20);
        assert_eq!(
            (&printed["responseBytes"], &cost["maxResponseBytes"]),
            (&cost["responseBytes"], &json!(most)),
            "{seed}"
        );
        assert_eq!(json!(printed["plan"]["branches"].as_array().unwrap().len()), cost["branches"], "{seed}");
        let roots = printed["breakdown"].as_array().unwrap().iter().map(|line| line["total"].as_u64().unwrap());
        assert_eq!(json!(roots.sum::<u64>()), cost["requestedQueryCost"], "{seed}");

        let run = send(&server, &token, &request, &[FIELDS]).json();
        codes.insert(first_code(&explanation));
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
async fn a_query_can_be_validated_without_execution_or_debit() {
    let profile = Profile { bucket_size: Some(3), ..Profile::default() };
    let (server, _database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    let order = |selection: &str| Request {
        query: format!("{{ order(orderId: \"NONE\") {{ {selection} }} }}"),
        ..Request::default()
    };
    for spent in [0, 3] {
        let passed = spent == 0;
        let request = order("orderId statusId");
        for accept in ["Accept: application/json", "Accept: application/graphql-response+json"] {
            let response = send(&server, &token, &request, &[VALIDATE, accept]);
            let body = response.json();
            let cost = &body["extensions"]["cost"];
            assert_eq!((response.status, &body["data"], body.get("errors")), (200, &Value::Null, None));
            let bucket = json!({ "passed": passed, "retryAfterMs": if passed { json!(0) } else { Value::Null } });
            let passed = json!({ "passed": true });
            let gates = json!({ "depth": passed, "cost": passed, "responseSize": passed, "bucket": bucket });
            assert_eq!((&cost["admitted"], &cost["gates"]), (&json!(true), &gates));
            let status = json!({ "maximumAvailable": 3, "currentlyAvailable": 3 - spent, "restoreRate": 0 });
            assert_eq!(cost["throttleStatus"], status);
            assert_eq!(cost.get("actualQueryCost"), None);
        }
        if passed {
            assert_eq!(send(&server, &token, &request, &[]).available(), 0);
        }
    }
    // The bucket can never hold what this query costs, so the cost gate rejects it.
    let body = send(&server, &token, &order("orderId statusId orderDate"), &[VALIDATE]).json();
    let (cost, extensions) = (&body["extensions"]["cost"], &body["errors"][0]["extensions"]);
    assert_eq!((&cost["admitted"], &cost["maxCost"]), (&json!(false), &json!(3)), "{body}");
    assert_eq!(cost["gates"]["cost"], json!({ "passed": false }));
    assert_eq!((&extensions["code"], &extensions["bucketSize"]), (&json!("COST_EXCEEDED"), &json!(3)), "{body}");
    // Errors before the cost check are reported as without the header.
    let rejected = send(&server, &token, &order("nothing"), &[VALIDATE, "Accept: application/graphql-response+json"]);
    assert_eq!((rejected.status, rejected.code().as_str()), (400, "GRAPHQL_VALIDATION_FAILED"));
    assert_eq!(send(&server, "none", &order("orderId"), &[VALIDATE]).status, 401);
    let misspelt = send(&server, &token, &order("orderId"), &["GraphQL-Cost: validte"]);
    assert_eq!((misspelt.status, misspelt.code().as_str()), (400, "BAD_USER_INPUT"));
    let several = send(&server, &token, &order("orderId"), &[VALIDATE, "GraphQL-Cost: analyze"]);
    assert_eq!((several.status, several.code().as_str()), (400, "BAD_USER_INPUT"));
    // Without the header, or with another value, the response has no list of fields.
    for headers in [&[][..], &["X-GraphQL-Cost-Include-Fields: false"]] {
        let response =
            send(&server, &token, &Request { query: "{ __typename }".into(), ..Request::default() }, headers);
        assert_eq!(response.json()["extensions"]["cost"].get("fields"), None);
    }
    let throttled = send(&server, &token, &order("orderId statusId"), &[]);
    let extensions = &throttled.json()["errors"][0]["extensions"];
    let expected = json!({
        "code": "THROTTLED", "requestedQueryCost": 3, "currentlyAvailable": 0, "retryAfterMs": null,
    });
    assert_eq!(*extensions, expected);
}
