//! Debits: executed queries are debited, rejected ones are not.

use std::sync::Arc;

use orderql::access::profile::Profile;
use orderql::database::connection::connect::connect;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::cluster::cluster;
use crate::support::http::{GRAPHQL_JSON, JSON};
use crate::support::server::server_with_demo_user;

const ORDER: &str = "query One { order(orderId: \"NONE\") { orderName statusId grandTotal } }";

#[tokio::test(flavor = "multi_thread")]
async fn debits_an_executed_query_and_reports_the_remaining_credits() {
    let profile = Profile { bucket_size: Some(10), ..Profile::default() };
    let (server, _database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    let response = server.query_as(JSON, &token, ORDER);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json; charset=utf-8")));
    let body = response.json();
    assert_eq!(body["data"], json!({"order": null}));
    assert_eq!(body["errors"], Value::Null);
    let cost = &body["extensions"]["cost"];
    assert_eq!(cost["requestedQueryCost"], 4);
    assert!(cost["actualQueryCost"].as_u64().unwrap() <= 4, "{body}");
    assert_eq!(cost["throttleStatus"], json!({"maximumAvailable": 10, "currentlyAvailable": 6, "restoreRate": 0}));

    // Rejected documents are not debited.
    let rejected = server.query_as(JSON, &token, "{ orders { edges { node { orderId } } } }");
    assert_eq!((rejected.status, rejected.code().as_str()), (200, "FIRST_REQUIRED"));
    assert_eq!(rejected.json()["data"], Value::Null);
    let rejected = server.query_as(GRAPHQL_JSON, &token, "{ order(");
    assert_eq!((rejected.status, rejected.code().as_str()), (400, "GRAPHQL_PARSE_FAILED"));
    assert_eq!(rejected.json().get("data"), None);

    let log = server.stop();
    let line = log.lines().find(|line| line.contains("\"operation\":\"One\"")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["caller"], &line["cost"], &line["status"]), (&json!("demo"), &json!(4), &json!(200)));
    assert!(!log.contains("orderName") && !log.contains("NONE") && !log.contains(&token), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_the_bucket_can_never_hold_exceeds_the_cost() {
    let profile = Profile { bucket_size: Some(3), ..Profile::default() };
    let (server, _database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    for (accept, status) in [(JSON, 200), (GRAPHQL_JSON, 400)] {
        let response = server.query_as(accept, &token, ORDER);
        assert_eq!((response.status, response.code().as_str()), (status, "COST_EXCEEDED"));
        let error = response.json()["errors"][0].clone();
        let extensions = &error["extensions"];
        assert_eq!((&extensions["estimatedCost"], &extensions["maxCost"]), (&json!(4), &json!(3)));
        assert_eq!((&extensions["bucketSize"], extensions.get("retryAfterMs")), (&json!(3), None));
        assert!(error["message"].as_str().unwrap().contains("your bucket never holds more than 3 credits"), "{error}");
    }
    // Nothing was debited, and a query of 3 credits runs.
    let cheaper = server.query_as(JSON, &token, "{ order(orderId: \"NONE\") { orderName statusId } }");
    assert_eq!((cheaper.status, cheaper.available()), (200, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn cancels_and_debits_a_query_past_its_deadline() {
    let profile = Profile { deadline_ms: Some(300), ..Profile::default() };
    let (server, database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    for (accept, status) in [(JSON, 200), (GRAPHQL_JSON, 504)] {
        let response = server.query_as(accept, &token, ORDER);
        assert_eq!((response.status, response.code().as_str()), (status, "DEADLINE_EXCEEDED"), "{response:?}");
    }
    // The table is still locked, and no statement waits for it.
    database.wait_for_lock_waits(0).await;
    lock.rollback().await.unwrap();
    assert_eq!(server.query_as(JSON, &token, ORDER).available(), 1000 - 3 * 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_fail_without_a_debit_while_the_database_is_unavailable() {
    let (server, database, token) = server_with_demo_user(Profile::default(), &["--restore-rate", "0"]).await;
    assert_eq!(server.query_as(JSON, &token, ORDER).available(), 996);
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let name = database.name();
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await.unwrap();
    admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", &[&name]).await.unwrap();
    for (accept, status) in [(JSON, 200), (GRAPHQL_JSON, 503)] {
        let response = server.query_as(accept, &token, ORDER);
        assert_eq!((response.status, response.code().as_str()), (status, "SERVICE_UNAVAILABLE"), "{response:?}");
        assert_eq!(response.header("retry-after"), Some("1"));
    }
    admin.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await.unwrap();
    while server.query_as(GRAPHQL_JSON, &token, ORDER).status == 503 {}
    assert_eq!(server.query_as(JSON, &token, ORDER).available(), 1000 - 3 * 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_for_a_connection_of_the_pool_no_longer_than_configured() {
    let (server, database, token) =
        server_with_demo_user(Profile::default(), &["--pool-size", "1", "--pool-wait", "200ms"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let server = Arc::new(server);
    let mut both = JoinSet::new();
    for _ in 0..2 {
        let (server, token) = (Arc::clone(&server), token.clone());
        both.spawn_blocking(move || server.query_as(GRAPHQL_JSON, &token, ORDER).status);
    }
    // The query without a connection fails while the other one still waits for the lock.
    assert_eq!(both.join_next().await.unwrap().unwrap(), 503);
    lock.rollback().await.unwrap();
    assert_eq!(both.join_next().await.unwrap().unwrap(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_children_of_an_absent_parent_cost_nothing() {
    let (server, database, token) = server_with_demo_user(Profile::default(), &[]).await;
    let methods = "
        INSERT INTO product_store_shipment_meth
            (product_store_ship_meth_id, product_store_id, shipment_method_type_id, party_id, role_type_id)
        SELECT 'M' || n, 'RentalStore', 'GROUND', '_NA_', 'CARRIER' FROM generate_series(1, 3) AS n";
    let fill = format!("BEGIN; SET LOCAL session_replication_role = replica; {methods}; COMMIT");
    database.connect().await.batch_execute(&fill).await.unwrap();
    let query = "{ productStore(productStoreId: \"RentalStore\") { storeName shipmentMethods(first: 2) { edges { node { shipmentMethodTypeId } } } } }";
    let body = server.query(&token, query).json();
    assert_eq!(body["data"], json!({"productStore": null}));
    let cost = &body["extensions"]["cost"];
    assert_eq!((&cost["requestedQueryCost"], &cost["actualQueryCost"]), (&json!(6), &json!(0)), "{body}");
}
