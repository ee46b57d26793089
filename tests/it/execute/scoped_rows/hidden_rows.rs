//! Thousands of rows that a caller does not see, between those that the caller sees: no page, flag, count or report tells of them.

use orderql::query::Variables;
use orderql::schema_file::{BUILT_IN, SchemaFile};

use crate::execute::scoped_rows::callers::{Caller, Ids, Pair};
use crate::execute::scoped_rows::cursors::unscoped;
use crate::execute::scoped_rows::row_security::protect;
use crate::support::built_in;
use crate::support::database::{Database, sampled_database};
use crate::support::query_plan::{PlanNode, connect_like_server, explain};
use crate::support::query_runner::QueryRunner;

/// More rows than a window has.
const HIDDEN: i32 = 4500;

/// Adds copies of one row of a table, with the columns of a JSON object in place of its own. `n` is the number of the copy.
async fn add_copies(database: &Database, relation: &str, which: &str, columns: &str) {
    let insert = format!(
        "INSERT INTO {relation} SELECT copy.* FROM (SELECT t AS whole FROM {relation} AS t WHERE {which} LIMIT 1) AS t,
         generate_series(1, {HIDDEN}) AS n, jsonb_populate_record(whole, jsonb_build_object({columns})) AS copy"
    );
    let added = database.connect().await.execute(&insert, &[]).await;
    let added = added.unwrap_or_else(|error| panic!("{relation}: {error:?}"));
    assert_eq!(added, u64::from(HIDDEN.unsigned_abs()), "{relation}");
}

/// Adds rows of the last facility and the last store, a minute apart.
async fn add_hidden_rows(database: &Database, [store, facility]: [&str; 2]) {
    let at = "to_jsonb(timestamptz '2031-01-01 00:00Z' + n * interval '1 minute')";
    let of_store = format!("product_store_id = '{store}'");
    let order = format!("'order_id', 'HID' || n, 'order_date', {at}, 'external_id', 'HIDDEN'");
    add_copies(database, "order_header", &of_store, &order).await;
    let of_order = format!("primary_order_id IN (SELECT order_id FROM order_header WHERE {of_store})");
    let shipment = format!(
        "'shipment_id', 'HID' || n, 'primary_order_id', 'HID' || n, 'origin_facility_id', '{facility}',
         'destination_facility_id', NULL, 'estimated_ship_date', {at}"
    );
    add_copies(database, "shipment", &of_order, &shipment).await;
    let of_facility =
        format!("inventory_item_id IN (SELECT inventory_item_id FROM inventory_item WHERE facility_id = '{facility}')");
    let detail = format!("'inventory_item_detail_seq_id', 'HID' || n, 'effective_date', {at}");
    add_copies(database, "inventory_item_detail", &of_facility, &detail).await;
}

