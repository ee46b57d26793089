//! Responses for the orders of `tests/data`: rules about several rows or tables, and exact values.

use serde_json::{Value, json};

use crate::support::database::loaded_database;
use crate::support::query_runner::QueryRunner;

#[tokio::test]
async fn the_items_of_an_order_are_those_of_its_ship_groups_and_no_group_is_empty() {
    let database = loaded_database().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    let item = "edges { node { orderItemSeqId externalId productId quantity } } pageInfo { hasNextPage }";
    let data = runner
        .data(&format!(
            "{{ orders(first: 1000) {{ edges {{ node {{ orderId orderItemCount orderItems(first: 100) {{ {item} }} \
             shipGroups(first: 100) {{ edges {{ node {{ shipGroupSeqId orderItems(first: 100) {{ {item} }} }} }} }} }} }} }} }}"
        ))
        .await;
    let orders = nodes(&data["orders"]);
    let count = "SELECT count(*), (SELECT count(*) FROM order_item) FROM order_header";
    let row = client.query_one(count, &[]).await.unwrap();
    assert_eq!(i64::try_from(orders.len()).unwrap(), row.get::<_, i64>(0));
    let mut items = 0;
    for order in &orders {
        let flat = nodes(&order["orderItems"]);
        items += flat.len();
        let groups = nodes(&order["shipGroups"]);
        let mut grouped = Vec::new();
        for group in &groups {
            let items = nodes(&group["orderItems"]);
            assert!(!items.is_empty(), "{group:#}");
            grouped.extend(items);
        }
        let key = |item: &Value| item["orderItemSeqId"].as_str().unwrap().to_owned();
        grouped.sort_by_key(key);
        // One order of OFBiz has no ship groups, and some items of tests/data/orders have none yet.
        let unassigned = "SELECT order_item_seq_id FROM order_item WHERE order_id = $1 AND ship_group_seq_id IS NULL";
        let unassigned = client.query(unassigned, &[&order["orderId"].as_str().unwrap()]).await.unwrap();
        let unassigned: Vec<String> = unassigned.iter().map(|row| row.get(0)).collect();
        let assigned: Vec<_> = flat.iter().filter(|item| !unassigned.contains(&key(item))).cloned().collect();
        assert_eq!(grouped, assigned, "{order:#}");
        // The count is of distinct external ids, so items without one do not count.
        let lines: std::collections::BTreeSet<_> = flat.iter().filter_map(|item| item["externalId"].as_str()).collect();
        assert_eq!(order["orderItemCount"], lines.len(), "{order:#}");
    }
    assert_eq!(i64::try_from(items).unwrap(), row.get::<_, i64>(1));
}

#[tokio::test]
async fn counts_a_split_line_once_and_omits_its_empty_ship_group() {
    let database = loaded_database().await;
    let runner = QueryRunner::new(&database);
    let query = r#"{ order(externalId: "SC-1001") {
        orderId orderDate orderItemCount grandTotal currencyUomId billToCustomer { firstName lastName }
        orderItems(first: 10) { edges { node { orderItemSeqId externalId quantity unitPrice shipGroupSeqId order { orderItemCount } } } }
        shipGroups(first: 10) { edges { node { shipGroupSeqId maySplit isGift estimatedShipDate shippingMethod { shipmentMethodTypeId }
            orderItems(first: 10) { edges { node { orderItemSeqId } } } } } }
        adjustments(first: 10) { edges { node { orderAdjustmentId amount } } }
        statuses(first: 10) { edges { node { orderStatusId statusDatetime } } }
    } }"#;
    let result = runner.run(query, serde_json::Map::new()).await;
    let order = &result.data()["order"];
    assert_eq!(order["orderId"], "ORDER_SPLIT");
    assert_eq!(order["orderItemCount"], 2);
    // Microseconds and scales are those in the database.
    assert_eq!(order["orderDate"], "2026-03-01T10:00:00.123456Z");
    assert_eq!(order["grandTotal"], "79.96");
    let expected = [
        json!({ "orderItemSeqId": "00001", "externalId": "SC-LINE-1", "quantity": "2.000000", "unitPrice": "19.990",
            "shipGroupSeqId": "00001", "order": { "orderItemCount": 2 } }),
        json!({ "orderItemSeqId": "00002", "externalId": "SC-LINE-1", "quantity": "1.000000", "unitPrice": "19.990",
            "shipGroupSeqId": "00002", "order": { "orderItemCount": 2 } }),
        json!({ "orderItemSeqId": "00003", "externalId": "SC-LINE-2", "quantity": "1.500000", "unitPrice": "9.995",
            "shipGroupSeqId": "00001", "order": { "orderItemCount": 2 } }),
    ];
    assert_eq!(nodes(&order["orderItems"]), expected);
    let item = |id: &str| json!({ "node": { "orderItemSeqId": id } });
    let expected = [
        json!({ "shipGroupSeqId": "00001", "maySplit": true, "isGift": true, "estimatedShipDate": "2026-03-02T00:00:00Z",
            "shippingMethod": { "shipmentMethodTypeId": "STANDARD" },
            "orderItems": { "edges": [item("00001"), item("00003")] } }),
        json!({ "shipGroupSeqId": "00002", "maySplit": true, "isGift": false, "estimatedShipDate": null,
            "shippingMethod": { "shipmentMethodTypeId": "STANDARD" }, "orderItems": { "edges": [item("00002")] } }),
    ];
    assert_eq!(nodes(&order["shipGroups"]), expected);
    let amounts: Vec<_> = nodes(&order["adjustments"]).iter().map(|node| node["amount"].clone()).collect();
    assert_eq!(amounts, [json!("-0.005"), json!("5.000")]);
    let dates: Vec<_> = nodes(&order["statuses"]).iter().map(|node| node["statusDatetime"].clone()).collect();
    assert_eq!(dates, ["2026-03-01T10:00:00.123456Z", "2026-03-01T10:00:00.123457Z", "2026-03-01T10:00:02Z"]);
    assert!(result.actual_cost() < result.compiled.estimate.cost());
}

