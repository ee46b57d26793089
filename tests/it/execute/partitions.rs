//! Tables that are partitioned by the hash of an order's id, made before the database was migrated: the same responses and the same
//! order updates as without partitions, through the partitions' indexes.

use std::fmt::Write as _;

use orderql::migration::migrate::migrate;
use tokio_postgres::Client;

use crate::catalog::collection_roots::roots;
use crate::support::cluster::load;
use crate::support::command;
use crate::support::database::{Database, empty_database, loaded_database};
use crate::support::declared_tables::declared_tables;
use crate::support::query_runner::QueryRunner;
use crate::support::server::Server;
use crate::support::store::{URLENCODED, update_request};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const PARTITIONS: usize = 3;

const ORDER: &str = r#"{ order(orderId: "ORDER_IN_PROGRESS") { orderId statusId grandTotal orderItemCount
    orderItems(first: 20) { edges { cursor node { orderItemSeqId statusId quantity product { productName } } } }
    shipGroups(first: 20) { edges { node { shipGroupSeqId facilityId orderItems(first: 9) { edges { node { orderItemSeqId
        reservations(first: 9) { edges { node { quantity } } } } } } } } }
    statuses(last: 9) { edges { node { statusId } } } adjustments(first: 9) { edges { node { amount } } } } }"#;

/// The tables whose primary keys begin with an order's id, partitioned. Returns their names.
pub async fn create_partitioned(client: &Client) -> Vec<&'static str> {
    let mut names = Vec::new();
    for table in declared_tables().iter().filter(|table| table.key().first() == Some(&"order_id")) {
        let (name, definition) = (table.name, table.definition(None));
        let mut sql = format!("CREATE TABLE {name} ({definition}) PARTITION BY HASH (order_id);");
        for part in 0..PARTITIONS {
            let of = format!("FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})");
            write!(sql, "CREATE TABLE {name}_{part} PARTITION OF {name} {of};").unwrap();
        }
        client.batch_execute(&sql).await.unwrap();
        names.push(name);
    }
    names
}

/// Updates the order as its store: an item is rejected, and the box of its shipment changes.
fn update(server: &Server) {
    let form = "facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_INPUT&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG\
                &rej_shipmentId_0=SHIP_INPUT&rej_shipmentItemSeqId_0=00001&0_rej_rowSubmit_=0&rej_rejectionReason_0=NOT_IN_STOCK";
    let response = server.send(update_request(&server.token("demo"), &[URLENCODED], form));
    assert_eq!(response.status, 200, "{response:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_by_the_date_of_the_order_are_rejected_with_the_reason() {
    let database = empty_database().await;
    let client = database.connect().await;
    let tables = declared_tables();
    let orders = tables.iter().find(|table| table.name == "order_header").unwrap();
    let definition = orders.definition(Some("order_id, order_date"));
    let partitioned = format!(
        "CREATE TABLE order_header ({definition}) PARTITION BY RANGE (order_date);
         CREATE TABLE order_header_2026 PARTITION OF order_header FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')"
    );
    client.batch_execute(&partitioned).await.unwrap();
    let reason = "order_header is partitioned by RANGE (order_date), so that PostgreSQL cannot make its key (order_id) unique: \
                  partition it by the hash of a column of the key, or not at all; nothing was changed\n";
    for flags in [&["migrate"][..], &["migrate", "--concurrently"]] {
        let migrated = command::run(command::orderql_on(&database).args(flags), "");
        assert_eq!((migrated.succeeded, migrated.stderr), (false, format!("orderql: {reason}")));
    }
    let schema: Option<String> = client.query_one("SELECT to_regnamespace('orderql')::text", &[]).await.unwrap().get(0);
    assert_eq!(schema, None);
    let examined = command::run(command::orderql_on(&database).args(["doctor", "--listen", "127.0.0.1:0"]), "");
    let reason = "FAILED   schema      the key of Order does not identify the rows of order_header: it has no unique index or constraint on (order_id) or \
                  on some of them; correct the key in the schema file, or partition the table by the hash of a column of the key, or \
                  not at all: it is partitioned by RANGE (order_date), and PostgreSQL makes no unique index on it without these columns\n";
    assert!(examined.stdout.contains(reason), "{}", examined.stdout);
}

async fn server(database: &Database) -> Server {
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE)]).await;
    Server::start(database, &[])
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_by_the_hash_of_the_order_change_no_response_and_no_update() {
    let (whole, partitioned) = (loaded_database().await, empty_database().await);
    let mut client = partitioned.connect().await;
    let tables = create_partitioned(&client).await;
    assert!(tables.len() > 8 && tables.starts_with(&["order_header", "order_item"]), "{tables:?}");
    migrate(&mut client).await.unwrap();
    load(&mut client).await;

    let (whole_server, server) = (server(&whole).await, server(&partitioned).await);
    let runners = (QueryRunner::new(&whole), QueryRunner::new(&partitioned));
    let mut rows = 0;
    for root in roots() {
        // Stamps are of the time when the rows were loaded.
        for sort_key in root.sort_keys.iter().filter(|key| !key.ends_with("_STAMP")) {
            for page in ["first: 9", "last: 7, reverse: true"] {
                let query = format!(
                    "{{ {}({page}, sortKey: {sort_key}) {{ edges {{ cursor }} pageInfo {{ hasNextPage hasPreviousPage }} }} }}",
                    root.name
                );
                let data = runners.1.data(&query).await;
                assert_eq!(data, runners.0.data(&query).await, "{query}");
                rows += data[&root.name]["edges"].as_array().map_or(0, Vec::len);
            }
        }
    }
    assert!(rows > 100, "{rows}");
    for query in [
        ORDER,
        "{ orders(first: 50, query: \"statusId:ORDER_APPROVED,ORDER_COMPLETED\", sortKey: ORDER_DATE) { edges { cursor } } }",
        "{ orders(first: 50, query: \"orderDate:>2020-01-01\", sortKey: ORDER_DATE) { edges { cursor node { orderName } } } }",
    ] {
        assert_eq!(runners.1.data(query).await, runners.0.data(query).await, "{query}");
    }
    update(&whole_server);
    update(&server);
    let updated = runners.1.data(ORDER).await;
    assert!(updated.to_string().contains("REJECTED_ITM_PARKING"), "{updated}");
    assert_eq!(updated, runners.0.data(ORDER).await);

    // A page in the order of an index merges those of the partitions, and reads one row more of each than of one table.
    let explained = "SET enable_seqscan = off; SET enable_sort = off";
    client.batch_execute(explained).await.unwrap();
    let page = "EXPLAIN SELECT order_id FROM order_header ORDER BY order_date, order_id LIMIT 10";
    let plan: Vec<String> = client.query(page, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    let scans = plan.iter().filter(|line| line.contains("Index")).count();
    assert!(plan.join("\n").contains("Merge Append") && scans == PARTITIONS, "{plan:#?}");

    // What was added to the tables is removed from their partitions.
    drop(server);
    let undone = command::run(command::orderql_on(&partitioned).args(["migrate", "--undo", "--yes"]), "");
    assert!(
        undone.succeeded && undone.stdout.contains("DROP TRIGGER orderql_item_inserted ON order_item;"),
        "{}{}",
        undone.stdout,
        undone.stderr
    );
    let left = "SELECT count(*) FROM pg_attribute WHERE attname LIKE 'orderql\\_%' AND NOT attisdropped";
    assert_eq!(client.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
}
