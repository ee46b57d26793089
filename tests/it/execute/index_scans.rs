//! How PostgreSQL runs the pages of a large table: down an index to the page's first row and along it, whatever page of the
//! walk, with no row sorted.

use orderql::database::connect::connect;
use orderql::database::session::reader_settings;
use orderql::plan::request_plan::{Parameter, Plan};
use orderql::query::Variables;
use orderql::value::Value;
use serde_json::Value as Json;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::support::database::{Database, loaded_database};
use crate::support::query_runner::QueryRunner;

/// Twenty thousand orders with three items each: names and totals repeat, and every tenth has neither date, name nor total.
const MANY: &str = "
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
    ANALYZE order_header, order_item";

/// Twenty thousand products, each with stock at one facility.
const STOCK: &str = "
    INSERT INTO product (product_id, product_name) SELECT 'STOCK' || lpad(n::text, 5, '0'), 'Product ' || n
    FROM generate_series(1, 20000) AS n;
    INSERT INTO inventory_item (inventory_item_id, product_id, facility_id, quantity_on_hand_total)
    SELECT product_id, product_id, 'STORE_BROADWAY', 4 FROM product WHERE product_id LIKE 'STOCK%';
    INSERT INTO product_facility (product_id, facility_id, inventory_item_id)
    SELECT product_id, 'STORE_BROADWAY', product_id FROM product WHERE product_id LIKE 'STOCK%';
    ANALYZE product, inventory_item, product_facility";

/// Two hundred facilities that have each of five hundred products. What a facility has lies together, in no order.
const FACILITIES: &str = "
    INSERT INTO facility (facility_id, facility_type_id) SELECT 'FAR' || lpad(n::text, 3, '0'), 'WAREHOUSE'
    FROM generate_series(1, 200) AS n;
    INSERT INTO product (product_id) SELECT 'FAR' || lpad(n::text, 3, '0') FROM generate_series(1, 500) AS n;
    INSERT INTO product_facility (product_id, facility_id)
    SELECT product_id, f.facility_id FROM facility AS f JOIN product ON product_id LIKE 'FAR%'
    WHERE f.facility_id LIKE 'FAR%' ORDER BY f.facility_id, md5(f.facility_id || product_id);
    ANALYZE facility, product, product_facility";

#[tokio::test]
async fn pages_of_orders_are_read_along_an_index_wherever_they_lie() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(MANY).await.unwrap();
    let client = reader(&database).await;
    let runner = QueryRunner::new(&database);
    for (sort_key, column, index) in [
        ("ORDER_DATE", "order_date", "oql_order_header_by_order_date"),
        ("ORDER_ID", "order_id", "pk_order_header"),
        ("ORDER_NAME", "order_name", "oql_order_header_by_order_name"),
        ("GRAND_TOTAL", "grand_total", "oql_order_header_by_grand_total"),
    ] {
        for reverse in [false, true] {
            for place in [None, Some(10_000), Some(17_500), Some(19_500)] {
                let direction = if reverse { "DESC" } else { "ASC" };
                for page in ["first: 20, after", "last: 20, before"] {
                    let cursor = match place {
                        None => "null".to_owned(),
                        Some(place) => cursor(&runner, &client, sort_key, column, direction, place).await,
                    };
                    let query = format!(
                        "{{ orders(sortKey: {sort_key}, reverse: {reverse}, {page}: {cursor}) {{ \
                         edges {{ node {{ orderId statusId }} }} \
                         pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"
                    );
                    let plan = plan(&runner, &client, &query, 0).await;
                    let name = format!("{query}\n{plan:#}");
                    let nodes = nodes(&plan);
                    assert!(nodes.iter().all(|node| !node.contains("Sort")), "{name}");
                    let scans: Vec<_> = nodes.iter().filter(|node| node.contains("Scan on")).collect();
                    assert!(!scans.is_empty(), "{name}");
                    assert!(scans.iter().all(|scan| scan.contains(index)), "{scans:?} {name}");
                    // No page reads more than its rows from each segment, and one for each thing that is asked beyond it.
                    assert_eq!(numbers(&plan, "Rows Removed by Filter"), 0, "{name}");
                    assert_eq!(numbers(&plan, "Rows Removed by Index Recheck"), 0, "{name}");
                    assert!(scanned(&plan) <= 2.0 * 21.0 + 2.0, "{name}");
                }
            }
        }
    }
}

