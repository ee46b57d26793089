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

/// Makes the reading of each order wait until nobody has the advisory lock 1.
const ORDERS_IN_TURN: &str = "
    CREATE FUNCTION wait_for_turn() RETURNS bool LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1);
        RETURN TRUE;
    END $$;
    INSERT INTO order_header (order_id, order_name) VALUES ('A', 'before'), ('B', 'before');
    ALTER TABLE order_header RENAME TO real_order_header;
    CREATE VIEW order_header AS SELECT * FROM real_order_header WHERE wait_for_turn()";

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_during_a_query_is_not_in_its_response() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    client.batch_execute(ORDERS_IN_TURN).await.unwrap();
    let server = Arc::new(Server::start(&database, &["--pool-size", "1"]));
    let token = server.token("demo");
    let query = "{ orders(first: 2) { edges { node { orderName } } } }";
    let names = |name: &str| json!({ "orders": { "edges": [{ "node": { "orderName": name } }, { "node": { "orderName": name } }] } });
    client.batch_execute("SELECT pg_advisory_lock(1)").await.unwrap();
    let running = {
        let (server, token) = (Arc::clone(&server), token.clone());
        tokio::task::spawn_blocking(move || server.query(&token, query).json())
    };
    // The query has its snapshot and waits for the first order.
    database.wait_for_lock_waits(1).await;
    client.batch_execute("UPDATE real_order_header SET order_name = 'after'").await.unwrap();
    client.batch_execute("SELECT pg_advisory_unlock(1)").await.unwrap();
    assert_eq!(running.await.unwrap()["data"], names("before"));
    assert_eq!(server.query(&token, query).json()["data"], names("after"));
}

/// An `ALTER TABLE` may have written the table anew meanwhile: to a snapshot of before, it would have no rows.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_waits_for_a_lock_sees_what_is_there_when_it_has_the_lock() {
    let database = migrated_database().await;
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    // The operator's connection settings must not change the isolation level.
    let mut address = database.config();
    address.options(r"-c default_transaction_isolation=repeatable\ read");
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
    database.wait_for_lock_waits(1).await;
    let item = "INSERT INTO order_item (order_id, order_item_seq_id) VALUES ('O', '00001')";
    lock.batch_execute(item).await.unwrap();
    lock.commit().await.unwrap();
    assert_eq!(count(&running.await.unwrap()), 1);
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
