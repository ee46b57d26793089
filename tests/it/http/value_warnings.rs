//! Warnings about values in search strings that their keys do not know.

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::database::loaded_database;
use crate::support::http::{GRAPHQL_JSON, JSON};
use crate::support::server::{Server, server_with_demo_user};
use crate::support::users::create_users;

/// A query of one order with that search string.
fn search(search: &str) -> String {
    format!("{{ held: orders(first: 1, query: {search:?}) {{ edges {{ node {{ statusId }} }} }} }}")
}

/// A server on the demo orders, and a token.
async fn server() -> (Server, impl Drop, String) {
    let database = loaded_database().await;
    create_users(&mut database.connect().await, &[("demo", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &[]);
    let token = server.token("demo");
    (server, database, token)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_value_is_answered_with_a_warning_that_names_the_nearest() {
    let (server, _database, token) = server().await;
    for accept in [JSON, GRAPHQL_JSON, JSON, GRAPHQL_JSON] {
        let response = server.query_as(accept, &token, &search("statusId:ORDER_APROVED"));
        let body = response.json();
        assert_eq!((response.status, body.get("errors")), (200, None), "{body}");
        assert_eq!(body["data"], json!({ "held": { "edges": [] } }));
        assert_eq!(
            body["extensions"]["warnings"],
            json!([{
                "message": "`ORDER_APROVED` is no known value of `statusId`; did you mean `ORDER_APPROVED`?",
                "path": ["held"], "key": "statusId", "value": "ORDER_APROVED", "nearest": "ORDER_APPROVED",
            }])
        );
        assert!(body["extensions"]["cost"]["requestedQueryCost"].is_u64(), "{body}");
    }
    let far = server.query(&token, &search("statusId:SOMETHING_ELSE,ORDER_APPROVED")).json();
    assert_eq!(far["data"], json!({ "held": { "edges": [{ "node": { "statusId": "ORDER_APPROVED" } }] } }));
    assert_eq!(
        far["extensions"]["warnings"],
        json!([{
            "message": "`SOMETHING_ELSE` is no known value of `statusId`",
            "path": ["held"], "key": "statusId", "value": "SOMETHING_ELSE",
        }])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn known_values_and_keys_without_a_vocabulary_have_no_warnings() {
    let (server, _database, token) = server().await;
    for term in
        ["", "statusId:ORDER_APPROVED", "statusId:ORDER_HELD,ORDER_APPROVED", "orderId:NONE", "orderDate:>2026-05-01"]
    {
        let body = server.query(&token, &search(term)).json();
        assert_eq!((body.get("errors"), body["extensions"].get("warnings")), (None, None), "{term}: {body}");
    }
    // Errors are reported before the values are looked up.
    let rejected = server.query(&token, &search("statusId:NOPE colour:red")).json();
    assert_eq!(rejected.get("extensions"), None, "{rejected}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_added_later_is_soon_known() {
    let (server, database, token) =
        server_with_demo_user(Profile { bucket_size: Some(1_000_000_000), ..Profile::DEFAULT }, &[]).await;
    let client = database.connect().await;
    let warnings = || server.query(&token, &search("statusId:ORDER_LOST")).json()["extensions"]["warnings"].clone();
    assert_eq!(warnings()[0]["value"], "ORDER_LOST");
    client.batch_execute("INSERT INTO status_item (status_id) VALUES ('ORDER_LOST')").await.unwrap();
    while warnings() != Value::Null {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_table_is_no_vocabulary() {
    let database = loaded_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
    let many = "INSERT INTO status_item (status_id) SELECT 'S' || n FROM generate_series(1, 1000) AS n";
    client.batch_execute(many).await.unwrap();
    let server = Server::start(&database, &[]);
    let token = server.token("demo");
    let body = server.query(&token, &search("statusId:ORDER_APROVED")).json();
    assert_eq!(body["extensions"].get("warnings"), None, "{body}");
    let log = server.stop();
    assert!(log.contains("too many rows") && log.contains("\"relation\":\"status_item\""), "{log}");
}
