//! A database of `HotWax`'s own entity model, as Moqui makes it: other lengths, times without a zone, keys of its own, and no stamps of
//! transactions.

use std::fs;
use std::path::Path;

use crate::database::migrate::string;
use crate::support::command::{orderql_on, run};
use crate::support::database::empty_database;
use crate::support::server::Server;
use crate::support::store::{URLENCODED, update_request};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

const TABLES: &str = include_str!("../../data/hotwax/tables.sql");

/// An item of a shipment in progress, and what an order update writes of it.
const REJECTABLE: &str = "
    SELECT format('facilityId=%1$s&box_shipmentId_0=%2$s&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG&rej_shipmentId_0=%2$s'
        '&rej_shipmentItemSeqId_0=%3$s&0_rej_rowSubmit_=0&rej_rejectionReason_0=NOT_IN_STOCK',
        shipment.origin_facility_id, shipment.shipment_id, shipped.shipment_item_seq_id)
    FROM shipment
    JOIN order_shipment AS shipped USING (shipment_id)
    JOIN order_item USING (order_id, order_item_seq_id)
    JOIN order_header USING (order_id)
    WHERE shipment.status_id IN ('SHIPMENT_INPUT', 'SHIPMENT_APPROVED') AND order_item.status_id = 'ITEM_APPROVED'
        AND order_header.status_id = 'ORDER_APPROVED'
    ORDER BY shipment.shipment_id, shipped.shipment_item_seq_id
    LIMIT 1";

#[tokio::test(flavor = "multi_thread")]
async fn hotwaxs_tables_are_migrated_checked_filled_served_and_updated() {
    let database = empty_database().await;
    let mut client = database.connect().await;
    client.batch_execute(TABLES).await.unwrap();
    let orderql = |arguments: &[&str]| run(orderql_on(&database).args(arguments), "");
    let migrated = orderql(&["migrate"]);
    assert!(
        migrated.succeeded && migrated.stdout.contains("picklist.created_date"),
        "{}{}",
        migrated.stdout,
        migrated.stderr
    );
    assert!(!migrated.stdout.contains("order_item.ship_group_seq_id"), "{}", migrated.stdout);
    assert_eq!(orderql(&["migrate"]).stdout, "Nothing to do: the database is up to date.\n");
    let checked = orderql(&["schema", "check"]);
    assert!(
        checked.succeeded && checked.stdout.contains("the key of ShipmentStatus does not identify"),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
    let filled = orderql(&["sample", "--orders", "300", "--seed", "1"]);
    assert!(filled.succeeded, "{}", filled.stderr);

    create_users(&mut client, &[("demo", UNLIMITED_PROFILE)]).await;
    let server = Server::start(&database, &[]);
    let token = server.token("demo");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/questions");
    let mut asked = 0;
    for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let text = fs::read_to_string(&file).unwrap();
        if file.extension().is_none_or(|extension| extension != "graphql") || !text.contains('{') {
            continue;
        }
        let body = server.query(&token, &text).json();
        assert_eq!(body.get("errors"), None, "{}\n{body:#}", file.display());
        asked += 1;
    }
    assert!(asked > 50, "{asked}");
    let orders = server.query(
        &token,
        "{ orders(first: 5) { edges { node { orderId orderDate orderItems(first: 5) {
        edges { node { orderItemSeqId shipGroupSeqId quantity } } } } } } }",
    );
    assert!(
        orders.json()["data"]["orders"]["edges"][4]["node"]["orderItems"]["edges"][0].is_object(),
        "{}",
        orders.body
    );

    let form = string(&client, REJECTABLE).await.unwrap();
    let response = server.send(update_request(&token, &[URLENCODED], &form));
    assert_eq!(response.status, 200, "{response:?}");
    let tables = orderql(&["tables"]);
    assert!(tables.succeeded, "{}", tables.stderr);
}
