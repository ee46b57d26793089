//! Index scans of particular queries: PostgreSQL reads a page along an index, wherever the page is, without sorting.

use orderql::query::Variables;
use tokio_postgres::Client;

use crate::support::database::loaded_database;
use crate::support::query_plan;
use crate::support::query_plan::{PlanNode, connect_like_server};
use crate::support::query_runner::QueryRunner;

// Nothing follows the rows that are filled in here: neither foreign keys nor triggers, which take most of the time.

/// Twenty thousand orders with three items each. Names and totals repeat, and every tenth order has no date, name and total.
const ORDERS: &str = "
    SET LOCAL session_replication_role = replica;
    ALTER TABLE order_header DISABLE TRIGGER USER;
    ALTER TABLE order_item DISABLE TRIGGER USER;
    INSERT INTO order_header (order_id, order_date, order_name, grand_total, status_id, external_id, product_store_id)
    SELECT 'MANY' || lpad(n::text, 6, '0'),
        CASE WHEN n % 10 > 0 THEN timestamptz '2026-01-01' + (n * 7919 % 20000) * interval '1 minute' END,
        CASE WHEN n % 10 > 0 THEN 'Order ' || n * 7919 % 5000 END,
        CASE WHEN n % 10 > 0 THEN n * 7919 % 3000 / 100.0 END,
        CASE WHEN n % 50 > 0 THEN 'ORDER_APPROVED' ELSE 'ORDER_HELD' END, 'X' || n, NULL
    FROM generate_series(1, 20000) AS n;
    INSERT INTO order_item (order_id, order_item_seq_id, external_id, quantity)
    SELECT 'MANY' || lpad(n::text, 6, '0'), lpad(i::text, 5, '0'), 'L' || i, i
    FROM generate_series(1, 20000) AS n, generate_series(1, 3) AS i;
    SELECT orderql.backfill_item_places();
    ANALYZE order_header, order_item, orderql.item_place";

/// Twenty thousand products, each with stock at one facility.
const STOCK: &str = "
    SET LOCAL session_replication_role = replica;
    INSERT INTO product (product_id, product_name) SELECT 'STOCK' || lpad(n::text, 5, '0'), 'Product ' || n
    FROM generate_series(1, 20000) AS n;
    INSERT INTO inventory_item (inventory_item_id, product_id, facility_id, quantity_on_hand_total)
    SELECT product_id, product_id, 'STORE_BROADWAY', 4 FROM product WHERE product_id LIKE 'STOCK%';
    INSERT INTO product_facility (product_id, facility_id, inventory_item_id)
    SELECT product_id, 'STORE_BROADWAY', product_id FROM product WHERE product_id LIKE 'STOCK%';
    ANALYZE product, inventory_item, product_facility";

/// Two hundred facilities with five hundred products each. The rows of a facility are adjacent, in random order.
const FACILITIES: &str = "
    SET LOCAL session_replication_role = replica;
    INSERT INTO facility (facility_id, facility_type_id) SELECT 'FAR' || lpad(n::text, 3, '0'), 'WAREHOUSE'
    FROM generate_series(1, 200) AS n;
    INSERT INTO product (product_id) SELECT 'FAR' || lpad(n::text, 3, '0') FROM generate_series(1, 500) AS n;
    INSERT INTO product_facility (product_id, facility_id)
    SELECT product_id, f.facility_id FROM facility AS f JOIN product ON product_id LIKE 'FAR%'
    WHERE f.facility_id LIKE 'FAR%' ORDER BY f.facility_id, md5(f.facility_id || product_id);
    ANALYZE facility, product, product_facility";

#[tokio::test]
async fn reads_nested_pages_along_their_indexes() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    let client = connect_like_server(&database).await;
    let runner = QueryRunner::new(&database);
    let items = |page: &str| {
        format!(
            "{{ orders(first: 2, sortKey: ORDER_ID, query: \"orderId:MANY000001\") {{ edges {{ node {{ orderItems({page}) {{ \
                 edges {{ cursor node {{ quantity }} }} pageInfo {{ hasNextPage hasPreviousPage }} }} }} }} }} }}"
        )
    };
    let query = r#"{ order(orderId: "MANY000001") { orderItems(first: 1) { edges { cursor } } } }"#;
    let cursor = runner.data(query).await["order"]["orderItems"]["edges"][0]["cursor"].to_string();
    for (query, most) in [
        // An order of three items. The page reads one row more than its size.
        (items("first: 5"), 3.0),
        (items("first: 1"), 2.0),
        (items("last: 1"), 2.0),
        // There are two items after the cursor and none before it, and one row tells whether there are items on the other side.
        (items(&format!("first: 5, after: {cursor}")), 2.0 + 1.0),
        (items(&format!("last: 5, before: {cursor}")), 1.0),
    ] {
        let plan = explain(&runner, &client, &query).await;
        let indexes = [
            "pk_order_header",
            "oql_order_header_in_order_id_order",
            "pk_item_place",
            "oql_item_place_of_ship_group",
            "pk_order_item",
        ];
        assert!(scans_only(&plan, &indexes), "{query}\n{}", plan.text());
        assert!(scanned_rows(&plan) <= 1.0 + most, "{} rows\n{query}\n{}", scanned_rows(&plan), plan.text());
        // Nested pages are read in the parents' order.
        assert!(!has_sort(&plan), "{query}\n{}", plan.text());
    }
}