/// Searches of daily work by callers of a store or a facility. `DAY` is a day of hidden rows.
const QUERIES: [&str; 12] = [
    "{ found: orders(first: 20, sortKey: ORDER_DATE, reverse: true, countUpTo: 1000) { count edges { node { orderId } } pageInfo { hasNextPage hasPreviousPage } } }",
    "{ found: orders(first: 20, query: \"orderDate:>=DAY\", countUpTo: 1000) { count edges { cursor } pageInfo { hasNextPage } } }",
    "{ found: orders(first: 20, query: \"externalId:HIDDEN\", countUpTo: 1000) { count edges { cursor } pageInfo { hasNextPage } } }",
    "{ found: orders(first: 20, query: \"statusId:ORDER_APPROVED orderDate:>=DAY\") { edges { cursor } pageInfo { hasNextPage } } }",
    "{ found: orders(last: 20, query: \"orderName:NONE\", sortKey: ORDER_ID) { edges { cursor } pageInfo { hasPreviousPage } } }",
    "{ found: shipments(first: 20, countUpTo: 1000) { count edges { node { shipmentId } } pageInfo { hasNextPage } } }",
    "{ found: shipments(first: 20, sortKey: STATUS, query: \"shipmentTypeId:NOPE\") { edges { cursor } pageInfo { hasNextPage } } }",
    "{ found: shipments(first: 20, query: \"estimatedShipDate:>=DAY\", countUpTo: 100) { count edges { cursor } pageInfo { hasNextPage } } }",
    "{ found: inventoryItemDetails(first: 20) { edges { node { effectiveDate } } pageInfo { hasNextPage } } }",
    "{ found: inventoryItemDetails(first: 20, query: \"effectiveDate:>=DAY\") { edges { cursor } pageInfo { hasNextPage } } }",
    "{ found: inventoryItemDetails(first: 20, query: \"orderId:NONE\") { edges { cursor } pageInfo { hasNextPage } } }",
    "{ found: orderTotals(query: \"orderDate:>=DAY\", groupBy: [STATUS_ID], first: 10, rows: 4000) { complete rowCount groups { count } } }",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_page_flag_or_count_tells_of_thousands_of_hidden_rows() {
    let file = SchemaFile::parse(BUILT_IN).unwrap();
    let (database, protected) = (sampled_database().await, sampled_database().await);
    let stores = Ids::read(&database).await.stores;
    let facilities = "SELECT min(facility_id)::text, max(facility_id)::text FROM inventory_item";
    let facilities = database.connect().await.query_one(facilities, &[]).await.unwrap();
    let [seen_facility, hidden_facility]: [String; 2] = [facilities.get(0), facilities.get(1)];
    let hidden = [stores.last().unwrap().as_str(), hidden_facility.as_str()];
    for database in [&database, &protected] {
        add_hidden_rows(database, hidden).await;
    }
    protect(&protected, BUILT_IN).await;
    let seen = (stores[0].clone(), seen_facility);
    assert!(seen.0 != hidden[0] && seen.1 != hidden[1]);
    let mut compared = 0;
    for (stores, facilities) in [(true, false), (false, true), (true, true)] {
        let caller = Caller {
            stores: stores.then(|| vec![seen.0.clone()]),
            facilities: facilities.then(|| vec![seen.1.clone()]),
        };
        let Pair { scoped, protected } = Pair::new(&file, [&database, &protected], &caller);
        for query in QUERIES {
            // Before, between and after the hidden rows.
            for day in ["2030-12-31", "2031-01-01", "2031-01-03T04:05:06Z", "2031-01-20"] {
                let query = query.replace("DAY", day);
                let result = scoped.run(&query, Variables::new()).await;
                let expected = protected.run(&query, Variables::new()).await;
                // A caller of a facility sees the orders of all stores.
                if expected.data().to_string().contains("HID") {
                    continue;
                }
                assert_eq!(result.short_searches, [], "{caller:?}: {query}");
                assert_eq!(unscoped(result.data()), unscoped(expected.data()), "{caller:?}: {query}");
                compared += 1;
                if !query.contains(day) {
                    break;
                }
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

/// The bounds are parameters, which PostgreSQL does not know while it plans.
#[tokio::test(flavor = "multi_thread")]
async fn bounds_that_are_parameters_leave_every_scan_its_index() {
    let file = SchemaFile::parse(BUILT_IN).unwrap();
    let database = sampled_database().await;
    let client = connect_like_server(&database).await;
    let item = client.query_one("SELECT facility_id::text, product_id::text FROM inventory_item LIMIT 1", &[]).await;
    let item = item.unwrap();
    let (facility, product): (String, String) = (item.get(0), item.get(1));
    let caller = Caller { stores: None, facilities: Some(vec![facility]) };
    let rows = caller.rows();
    let scoped = QueryRunner::with_catalog(&database.config(), 2, file.limit(built_in::catalog(), rows.limiting()));
    let scoped = scoped.among(rows);
    for search in [
        format!("productId:{product}"),
        format!("productId:{product} effectiveDate:>=2025-01-01"),
        "orderId:NONE".into(),
    ] {
        let query = format!(
            "{{ inventoryItemDetails(first: 20, query: {search:?}, countUpTo: 100) {{ count edges {{ cursor }} pageInfo {{ hasNextPage }} }} }}"
        );
        let explained = explain(&client, &scoped.compile(&query, Variables::new()).plan).await;
        let scans: Vec<_> = explained.all().into_iter().filter(PlanNode::is_scan).collect();
        assert!(!scans.is_empty() && scans.iter().all(|scan| scan.kind() != "Seq Scan"), "{}", explained.text());
    }
}
