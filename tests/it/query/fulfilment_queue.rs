//! The fulfilment queue is paged through as a store does it all day: every page but the last is full, whatever pair of keys is
//! searched by and in whatever order, also at a facility with more open groups than a search window has rows.

use orderql::access::profile::Profile;
use serde_json::json;

use crate::support::database::migrated_database;
use crate::support::server::Server;
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// 10,000 orders of one ship group each, half of them at one facility.
const ORDERS: &str = "
    SET session_replication_role = replica;
    ALTER TABLE order_header DISABLE TRIGGER orderql_item_replicated;
    ALTER TABLE order_item_ship_group DISABLE TRIGGER orderql_item_replicated;
    ALTER TABLE order_item DISABLE TRIGGER orderql_item_replicated;
    ALTER TABLE order_item_ship_grp_inv_res DISABLE TRIGGER orderql_item_replicated;
    INSERT INTO order_header (order_id, status_id, product_store_id, order_date)
    SELECT 'O' || lpad((n * 7919 % 10000)::text, 5, '0'),
        CASE WHEN n % 8 = 1 THEN 'ORDER_HELD' WHEN n % 8 = 3 THEN 'ORDER_CREATED' ELSE 'ORDER_APPROVED' END, 'STORE' || n % 3,
        timestamptz '2026-01-01' + n * interval '10 minutes'
    FROM generate_series(1, 10000) AS n;
    INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id, shipment_method_type_id)
    SELECT order_id, '00001', CASE WHEN right(order_id, 1) < '5' THEN 'LARGE' ELSE 'SMALL' || right(order_id, 2) END,
        CASE WHEN hashtext(order_id) % 5 = 0 THEN 'NEXT_DAY' ELSE 'STANDARD' END
    FROM order_header;
    INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, status_id)
    SELECT order_id, i, '00001', CASE status_id WHEN 'ORDER_HELD' THEN 'ITEM_HOLD' WHEN 'ORDER_CREATED' THEN 'ITEM_CREATED'
        ELSE CASE WHEN i = 1 THEN 'ITEM_APPROVED' ELSE 'ITEM_COMPLETED' END END
    FROM order_header, generate_series(1, 2) AS i;
    INSERT INTO order_item_ship_grp_inv_res (order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, promised_datetime)
    SELECT order_id, '00001', '1', 'I', order_date + hashtext(order_id) % 9 * interval '1 day' FROM order_header
    WHERE status_id = 'ORDER_APPROVED';
    RESET session_replication_role;
    SELECT orderql.backfill_item_places()";

/// Searches of daily work, and what they mean.
const SEARCHES: [(&str, &str); 9] = [
    ("facilityId:LARGE", "facility_id = 'LARGE'"),
    ("facilityId:LARGE itemStatusId:ITEM_APPROVED", "facility_id = 'LARGE' AND item_status_id = 'ITEM_APPROVED'"),
    ("itemStatusId:ITEM_HOLD facilityId:LARGE", "facility_id = 'LARGE' AND item_status_id = 'ITEM_HOLD'"),
    (
        "facilityId:LARGE shipmentMethodTypeId:NEXT_DAY",
        "facility_id = 'LARGE' AND shipment_method_type_id = 'NEXT_DAY'",
    ),
    ("facilityId:SMALL17 itemStatusId:ITEM_APPROVED", "facility_id = 'SMALL17' AND item_status_id = 'ITEM_APPROVED'"),
    (
        "productStoreId:STORE1 orderStatusId:ORDER_HELD",
        "product_store_id = 'STORE1' AND order_status_id = 'ORDER_HELD'",
    ),
    (
        "productStoreId:STORE2 itemStatusId:ITEM_APPROVED",
        "product_store_id = 'STORE2' AND item_status_id = 'ITEM_APPROVED'",
    ),
    ("facilityId:LARGE orderDate:>=2026-02-01", "facility_id = 'LARGE' AND order_date >= '2026-02-01Z'"),
    (
        "orderDate:>=2026-02-01 itemStatusId:ITEM_APPROVED",
        "order_date >= '2026-02-01Z' AND item_status_id = 'ITEM_APPROVED'",
    ),
];

const PAGE: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_the_queue_are_full() {
    let database = migrated_database().await;
    let mut client = database.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    let profile = Profile { restore_rate: Some(1_000_000), ..UNLIMITED_PROFILE };
    create_users(&mut client, &[("demo", profile)]).await;
    let server = Server::start(&database, &[]);
    let token = server.token("demo");
    for (search, condition) in SEARCHES {
        let count = format!("SELECT count(*) FROM orderql.fulfillment_queue WHERE {condition}");
        let expected = usize::try_from(client.query_one(&count, &[]).await.unwrap().get::<_, i64>(0)).unwrap();
        assert!(expected > 2, "{search}");
        for sort_key in ["ORDER_DATE", "ORDER_ID", "PROMISED_DATE"] {
            let (mut pages, mut rows, mut after) = (0, 0, json!(null).to_string());
            loop {
                let query = format!(
                    "{{ shipGroups(first: {PAGE}, after: {after}, query: \"{search}\", sortKey: {sort_key}) {{
                        edges {{ node {{ orderId }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
                );
                let body = server.query(&token, &query).json();
                let page = &body["data"]["shipGroups"];
                let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{search} {sort_key}: {body:#}"));
                (pages, rows, after) = (pages + 1, rows + edges.len(), page["pageInfo"]["endCursor"].to_string());
                if page["pageInfo"]["hasNextPage"] == false {
                    break;
                }
            }
            assert_eq!(rows, expected, "{search} {sort_key}");
            // At most 1.2 pages for each page of rows.
            let full = expected.div_ceil(PAGE);
            assert!(pages * 5 <= full * 6, "{search} by {sort_key}: {pages} pages of {expected} rows");
        }
    }
}
