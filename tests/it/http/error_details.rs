//! The details of errors: locations, allowed values and suggestions.

use orderql::access::profile::Profile;
use orderql::query::Request;
use serde_json::{Value, json};

use crate::cost::reported_costs::{send, too_deep_query};
use crate::support::built_in::search_keys;
use crate::support::server::server_with_demo_user;

/// A query, the location of its first error, and entries of the extensions.
type Case = (String, (u32, u32), Value);

/// A query with that search string. Its field is at 2:3.
fn search(search: &str) -> String {
    format!("{{\n  orders(first: 1, query: {search:?}) {{ pageInfo {{ endCursor }} }} }}")
}

fn invalid_searches() -> Vec<Case> {
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
            json!({ "code": "FIELD_NOT_FILTERABLE", "field": "orders", "key": "-orderdat", "nearest": "orderDate" }),
        ),
        (
            search("orderDate>=2026-05-01T10:00:00Z"),
            (2, 3),
            json!({ "code": "FIELD_NOT_FILTERABLE", "key": "orderDate>=2026-05-01T10", "nearest": "orderDate" }),
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

fn invalid_documents() -> Vec<Case> {
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
            too_deep_query(),
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
async fn errors_have_their_location_what_is_allowed_and_a_suggestion() {
    let (server, _database, token) = server_with_demo_user(Profile::DEFAULT, &[]).await;
    for (query, (line, column), expected) in invalid_searches().into_iter().chain(invalid_documents()) {
        let response = send(&server, &token, &Request { query: query.clone(), ..Request::default() }, &[]).json();
        let error = &response["errors"][0];
        assert_eq!(error["locations"][0], json!({ "line": line, "column": column }), "{query}: {response}");
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(error["extensions"][name], *value, "{query}: {response}");
        }
    }
    for term in ["colour:red", "red"] {
        let request = Request { query: search(term), ..Request::default() };
        let allowed = &send(&server, &token, &request, &[]).json()["errors"][0]["extensions"]["allowed"];
        assert_eq!(*allowed, json!(search_keys("orders")), "{term}");
    }
}
