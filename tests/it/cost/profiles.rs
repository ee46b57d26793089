//! A caller's profile: limits, the bucket, and simultaneous queries.

use std::sync::Arc;
use std::thread;

use orderql::access::profile::Profile;
use serde_json::{Value, json};

use crate::support::http::{GRAPHQL_JSON, Response};
use crate::support::server::server_with_demo_user;

const ORDER: &str = "{ order(orderId: \"NONE\") { orderName statusId grandTotal } }";

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_simultaneous_queries_of_a_caller() {
    let profile = Profile { concurrent_queries: Some(1), bucket_size: Some(10), ..Profile::DEFAULT };
    let (server, database, token) = server_with_demo_user(profile, &["--restore-rate", "0"]).await;
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let server = Arc::new(server);
    let first = tokio::task::spawn_blocking({
        let (server, token) = (Arc::clone(&server), token.clone());
        move || server.query_as(GRAPHQL_JSON, &token, ORDER)
    });
    database.wait_for_lock_waits(1).await;

    let rejected = server.query_as(GRAPHQL_JSON, &token, ORDER);
    assert_eq!((rejected.status, rejected.code().as_str()), (429, "THROTTLED"));
    assert_eq!(rejected.header("retry-after"), Some("1"));
    let extensions = &rejected.json()["errors"][0]["extensions"];
    assert_eq!(
        extensions,
        &json!({"code": "THROTTLED", "estimatedCost": 4, "maxConcurrentQueries": 1, "retryAfterMs": 1000})
    );
    assert_eq!(rejected.throttle_status()["currentlyAvailable"], 6, "only the first query is debited");
    lock.rollback().await.unwrap();
    assert_eq!(first.await.unwrap().status, 200);
    assert_eq!(server.query_as(GRAPHQL_JSON, &token, ORDER).throttle_status()["currentlyAvailable"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn applies_and_reports_the_limits_of_the_profile() {
    let profile = Profile {
        max_cost: Some(20),
        max_page_size: Some(3),
        max_depth: Some(2),
        bucket_size: Some(50),
        restore_rate: Some(1_000_000),
        ..Profile::DEFAULT
    };
    let (server, _database, token) = server_with_demo_user(profile, &[]).await;
    let extensions =
        |query: &str| server.query_as(GRAPHQL_JSON, &token, query).json()["errors"][0]["extensions"].clone();
    let page = extensions("{ orders(first: 4) { edges { node { orderId } } } }");
    assert_eq!((&page["code"], &page["maxFirst"]), (&json!("FIRST_TOO_LARGE"), &json!(3)));
    let deep = extensions(
        "{ orders(first: 1) { edges { node { orderItems(first: 1) { edges { node { product { productId } } } } } } } }",
    );
    assert_eq!((&deep["code"], &deep["maxDepth"]), (&json!("DEPTH_EXCEEDED"), &json!(2)), "{deep}");
    let expensive = extensions(
        "{ orders(first: 3) { edges { node { orderId orderName statusId grandTotal currencyUomId orderDate } } } }",
    );
    assert_eq!((&expensive["code"], &expensive["maxCost"]), (&json!("COST_EXCEEDED"), &json!(20)), "{expensive}");
    let status = server.query_as(GRAPHQL_JSON, &token, ORDER).throttle_status();
    assert_eq!((&status["maximumAvailable"], &status["restoreRate"]), (&json!(50), &json!(1_000_000)));
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_queries_never_spend_more_than_the_bucket_holds() {
    let profile = Profile { bucket_size: Some(1001), ..Profile::DEFAULT };
    let (server, _database, token) =
        server_with_demo_user(profile, &["--restore-rate", "0", "--concurrent-queries", "1000"]).await;
    let queries = [
        ORDER,
        "{ order(orderId: \"NONE\") { orderName } }",
        "{ orders(first: 3) { edges { node { orderId statusId } } } }",
    ];
    let responses: Vec<Response> = thread::scope(|scope| {
        let workers: Vec<_> = (0..16)
            .map(|worker| {
                let (server, token) = (&server, &token);
                scope.spawn(move || {
                    (0..20).map(|n| server.query_as(GRAPHQL_JSON, token, queries[(worker + n) % 3])).collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let (mut debited, mut rejected, mut lowest) = (0, 0, 1001);
    for response in &responses {
        let body = response.json();
        let cost = body["extensions"]["cost"]["requestedQueryCost"].as_u64().unwrap();
        let left = response.throttle_status()["currentlyAvailable"].as_u64().unwrap();
        match response.status {
            200 => {
                debited += cost;
                lowest = lowest.min(left);
            }
            429 => {
                assert!(left < cost, "{body}");
                rejected += 1;
            }
            _ => panic!("{response:?}"),
        }
    }
    assert!(debited <= 1001 && rejected > 0, "{debited} debited, {rejected} rejected");
    assert_eq!(lowest, 1001 - debited, "the rest stays in the bucket");
    let log = server.stop();
    let costs = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["cost"].as_u64());
    assert_eq!(costs.sum::<u64>(), debited);
}