#[tokio::test]
async fn reads_only_the_rows_that_a_search_finds_by_an_index() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(ORDERS).await.unwrap();
    let client = connect_like_server(&database).await;
    let runner = QueryRunner::new(&database);
    for (term, most) in [
        // Counted, read, and read once more by its key, with the page's fields.
        ("externalId:X777", 3.0),
        ("orderId:MANY000001,MANY000002", 4.0),
        ("externalId:NONE", 0.0),
    ] {
        let query = format!("{{ orders(first: 20, query: \"{term}\") {{ edges {{ node {{ orderId }} }} }} }}");
        let plan = explain(&runner, &client, &query).await;
        assert!(scanned_rows(&plan) <= most, "{} rows\n{query}\n{}", scanned_rows(&plan), plan.text());
    }
}

#[tokio::test]
async fn reads_joined_tables_by_their_keys_at_any_offset() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(STOCK).await.unwrap();
    let client = connect_like_server(&database).await;
    let runner = QueryRunner::new(&database);
    let query = r#"{ inventoryLevels(first: 1, query: "productId:STOCK19000") { edges { cursor } } }"#;
    let cursor = runner.data(query).await["inventoryLevels"]["edges"][0]["cursor"].to_string();
    let levels = format!(
        "inventoryLevels(first: 20, after: {cursor}) {{ edges {{ node {{ quantityOnHand product {{ productName }} }} }} }}"
    );
    for query in [
        format!("{{ {levels} }}"),
        r"{ inventoryLevels(first: 20) { edges { node { product { productName } } } } }".to_owned(),
        r"{ inventoryLevels(last: 20, sortKey: FACILITY_ID) { edges { node { product { productName } } } } }"
            .to_owned(),
    ] {
        let plan = explain(&runner, &client, &query).await;
        // A row of each of three tables for each row of the page.
        assert!(scanned_rows(&plan) <= 3.0 * 21.0, "{} rows\n{query}\n{}", scanned_rows(&plan), plan.text());
    }
}

#[tokio::test]
async fn reads_only_a_page_of_the_products_of_a_facility() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(FACILITIES).await.unwrap();
    let client = connect_like_server(&database).await;
    let runner = QueryRunner::new(&database);
    for page in ["first: 20", "last: 20"] {
        let levels = format!(
            "inventoryLevels({page}) {{ edges {{ node {{ productId minimumStock facility {{ facilityName }} }} }} }}"
        );
        let query = format!("{{ facility(facilityId: \"FAR070\") {{ facilityName {levels} }} }}");
        let plan = explain(&runner, &client, &query).await;
        assert!(!has_sort(&plan), "{query}\n{}", plan.text());
        // The facility, and a row of each of two tables for each row of the page.
        assert!(scanned_rows(&plan) <= 1.0 + 2.0 * 21.0, "{} rows\n{query}\n{}", scanned_rows(&plan), plan.text());
    }
}

/// PostgreSQL's plan for the statement of a query.
async fn explain(runner: &QueryRunner, client: &Client, query: &str) -> PlanNode {
    let compiled = runner.compile(query, Variables::new());
    query_plan::explain(client, &compiled.plan).await
}

/// The number of rows that the scans of a plan returned. Panics if they discarded any.
fn scanned_rows(plan: &PlanNode) -> f64 {
    let nodes = plan.all();
    assert!(nodes.iter().all(|node| node.discarded_rows() == 0.0), "{}", plan.text());
    nodes.iter().filter(|node| node.is_scan() || node.index().is_some()).map(PlanNode::returned_rows).sum()
}

fn has_sort(plan: &PlanNode) -> bool {
    plan.all().iter().any(PlanNode::is_sort)
}

/// Whether the plan has scans, all of them of these indexes.
fn scans_only(plan: &PlanNode, indexes: &[&str]) -> bool {
    let is_of = |node: PlanNode| node.index().is_some_and(|index| indexes.contains(&index));
    let scans = plan.all().into_iter().filter(PlanNode::is_scan).map(is_of);
    let scans: Vec<_> = scans.collect();
    !scans.is_empty() && scans.iter().all(|is_of_index| *is_of_index)
}
