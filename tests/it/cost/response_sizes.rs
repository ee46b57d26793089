//! Queries whose responses would be large by parts that cost nothing, and rows that turn out to be large.

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::database::Database;
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

/// An order whose notes have texts of so many characters.
async fn add_notes(database: &Database, notes: &[usize]) {
    let client = database.connect().await;
    client.batch_execute("INSERT INTO order_header (order_id) VALUES ('NOTED')").await.unwrap();
    for (note, length) in notes.iter().enumerate() {
        client
            .batch_execute(&format!(
                "INSERT INTO note_data (note_id, note_info) VALUES ('N{note:03}', repeat('ä', {length}));
                 INSERT INTO order_header_note (order_id, note_id) VALUES ('NOTED', 'N{note:03}')"
            ))
            .await
            .unwrap();
    }
}

fn notes(first: usize) -> String {
    format!("{{ order(orderId: \"NOTED\") {{ notes(first: {first}) {{ edges {{ node {{ noteId noteInfo }} }} }} }} }}")
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_turn_out_to_be_too_large_end_the_statement_and_are_paid_for() {
    let profile = Profile { bucket_size: Some(10_000), ..Profile::DEFAULT };
    let (server, database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    add_notes(&database, &[500_000; 100]).await;
    let few = server.query_as(GRAPHQL_JSON, &token, &notes(3));
    assert_eq!((few.status, few.json()["errors"].clone()), (200, Value::Null));
    let before = few.available();
    let rejected = server.query_as(GRAPHQL_JSON, &token, &notes(100));
    assert_eq!((rejected.status, rejected.code().as_str()), (400, "RESPONSE_TOO_LARGE"), "{}", rejected.body);
    let error = &rejected.json()["errors"][0];
    let extensions = &error["extensions"];
    let number = |name: &str| extensions[name].as_u64().unwrap_or_else(|| panic!("{name}: {error}"));
    assert_eq!((number("maxResponseBytes"), number("fittingRows")), (4 << 20, 3));
    assert!((4 << 20..6 << 20).contains(&number("responseBytes")) && number("rowsRead") < 8, "{error}");
    assert_eq!(extensions["retryAfterMs"], Value::Null);
    // It is paid for, and what fits by what it says is answered. Its connections serve others.
    assert!(rejected.available() < before, "{} {before}", rejected.available());
    for _ in 0..20 {
        assert_eq!(server.query_as(GRAPHQL_JSON, &token, &notes(3)).status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_too_long_is_null_with_its_size() {
    let profile = Profile { bucket_size: Some(10_000), ..Profile::DEFAULT };
    let (server, database, token) = server_with_demo_user(profile, &[]).await;
    add_notes(&database, &[3, 20_000_000, 524_288, 524_289]).await;
    let response = server.query_as(GRAPHQL_JSON, &token, &notes(4));
    let body = response.json();
    let edges = body["data"]["order"]["notes"]["edges"].as_array().unwrap();
    let lengths: Vec<_> = edges.iter().map(|edge| edge["node"]["noteInfo"].as_str().map(str::len)).collect();
    assert_eq!(lengths, [Some(6), None, Some(1 << 20), None]);
    let error = |note: usize, bytes: usize| {
        json!({
            "message": format!("the database has a value of {bytes} bytes here, and one may have 1048576"),
            "path": ["order", "notes", "edges", note, "node", "noteInfo"],
            "extensions": { "code": "VALUE_TOO_LARGE" },
        })
    };
    assert_eq!(body["errors"], json!([error(1, 40_000_000), error(3, 1_048_578)]));
}