#[tokio::test]
async fn indexed_search_keys_and_nested_pages_are_read_along_their_indexes() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(MANY).await.unwrap();
    let client = reader(&database).await;
    let runner = QueryRunner::new(&database);
    let items = |page: &str| {
        format!(
            "{{ orders(first: 2) {{ edges {{ node {{ orderItems({page}) {{ edges {{ cursor node {{ quantity }} }} \
                 pageInfo {{ hasNextPage hasPreviousPage }} }} }} }} }} }}"
        )
    };
    let query = r#"{ order(orderId: "MANY000001") { orderItems(first: 1) { edges { cursor } } } }"#;
    let cursor = runner.data(query).await["order"]["orderItems"]["edges"][0]["cursor"].to_string();
    let search =
        |term: &str| format!("{{ orders(first: 20, query: \"{term}\") {{ edges {{ node {{ orderId }} }} }} }}");
    for (query, step, index, most) in [
        (search("externalId:X777"), 0, "oql_order_header_with_external_id", 1.0),
        (search("orderId:MANY000001,MANY000002"), 0, "pk_order_header", 2.0),
        // Two parents of three items each; one more is read than is asked for.
        (items("first: 5"), 1, "pk_order_item", 6.0),
        (items("first: 1"), 1, "pk_order_item", 4.0),
        (items("last: 1"), 1, "pk_order_item", 4.0),
        // Two of each parent lie behind the cursor, none before it; and whether there is one on its other side.
        (items(&format!("first: 5, after: {cursor}")), 1, "pk_order_item", 4.0 + 2.0),
        (items(&format!("last: 5, before: {cursor}")), 1, "pk_order_item", 2.0),
    ] {
        let plan = plan(&runner, &client, &query, step).await;
        let nodes = nodes(&plan);
        let scans: Vec<_> = nodes.iter().filter(|node| node.contains("Scan on")).collect();
        assert!(!scans.is_empty() && scans.iter().all(|scan| scan.contains(index)), "{query}\n{plan:#}");
        assert_eq!(numbers(&plan, "Rows Removed by Filter"), 0, "{query}\n{plan:#}");
        assert!(scanned(&plan) <= most, "{} rows\n{query}\n{plan:#}", scanned(&plan));
        // Nested pages arrive in their parents' order by themselves. What a search finds has to be sorted.
        assert_eq!(nodes.iter().any(|node| node.contains("Sort")), step == 0, "{query}\n{plan:#}");
    }
}

#[tokio::test]
async fn joined_tables_are_read_by_their_keys_however_deep_the_page_lies() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(STOCK).await.unwrap();
    let client = reader(&database).await;
    let runner = QueryRunner::new(&database);
    let query = r#"{ inventoryLevels(first: 1, query: "productId:STOCK19000") { edges { cursor } } }"#;
    let cursor = runner.data(query).await["inventoryLevels"]["edges"][0]["cursor"].to_string();
    let levels = format!(
        "inventoryLevels(first: 20, after: {cursor}) {{ edges {{ node {{ quantityOnHand product {{ productName }} }} }} }}"
    );
    for (query, step) in [
        (format!("{{ {levels} }}"), 0),
        (r"{ inventoryLevels(first: 20) { edges { node { product { productName } } } } }".to_owned(), 0),
        (
            r"{ inventoryLevels(last: 20, sortKey: FACILITY_ID) { edges { node { product { productName } } } } }"
                .to_owned(),
            0,
        ),
    ] {
        let plan = plan(&runner, &client, &query, step).await;
        assert_eq!(numbers(&plan, "Rows Removed by Filter"), 0, "{query}\n{plan:#}");
        // A row of each table for each of the page.
        assert!(scanned(&plan) <= 3.0 * 21.0, "{} rows\n{query}\n{plan:#}", scanned(&plan));
    }
}

#[tokio::test]
async fn a_page_of_what_a_facility_has_does_not_read_all_that_it_has() {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(FACILITIES).await.unwrap();
    let client = reader(&database).await;
    let runner = QueryRunner::new(&database);
    for page in ["first: 20", "last: 20"] {
        let levels = format!(
            "inventoryLevels({page}) {{ edges {{ node {{ productId minimumStock facility {{ facilityName }} }} }} }}"
        );
        let query = format!("{{ facility(facilityId: \"FAR070\") {{ facilityName {levels} }} }}");
        let plan = plan(&runner, &client, &query, 1).await;
        assert!(!nodes(&plan).iter().any(|node| node.contains("Sort")), "{query}\n{plan:#}");
        // A row of each table for each of the page.
        assert!(scanned(&plan) <= 2.0 * 21.0, "{} rows\n{query}\n{plan:#}", scanned(&plan));
    }
}