#[tokio::test]
async fn numbers_and_timestamps_are_exact() {
    let database = loaded_database().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    let numbers = ["0", "-0.01", "0.10", "9999999999999999.99", "-9999999999999999.99", "1000000.00", "0.00"];
    let timestamps = [
        "1970-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999Z",
        "2000-01-01T00:00:00.000001Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "2026-02-28T23:59:60Z",
        "2024-02-29T12:00:00.5Z",
    ];
    for (number, timestamp) in numbers.iter().zip(&timestamps) {
        let insert = format!(
            "INSERT INTO order_header (order_id, status_id, grand_total, order_date) \
             VALUES ('EXACT' || (SELECT count(*) FROM order_header), 'ORDER_HELD', {number}, '{timestamp}')"
        );
        client.batch_execute(&insert).await.unwrap();
    }
    let expected = "SELECT order_id, grand_total::text, \
        to_char(order_date AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US') FROM order_header \
        WHERE order_id LIKE 'EXACT%' ORDER BY order_id";
    let expected = client.query(expected, &[]).await.unwrap();
    let ids: Vec<String> = expected.iter().map(|row| row.get(0)).collect();
    let query = format!(
        "{{ orders(first: 100, sortKey: ORDER_ID, query: \"orderId:{}\") \
         {{ edges {{ node {{ orderId grandTotal orderDate }} }} }} }}",
        ids.join(",")
    );
    let data = runner.data(&query).await;
    let orders = nodes(&data["orders"]);
    assert_eq!(orders.len(), numbers.len());
    for (row, node) in expected.iter().zip(orders) {
        assert_eq!(node["grandTotal"], row.get::<_, &str>(1), "{node}");
        // Responses omit trailing zeros of a fraction.
        let timestamp: String = row.get(2);
        let shortened = format!("{}Z", timestamp.trim_end_matches('0').trim_end_matches('.'));
        assert_eq!(node["orderDate"], shortened, "{node}");
    }
}

/// One statement returns the pages of many parents in the parents' order, even if PostgreSQL has little memory to sort.
#[tokio::test]
async fn many_large_pages_stay_in_order_with_little_memory() {
    let database = loaded_database().await;
    let client = database.connect().await;
    let many = "INSERT INTO order_header (order_id, status_id) SELECT 'P' || lpad(n::text, 3, '0'), 'ORDER_HELD' \
            FROM generate_series(0, 99) AS n;
        INSERT INTO order_item (order_id, order_item_seq_id, item_description) \
            SELECT 'P' || lpad((n % 100)::text, 3, '0'), lpad((n / 100)::text, 5, '0'), repeat('x', 200) \
            FROM generate_series(0, 11999) AS n ORDER BY md5(n::text)";
    client.batch_execute(many).await.unwrap();
    let mut config = database.config();
    config.options("-c work_mem=64kB");
    let runner = QueryRunner::with_config(&config);
    for (page, seqs) in [("first: 100", 0..100), ("last: 100", 20..120)] {
        let ids: Vec<_> = (0..100).map(|n| format!("P{n:03}")).collect();
        let query = format!(
            "{{ orders(first: 100, sortKey: ORDER_ID, reverse: true, query: \"orderId:{}\") {{ edges {{ node {{ orderId \
             orderItems({page}) {{ edges {{ node {{ orderId orderItemSeqId itemDescription }} }} }} }} }} }} }}",
            ids.join(",")
        );
        let data = runner.data(&query).await;
        let orders = nodes(&data["orders"]);
        assert_eq!(orders.len(), 100);
        for (order, number) in orders.iter().zip((0..100).rev()) {
            assert_eq!(order["orderId"], format!("P{number:03}"));
            let items = nodes(&order["orderItems"]);
            let found: Vec<_> = items.iter().map(|item| item["orderItemSeqId"].as_str().unwrap().to_owned()).collect();
            let expected: Vec<_> = seqs.clone().map(|seq| format!("{seq:05}")).collect();
            assert_eq!(found, expected);
            assert!(items.iter().all(|item| item["orderId"] == order["orderId"]));
        }
    }
}

#[tokio::test]
async fn stock_is_never_null() {
    let database = loaded_database().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    let query = "{ inventoryLevels(first: 1000) { edges { node { productId facilityId quantityOnHand availableToPromise } } } }";
    let result = runner.run(query, serde_json::Map::new()).await;
    assert_eq!(result.nullability_violations, 0);
    let data = result.data();
    let levels = nodes(&data["inventoryLevels"]);
    let pairs: i64 = client.query_one("SELECT count(*) FROM product_facility", &[]).await.unwrap().get(0);
    assert_eq!(i64::try_from(levels.len()).unwrap(), pairs);
    assert!(levels.iter().any(|level| level["quantityOnHand"] == "0.000000"), "some product is sold out");
    for level in levels {
        assert!(level["quantityOnHand"].is_string() && level["availableToPromise"].is_string(), "{level}");
    }
}

fn nodes(connection: &Value) -> Vec<Value> {
    connection["edges"].as_array().unwrap().iter().map(|edge| edge["node"].clone()).collect()
}
