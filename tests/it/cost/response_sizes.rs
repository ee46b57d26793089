//! Queries whose responses would be large, though what makes them large costs nothing.

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::http::{GRAPHQL_JSON, JSON, bearer};
use crate::support::server::server_with_demo_user;

/// A page of 100 orders with so many cursors of each, for 100 credits.
fn cursors(count: usize) -> String {
    let aliases: Vec<_> = (0..count).map(|alias| format!("c{alias}: cursor")).collect();
    format!("{{ orders(first: 100) {{ edges {{ {} }} }} }}", aliases.join(" "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_may_be_too_large_is_rejected_before_the_database_with_the_numbers() {
    let profile = Profile { bucket_size: Some(10_000), response_size: Some(100_000), ..Profile::DEFAULT };
    let (server, _database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    assert_eq!(server.query_as(GRAPHQL_JSON, &token, &cursors(5)).available(), 9900);
    let rejected = server.query_as(GRAPHQL_JSON, &token, &cursors(50));
    assert_eq!((rejected.status, rejected.code().as_str()), (400, "RESPONSE_TOO_LARGE"));
    let extensions = &rejected.json()["errors"][0]["extensions"];
    assert!(extensions["responseBytes"].as_u64().unwrap() > 300_000, "{extensions}");
    // 100 credits pay for 1 KiB each.
    assert_eq!(extensions["maxResponseBytes"], 102_400);
    assert_eq!(server.query_as(JSON, &token, &cursors(50)).status, 200);
    // Nothing was debited. A report says the same.
    let body = json!({ "query": cursors(50) }).to_string();
    let headers = ["Content-Type: application/json", &bearer(&token), "GraphQL-Cost: validate"];
    let report = server.request("POST /rest/s1/graphql", &headers, &body).json();
    let cost = &report["extensions"]["cost"];
    assert_eq!((&cost["admitted"], &cost["gates"]["responseSize"]), (&json!(false), &json!({ "passed": false })));
    assert_eq!((&cost["responseBytes"], &cost["maxResponseBytes"]), (&extensions["responseBytes"], &json!(102_400)));
    assert_eq!(cost["throttleStatus"]["currentlyAvailable"], 9900);
    assert_eq!(report["data"], Value::Null);
}
