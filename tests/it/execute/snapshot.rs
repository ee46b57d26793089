//! Consistency of a response, and the connections to PostgreSQL.

use std::sync::Arc;

use orderql::database::connection::connect::connect;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::cluster::cluster;
use crate::support::database::migrated_database;
use crate::support::server::{Server, server_with_demo_user};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const ORDER: &str = "{ order(orderId: \"NONE\") { orderName } }";

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_during_a_query_is_not_in_its_response() {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    // The operator's connection settings must not change the isolation level.
    let mut address = database.config();
    address.options(r"-c default_transaction_isolation=read\ committed");
    let server = Arc::new(Server::start_with_config(&address, &["--pool-size", "1"]));
    let token = server.token("demo");
    let mut client = database.connect().await;
    let order = "INSERT INTO order_header (order_id, status_id) VALUES ('O', 'ORDER_HELD')";
    client.batch_execute(order).await.unwrap();
    let query = "{ orders(first: 1) { edges { node { orderId orderItems(first: 1) { edges { cursor } } } } } }";
    let query_orders = || {
        let (server, token) = (Arc::clone(&server), token.clone());
        tokio::task::spawn_blocking(move || server.query(&token, query).json())
    };
    let count = |response: &Value| {
        response["data"]["orders"]["edges"][0]["node"]["orderItems"]["edges"].as_array().unwrap().len()
    };
    // The first query prepares the statement. Preparing would wait for the lock as well.
    assert_eq!(count(&query_orders().await.unwrap()), 0);

    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_item").await.unwrap();
    let running = query_orders();
    // The query has its snapshot and waits for the items.
    database.wait_for_lock_waits(1).await;
    let item = "INSERT INTO order_item (order_id, order_item_seq_id) VALUES ('O', '00001')";
    lock.batch_execute(item).await.unwrap();
    lock.commit().await.unwrap();
    assert_eq!(count(&running.await.unwrap()), 0);
    assert_eq!(count(&query_orders().await.unwrap()), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_simultaneous_queries_share_the_few_connections_of_the_pool() {
    let (server, database, token) = server_with_demo_user(
        UNLIMITED_PROFILE,
        &["--pool-size", "3", "--shared-connections", "off", "--pool-wait", "1h"],
    )
    .await;
    let server = Arc::new(server);
    let mut client = database.connect().await;
    let lock = client.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE order_header").await.unwrap();
    let mut queries = JoinSet::new();
    for _ in 0..60 {
        let (server, token) = (Arc::clone(&server), token.clone());
        queries.spawn_blocking(move || server.query(&token, ORDER).json());
    }
    database.wait_for_lock_waits(3).await;
    // Three queries have a connection, and the others wait for these. What else the server has open are connections of other roles.
    let admin = connect(&cluster().await.config("postgres")).await.unwrap();
    let connections = async || -> i64 {
        let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'orderql-queries'";
        admin.query_one(count, &[&database.name()]).await.unwrap().get(0)
    };
    assert_eq!(connections().await, 3);
    lock.rollback().await.unwrap();
    while let Some(response) = queries.join_next().await {
        assert_eq!(response.unwrap()["data"], json!({"order": null}));
        assert!(connections().await <= 3);
    }
}
