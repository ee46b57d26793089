//! The items in their ship groups after a migration, as OFBiz's application and `HotWax`'s write them: each facility's queue and
//! items, and the totals of items.

use orderql::migration::migrate::migrate;
use serde_json::{Value, json};

use crate::database::migrate::make_stock;
use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, migrated_database};
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// An order with two ship groups, and a line of ten.
const ORDER: &str = "
    INSERT INTO facility (facility_id) VALUES ('EAST'), ('WEST') ON CONFLICT DO NOTHING;
    INSERT INTO order_header (order_id, order_type_id, status_id, order_date)
    VALUES ('SPLIT', 'SALES_ORDER', 'ORDER_APPROVED', '2026-05-01 10:00Z');
    INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id)
    VALUES ('SPLIT', '00001', 'EAST'), ('SPLIT', '00002', 'WEST')";

/// A server of the database, and a token for it.
async fn serve(database: &Database) -> (Server, String) {
    let mut client = database.connect().await;
    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    let server = Server::start(database, &[]);
    let token = server.token("demo");
    (server, token)
}

/// The order's items at a facility, its groups in the queue there, and the number and quantity of all of its items.
fn found(server: &Server, token: &str, facility: &str) -> (Value, Value, Value) {
    let query = format!(
        "{{ orderItems(first: 10, query: \"facilityId:{facility} orderId:SPLIT\") {{
                edges {{ node {{ orderItemSeqId shipGroupSeqId quantity }} }} }}
            shipGroups(first: 10, query: \"facilityId:{facility}\") {{ edges {{ node {{ orderId shipGroupSeqId itemStatusId }} }} }}
            itemTotals(first: 1, query: \"orderId:SPLIT\") {{ groups {{ count quantity }} }} }}"
    );
    let text = server.query(token, &query).json().to_string().replace(".000000", "");
    let body: Value = serde_json::from_str(&text).unwrap();
    let nodes = |root: &str| {
        let edges = body["data"][root]["edges"].as_array().unwrap_or_else(|| panic!("{root}: {body:#}"));
        Value::Array(edges.iter().map(|edge| edge["node"].clone()).collect())
    };
    (nodes("orderItems"), nodes("shipGroups"), body["data"]["itemTotals"]["groups"].clone())
}

fn item(group: &str, quantity: &str) -> Value {
    json!([{ "orderItemSeqId": "00001", "shipGroupSeqId": group, "quantity": quantity }])
}