/// A connection that is set as the server's are.
async fn reader(database: &Database) -> Client {
    let mut config = database.config();
    config.options(reader_settings(""));
    connect(&config).await.unwrap()
}

/// The cursor of the order at that place of the walk, read from the page that holds it.
async fn cursor(
    runner: &QueryRunner,
    client: &Client,
    sort_key: &str,
    column: &str,
    direction: &str,
    place: i64,
) -> String {
    let sql = format!(
        "SELECT order_id FROM order_header ORDER BY {column} {direction}, order_id {direction} OFFSET $1 LIMIT 1"
    );
    let id: String = client.query_one(&sql, &[&place]).await.unwrap().get(0);
    let reverse = direction == "DESC";
    let query = format!(
        "{{ orders(first: 1, sortKey: {sort_key}, reverse: {reverse}, query: \"orderId:{id}\") {{ edges {{ cursor }} }} }}"
    );
    runner.data(&query).await["orders"]["edges"][0]["cursor"].to_string()
}

/// PostgreSQL's plan of a query's step.
async fn plan(runner: &QueryRunner, client: &Client, query: &str, step: usize) -> Json {
    let compiled = runner.compile(query, Variables::new());
    client.batch_execute("DEALLOCATE ALL").await.unwrap();
    client.batch_execute(&format!("PREPARE step AS {}", compiled.plan.steps()[step].sql)).await.unwrap();
    let explain =
        format!("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE step({})", arguments(&compiled.plan, step));
    let rows = client.simple_query(&explain).await.unwrap();
    let text = rows.iter().find_map(|row| match row {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    serde_json::from_str(text.unwrap()).unwrap()
}

fn arguments(plan: &Plan, step: usize) -> String {
    let argument = |parameter: Parameter<'_>| match parameter {
        Parameter::Value(None) => "NULL".to_owned(),
        Parameter::Value(Some(Value::Text(text))) => format!("'{}'", text.replace('\'', "''")),
        Parameter::Value(Some(Value::Int(number))) => number.to_string(),
        Parameter::Value(Some(Value::Decimal(number))) => number.to_string(),
        Parameter::Value(Some(Value::Boolean(truth))) => truth.to_string(),
        Parameter::Value(Some(Value::DateTime(moment))) => {
            format!("timestamptz 'epoch' + {} * interval '1 microsecond'", moment.0)
        }
        Parameter::Limit(rows) => rows.to_string(),
        Parameter::Values(_) | Parameter::ParentKeys(_) => "'{MANY000001,MANY000002}'".to_owned(),
    };
    plan.parameters(step).map(argument).collect::<Vec<_>>().join(", ")
}

/// Every node of a plan: its type, and its index or relation.
fn nodes(plan: &Json) -> Vec<String> {
    let mut nodes = Vec::new();
    match plan {
        Json::Array(parts) => parts.iter().for_each(|part| nodes.extend(self::nodes(part))),
        Json::Object(fields) => {
            if let Some(Json::String(kind)) = fields.get("Node Type") {
                let on = fields.get("Index Name").or_else(|| fields.get("Relation Name")).and_then(Json::as_str);
                nodes.push(on.map_or_else(|| kind.clone(), |on| format!("{kind} on {on}")));
            }
            fields.values().for_each(|value| nodes.extend(self::nodes(value)));
        }
        _ => {}
    }
    nodes
}

/// The sum of a number over all nodes of a plan.
fn numbers(plan: &Json, name: &str) -> u64 {
    match plan {
        Json::Array(parts) => parts.iter().map(|part| numbers(part, name)).sum(),
        Json::Object(fields) => {
            let own = fields.get(name).and_then(Json::as_u64).unwrap_or(0);
            own + fields.values().map(|value| numbers(value, name)).sum::<u64>()
        }
        _ => 0,
    }
}

/// How many rows of tables a plan reads.
fn scanned(plan: &Json) -> f64 {
    match plan {
        Json::Array(parts) => parts.iter().map(scanned).sum(),
        Json::Object(fields) => {
            let is_scan = fields.contains_key("Index Name") || fields.contains_key("Relation Name");
            let number = |name: &str| fields.get(name).and_then(Json::as_f64).unwrap_or(0.0);
            let own = if is_scan { number("Actual Rows") * number("Actual Loops") } else { 0.0 };
            own + fields.values().map(scanned).sum::<f64>()
        }
        _ => 0.0,
    }
}
