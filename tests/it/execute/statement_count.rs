//! The number of statements of a query, from PostgreSQL's log: one, whatever is selected and however many rows there are.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use serde_json::Map;
use tokio_postgres::Client;

use crate::support::cluster::server_log;
use crate::support::database::{Database, loaded_database};
use crate::support::query_runner::QueryRunner;

/// Queries for ROWS rows, and their number of steps.
const QUERIES: [(&str, usize); 9] = [
    ("{ __typename }", 0),
    (r#"{ order(orderId: "MANY00001") { orderName billToCustomer { firstName } orderItemCount } }"#, 1),
    (r#"{ order(orderId: "nobody") { orderName orderItems(first: ROWS) { edges { node { quantity } } } } }"#, 2),
    (
        "{ orders(first: ROWS, query: \"statusId:ORDER_HELD\") { edges { node { orderId } } pageInfo { hasNextPage } } }",
        1,
    ),
    ("{ orders(first: ROWS, query: \"statusId:ORDER_HELD\") { pageInfo { hasNextPage } } }", 1),
    (
        "{ orders(first: ROWS, query: \"statusId:ORDER_HELD\", reverse: true) { edges { node { orderId \
         productStore { storeName } orderItemCount orderItems(first: 3) { edges { node { product { productName } } } } } } } }",
        2,
    ),
    (
        "{ orders(first: ROWS, query: \"statusId:ORDER_HELD\") { edges { node { \
         a: orderItems(first: 2) { edges { node { quantity adjustments(first: 1) { edges { node { amount } } } } } } \
         b: orderItems(last: 1) { edges { cursor } pageInfo { hasPreviousPage hasNextPage startCursor } } \
         shipGroups(first: 1) { edges { node { orderItems(first: 1) { edges { node { order { orderName } } } } } } } } } } }",
        6,
    ),
    (
        r#"{ one: order(orderId: "MANY00001") { orderItems(first: 2) { edges { node { quantity } } } }
        other: order(externalId: "X00002") { orderItems(first: 2) { edges { node { quantity } } } }
        orders(first: ROWS) { edges { node { orderId } } } facility(facilityId: "WebStoreWarehouse") { facilityName }
        inventoryLevels(first: ROWS) { edges { node { quantityOnHand facility { facilityName } } } } }"#,
        7,
    ),
    (
        "{ orders(first: ROWS, query: \"orderId:nobody\") { edges { node { orderItems(first: 1) { edges { node { \
         product { inventoryLevels(first: 1) { edges { node { facilityId } } } } } } } } } } }",
        3,
    ),
];

#[tokio::test]
async fn executes_one_statement_for_a_query() {
    let database = loaded_database().await;
    let client = database.connect().await;
    let rows = "INSERT INTO order_header (order_id, status_id, order_date, external_id) \
            SELECT 'MANY' || lpad(n::text, 5, '0'), 'ORDER_HELD', timestamptz '2026-01-01' + n * interval '1 minute', \
            'X' || lpad(n::text, 5, '0') FROM generate_series(1, 10001) AS n;
        INSERT INTO order_item (order_id, order_item_seq_id, quantity) \
            SELECT 'MANY' || lpad(n::text, 5, '0'), i::text, i \
            FROM generate_series(1, 10001) AS n, generate_series(1, 3) AS i;
        ANALYZE order_header, order_item";
    client.batch_execute(rows).await.unwrap();
    let runner = logged_runner(&database);
    for (query, steps) in QUERIES {
        for rows in ["1", "10000"] {
            let query = query.replace("ROWS", rows);
            // The first run prepares the statement, the second one uses it.
            for _ in 0..2 {
                let start = File::open(server_log()).unwrap().metadata().unwrap().len();
                let plan = runner.compile(&query, Map::new()).plan;
                let row_counts = runner.row_counts(&plan).await.unwrap();
                let log = logged_since(&client, start).await;
                let count = |what: &str| log.iter().filter(|line| line.starts_with(what)).count();
                let expected = usize::from(steps > 0);
                assert_eq!(count("execute "), expected, "{query}\n{log:#?}");
                assert_eq!(log.len(), expected, "{query}\n{log:#?}");
                assert_eq!(plan.steps().len(), steps, "{query}");
                if rows == "10000" && query.contains("query: \"statusId") {
                    assert!(row_counts.contains(&10_000), "{query}: {row_counts:?}");
                }
            }
        }
    }
}

/// A query runner whose statements PostgreSQL logs.
fn logged_runner(database: &Database) -> QueryRunner {
    let mut config = database.config();
    config.options("-c log_statement=all");
    QueryRunner::with_config(&config)
}

/// The entries of the log after that position, of the connections of query runners on the database.
async fn logged_since(client: &Client, start: u64) -> Vec<String> {
    let mut file = File::open(server_log()).unwrap();
    file.seek(SeekFrom::Start(start)).unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    let prefixes = "SELECT '[' || pid || '] LOG:  ' FROM pg_stat_activity \
        WHERE datname = current_database() AND application_name = 'orderql-queries'";
    let prefixes: Vec<String> = client.query(prefixes, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    let log = String::from_utf8_lossy(&bytes);
    let entry = |line: &str| prefixes.iter().find_map(|prefix| Some(line.split_once(prefix.as_str())?.1.to_owned()));
    // A new connection is asked for its settings.
    log.lines().filter_map(entry).filter(|entry| !entry.contains("SELECT current_setting(")).collect()
}