fn open(group: &str) -> Value {
    json!([{ "orderId": "SPLIT", "shipGroupSeqId": group, "itemStatusId": "ITEM_APPROVED" }])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_of_stock_tables_has_the_groups_where_ofbiz_has_them() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    // With degrees as text, as before OFBiz 18.12.
    make_stock(&client).await;
    migrate(&mut client).await.unwrap();
    let filled = run(orderql_on(&database).args(["sample", "--orders", "200", "--seed", "1"]), "");
    assert!(filled.succeeded, "{}", filled.stderr);
    let places = "SELECT count(*) FROM orderql.item_place WHERE order_id LIKE 'SO%' AND ship_group_seq_id <> ''";
    let assocs = "SELECT count(*) FROM order_item_ship_group_assoc WHERE order_id LIKE 'SO%'";
    let count = async |sql| -> i64 { client.query_one(sql, &[]).await.unwrap().get(0) };
    assert_eq!(count(places).await, count(assocs).await);
    assert!(run(orderql_on(&database).arg("tables"), "").succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_stock_ofbiz_splits_is_at_both_facilities() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    make_stock(&client).await;
    migrate(&mut client).await.unwrap();
    let (server, token) = serve(&database).await;
    let write = async |sql: &str| client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    write(ORDER).await;
    write(
        "INSERT INTO order_item (order_id, order_item_seq_id, quantity, status_id) VALUES ('SPLIT', '00001', 10, 'ITEM_APPROVED');
         INSERT INTO order_item_ship_group_assoc (order_id, order_item_seq_id, ship_group_seq_id, quantity)
         VALUES ('SPLIT', '00001', '00001', 6), ('SPLIT', '00001', '00002', 4)",
    )
    .await;
    let total = |count: i32, quantity: &str| json!([{ "count": count, "quantity": quantity }]);
    assert_eq!(found(&server, &token, "EAST"), (item("00001", "6"), open("00001"), total(2, "10")));
    assert_eq!(found(&server, &token, "WEST"), (item("00002", "4"), open("00002"), total(2, "10")));

    write(
        "UPDATE order_item_ship_group_assoc SET quantity = 7 WHERE order_id = 'SPLIT' AND ship_group_seq_id = '00001'",
    )
    .await;
    assert_eq!(found(&server, &token, "EAST"), (item("00001", "7"), open("00001"), total(2, "11")));

    // It moves as OFBiz moves it, and as a statement that changes its key does.
    write(
        "DELETE FROM order_item_ship_group_assoc WHERE order_id = 'SPLIT' AND ship_group_seq_id = '00001';
         INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id) VALUES ('SPLIT', '00003', 'EAST');
         INSERT INTO order_item_ship_group_assoc (order_id, order_item_seq_id, ship_group_seq_id, quantity)
         VALUES ('SPLIT', '00001', '00003', 7)",
    )
    .await;
    assert_eq!(found(&server, &token, "EAST"), (item("00003", "7"), open("00003"), total(2, "11")));
    write("UPDATE order_item_ship_group_assoc SET ship_group_seq_id = '00001' WHERE order_id = 'SPLIT' AND ship_group_seq_id = '00003'").await;
    assert_eq!(found(&server, &token, "EAST"), (item("00001", "7"), open("00001"), total(2, "11")));

    write("DELETE FROM order_item_ship_group_assoc WHERE order_id = 'SPLIT' AND ship_group_seq_id = '00001'").await;
    assert_eq!(found(&server, &token, "EAST"), (json!([]), json!([]), total(1, "4")));
    write("DELETE FROM order_item_ship_group_assoc WHERE order_id = 'SPLIT'").await;
    assert_eq!(found(&server, &token, "WEST"), (json!([]), json!([]), total(1, "10")));
    let stale: i64 = client.query_one("SELECT count(*) FROM orderql.stale_item_place", &[]).await.unwrap().get(0);
    assert_eq!(stale, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_hotwax_is_in_the_group_of_its_column() {
    let database = migrated_database().await;
    let client = database.connect().await;
    let (server, token) = serve(&database).await;
    let write = async |sql: &str| client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    write("INSERT INTO order_type (order_type_id) VALUES ('SALES_ORDER') ON CONFLICT DO NOTHING").await;
    write(ORDER).await;
    write(
        "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, quantity, status_id)
         VALUES ('SPLIT', '00001', '00001', 10, 'ITEM_APPROVED')",
    )
    .await;
    let total = json!([{ "count": 1, "quantity": "10" }]);
    let nothing = (json!([]), json!([]), total.clone());
    assert_eq!(found(&server, &token, "EAST"), (item("00001", "10"), open("00001"), total.clone()));
    assert_eq!(found(&server, &token, "WEST"), nothing);
    write("UPDATE order_item SET ship_group_seq_id = '00002' WHERE order_id = 'SPLIT'").await;
    assert_eq!(found(&server, &token, "EAST"), nothing);
    assert_eq!(found(&server, &token, "WEST"), (item("00002", "10"), open("00002"), total));
}

#[tokio::test]
async fn the_stock_of_a_pair_grows_with_each_receipt() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    make_stock(&client).await;
    migrate(&mut client).await.unwrap();
    let level = "SELECT trim_scale(quantity_on_hand)::text FROM orderql.inventory_level WHERE product_id = 'ONE'";
    let stock: String = client.query_one(level, &[]).await.unwrap().get(0);
    assert_eq!(stock, "5");
    let receipt = "INSERT INTO inventory_item (inventory_item_id, product_id, facility_id, quantity_on_hand_total)
                   VALUES ('RECEIVED', 'ONE', '_NA_', 7)";
    client.batch_execute(receipt).await.unwrap();
    let stock: String = client.query_one(level, &[]).await.unwrap().get(0);
    assert_eq!(stock, "12");
}
