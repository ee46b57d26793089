//! Callers who see the rows of some stores or facilities, on a running server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, sampled_database};
use crate::support::http::{Response, bearer, graphql_head, with_body};
use crate::support::server::{Server, connection_string, wait_until};
use crate::support::users::{UNLIMITED_PROFILE, create_users};

/// Runs a command that changes accounts.
fn command(database: &Database, arguments: &str) -> String {
    let result = run(orderql_on(database).args(arguments.split(' ')), "");
    assert!(result.succeeded, "{arguments}: {}", result.stderr);
    result.stdout
}

/// Adds the users `demo`, who sees all rows, and `store`, whose group STORES has all stores and no facility.
async fn add_users(database: &Database) {
    create_users(&mut database.connect().await, &[("demo", UNLIMITED_PROFILE), ("store", UNLIMITED_PROFILE)]).await;
    for arguments in [
        "group add STORES",
        "grant add STORES /graphql",
        "grant add STORES /api/updateOrder",
        "group join STORES store",
        "group leave API store",
        "group scope STORES store *",
    ] {
        command(database, arguments);
    }
}

/// The values of a column, those of most rows first.
async fn values(database: &Database, column: &str, relation: &str) -> Vec<String> {
    let select =
        format!("SELECT {column} FROM {relation} WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1");
    database.connect().await.query(&select, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

fn nodes(response: &Response, root: &str, field: &str) -> Vec<Value> {
    let edges =
        response.json()["data"][root]["edges"].as_array().unwrap_or_else(|| panic!("{}", response.body)).clone();
    edges.iter().map(|edge| edge["node"][field].clone()).collect()
}

const ORDERS: &str =
    "{ orders(first: 40, countUpTo: 1000) { edges { node { productStoreId } } count pageInfo { endCursor } } }";

#[tokio::test(flavor = "multi_thread")]
async fn values_that_are_given_and_taken_reach_running_servers() {
    let database = sampled_database().await;
    add_users(&database).await;
    let mut stores = values(&database, "product_store_id", "order_header").await;
    stores.reverse();
    let server = Server::start(&database, &[]);
    let (token, demo) = (server.token("store"), server.token("demo"));
    let all = server.query(&demo, ORDERS);
    assert!(all.json()["data"].is_object(), "{}", all.body);
    assert_eq!(server.query(&token, ORDERS).json()["data"], all.json()["data"]);
    assert_eq!(all.json()["extensions"].get("scope"), None);

    let given = command(&database, &format!("group scope STORES store {}", stores[0]));
    assert_eq!(given, format!("STORES sees store {}\n", stores[0]));
    assert_eq!(command(&database, "group scope STORES store * --remove"), "STORES does not see store *\n");
    wait_until(|| server.query(&token, ORDERS).json()["extensions"].get("scope").is_some());
    let limited = server.query(&token, ORDERS);
    assert_eq!(limited.json()["extensions"]["scope"], json!({"store": [stores[0]]}));
    assert!(nodes(&limited, "orders", "productStoreId").iter().all(|store| *store == json!(stores[0])));
    let count = |response: &Response| response.json()["data"]["orders"]["count"].as_u64().unwrap();
    assert!((1..count(&all)).contains(&count(&limited)), "{}", limited.body);
    // The price is that of everybody.
    let cost = |response: &Response| response.json()["extensions"]["cost"]["requestedQueryCost"].clone();
    assert_eq!(cost(&limited), cost(&all));
    // What no scope reaches says nothing of it.
    let products = server.query(&token, "{ products(first: 1) { edges { node { productId } } } }");
    assert_eq!(products.json()["extensions"].get("scope"), None);

    // Of the values of several groups the caller has all.
    command(&database, "group add MORE");
    command(&database, &format!("group scope MORE store {} {}", stores[1], stores[0]));
    command(&database, "group join MORE store");
    wait_until(|| count(&server.query(&token, ORDERS)) > count(&limited));
    let audit = command(&database, "audit --json --limit 20");
    for expected in ["scope.added", "scope.removed", "store"] {
        assert!(audit.contains(expected), "{audit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_facility_is_seen_without_values_and_doctor_says_so() {
    let database = sampled_database().await;
    add_users(&database).await;
    let server = Server::start(&database, &[]);
    let query = "{ facilities(first: 5) { edges { node { facilityId } } } inventoryLevels(first: 5) { edges { node { facilityId } } }
        shipments(first: 5) { edges { node { shipmentId } } } orders(first: 1) { edges { node { orderItems(first: 5) { edges { cursor } } } } } }";
    let seen = server.query(&server.token("store"), query).json();
    for root in ["facilities", "inventoryLevels", "shipments"] {
        assert_eq!(seen["data"][root]["edges"], json!([]), "{seen}");
    }
    assert_eq!(seen["data"]["orders"]["edges"][0]["node"]["orderItems"]["edges"], json!([]));
    assert_eq!(seen["extensions"]["scope"], json!({"facility": []}));
    let database_url = connection_string(&database.config());
    let doctor = run(orderql_on(&database).args(["doctor", "--database-url", &database_url]), "");
    let expected = "the group STORES has no values in the scope facility";
    assert!(doctor.stdout.contains(expected), "{}{}", doctor.stdout, doctor.stderr);
    let explained = run(
        orderql_on(&database).args([
            "explain",
            "--as",
            "store",
            "--database-url",
            &database_url,
            "{ facilities(first: 2) { edges { node { facilityId } } } }",
        ]),
        "",
    );
    assert!(explained.stdout.contains("\"facility_id\" = ANY"), "{}{}", explained.stdout, explained.stderr);
    let listed = command(&database, "group scope STORES");
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let wrong = run(orderql_on(&database).args(["group", "scope", "STORES", "shop", "A"]), "");
    assert!(
        !wrong.succeeded && wrong.stderr.contains("the schema has no scope `shop`; it has: facility, store"),
        "{}",
        wrong.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_and_tokens_are_refused_when_the_rows_are_others() {
    let database = sampled_database().await;
    add_users(&database).await;
    let stores = values(&database, "product_store_id", "order_header").await;
    let server = Server::start(&database, &[]);
    let token = server.token("store");
    let cursor = |field: &str| {
        let query = format!("{{ {field}(first: 2) {{ pageInfo {{ endCursor }} }} }}");
        server.query(&token, &query).json()["data"][field]["pageInfo"]["endCursor"].as_str().unwrap().to_owned()
    };
    let after = |field: &str, cursor: &str| {
        server.query(&token, &format!("{{ {field}(first: 2, after: \"{cursor}\") {{ pageInfo {{ endCursor }} }} }}"))
    };
    let is_refused = |field: &str, cursor: &str| {
        let response = after(field, cursor);
        if response.code() == "BAD_USER_INPUT" {
            assert!(response.body.contains("made when other rows could be seen"), "{}", response.body);
        }
        response.code() == "BAD_USER_INPUT"
    };
    let (orders, changes, products) = (cursor("orders"), cursor("orderChanges"), cursor("products"));
    assert!(!is_refused("orders", &orders) && !is_refused("orderChanges", &changes));
    command(&database, &format!("group scope STORES store {}", stores[0]));
    command(&database, "group scope STORES store * --remove");
    wait_until(|| is_refused("orders", &orders));
    assert!(is_refused("orderChanges", &changes));
    assert!(!is_refused("products", &products), "no scope limits products");
    let (limited, changes) = (cursor("orders"), cursor("orderChanges"));
    assert!(!is_refused("orders", &limited) && !is_refused("orderChanges", &changes));
    command(&database, &format!("group scope STORES store {}", stores[1]));
    wait_until(|| is_refused("orders", &limited));
    assert!(is_refused("orderChanges", &changes));
    let both = cursor("orders");
    command(&database, "group scope STORES store *");
    wait_until(|| is_refused("orders", &both));
    assert!(!is_refused("orders", &orders), "the rows are those that it was made for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_a_row_that_is_not_seen_cannot_be_read() {
    let database = sampled_database().await;
    add_users(&database).await;
    command(&database, "group scope STORES facility *");
    command(&database, "group scope STORES store NONE");
    command(&database, "group scope STORES store * --remove");
    let server = Server::start(&database, &["--search-window", "100"]);
    let page = server.query(
        &server.token("store"),
        "{ inventoryReservations(first: 5, sortKey: ORDER_ID) { edges { cursor } pageInfo { hasNextPage endCursor } } }",
    );
    let page = &page.json()["data"]["inventoryReservations"];
    assert_eq!((&page["edges"], &page["pageInfo"]["hasNextPage"]), (&json!([]), &json!(true)));
    let cursor = page["pageInfo"]["endCursor"].as_str().unwrap();
    let order: String = database
        .connect()
        .await
        .query_one("SELECT min(order_id) FROM order_item_ship_grp_inv_res", &[])
        .await
        .unwrap()
        .get(0);
    let tells = |cursor: &str| {
        let bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap();
        bytes.windows(order.len() - 2).any(|window| order.as_bytes().starts_with(window))
    };
    let open = server.query(
        &server.token("demo"),
        "{ inventoryReservations(first: 5, sortKey: ORDER_ID) { pageInfo { endCursor } } }",
    );
    assert!(tells(open.json()["data"]["inventoryReservations"]["pageInfo"]["endCursor"].as_str().unwrap()));
    assert!(!tells(cursor));
}

/// The ids of all rows of a list, page by page.
fn all_rows(server: &Server, token: &str, root: &str, field: &str) -> Vec<String> {
    let (mut rows, mut after) = (Vec::new(), Value::Null);
    loop {
        let query = format!(
            "{{ {root}(first: 100, after: {after}) {{ edges {{ node {{ {field} }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
        );
        let response = server.query(token, &query);
        rows.extend(nodes(&response, root, field).iter().map(|id| id.as_str().unwrap().to_owned()));
        let page = response.json()["data"][root]["pageInfo"].take();
        if page["hasNextPage"] == false {
            rows.sort();
            return rows;
        }
        after = page["endCursor"].clone();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_moves_and_departures_are_those_of_a_callers_stores_and_facilities() {
    let database = sampled_database().await;
    add_users(&database).await;
    let client = database.connect().await;
    let payments = "INSERT INTO payment (payment_id, payment_preference_id, effective_date)
        SELECT 'M' || order_payment_preference_id, order_payment_preference_id, created_date FROM order_payment_preference
        UNION ALL SELECT 'BARE', NULL, '2025-12-01'";
    client.batch_execute(payments).await.unwrap();
    let store = values(&database, "product_store_id", "order_header").await.remove(0);
    let facility = values(&database, "origin_facility_id", "shipment").await.remove(0);
    command(&database, &format!("group scope STORES store {store}"));
    command(&database, "group scope STORES store * --remove");
    command(&database, &format!("group scope STORES facility {facility}"));
    let server = Server::start(&database, &[]);
    let token = server.token("store");
    let hidden = server.query(&token, "{ payments(first: 1) { edges { cursor } } }");
    assert_eq!(hidden.code(), "GRAPHQL_VALIDATION_FAILED", "{}", hidden.body);
    command(&database, "grant add STORES PAYMENTS");
    wait_until(|| server.query(&token, "{ payments(first: 1) { edges { cursor } } }").json().get("errors").is_none());

    let of_store = format!("JOIN order_header AS o USING (order_id) WHERE o.product_store_id = '{store}'");
    for (root, field, id, from) in [
        (
            "payments",
            "paymentId",
            "payment_id",
            format!("payment JOIN order_payment_preference ON order_payment_preference_id = payment_preference_id {of_store}"),
        ),
        (
            "paymentPreferences",
            "orderPaymentPreferenceId",
            "order_payment_preference_id",
            format!("order_payment_preference {of_store}"),
        ),
        ("orderAdjustments", "orderAdjustmentId", "order_adjustment_id", {
            let seen = |table: &str, own: &str| {
                format!("(a.{own} IS NULL OR a.{own} = '_NA_' OR EXISTS (SELECT FROM {table} AS g WHERE g.order_id = a.order_id
                     AND g.{own} = a.{own} AND g.facility_id = '{facility}'))")
            };
            let line = seen("orderql.item_place", "order_item_seq_id");
            format!("order_adjustment AS a {of_store} AND {line} AND {}", seen("orderql.ship_group", "ship_group_seq_id"))
        }),
        (
            "facilityChanges",
            "orderFacilityChangeId",
            "order_facility_change_id",
            format!("order_facility_change AS c {of_store} AND '{facility}' IN (c.from_facility_id, c.facility_id)"),
        ),
        (
            "shippedShipments",
            "shipmentId",
            "s.shipment_id",
            format!(
                "shipment AS s JOIN order_header AS o ON o.order_id = s.primary_order_id
                 WHERE o.product_store_id = '{store}' AND '{facility}' IN (s.origin_facility_id, s.destination_facility_id)
                   AND EXISTS (SELECT FROM shipment_status AS t WHERE t.shipment_id = s.shipment_id AND t.status_id = 'SHIPMENT_SHIPPED')"
            ),
        ),
    ] {
        let sql = format!("SELECT {id} FROM {from}");
        let mut expected: Vec<String> = client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        expected.sort();
        assert!(!expected.is_empty(), "{sql}");
        assert_eq!(all_rows(&server, &token, root, field), expected, "{root}");
        assert!(all_rows(&server, &server.token("demo"), root, field).len() > expected.len(), "{root}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_an_order_that_is_not_seen_has_no_order() {
    let database = sampled_database().await;
    add_users(&database).await;
    let stores = values(&database, "product_store_id", "order_header").await;
    command(&database, &format!("group scope STORES store {}", stores[0]));
    command(&database, "group scope STORES store * --remove");
    let server = Server::start(&database, &[]);
    let token = server.token("store");
    let page = |after: &str| {
        let query = format!(
            "{{ orderChanges(first: 50{after}) {{ edges {{ node {{ orderId order {{ productStoreId }} }} }} pageInfo {{ endCursor }} }} }}"
        );
        server.query(&token, &query).json()["data"]["orderChanges"].clone()
    };
    let now = format!(", after: {}", page("")["pageInfo"]["endCursor"]);
    let client = database.connect().await;
    let update = "UPDATE order_header SET order_name = 'x' WHERE order_id IN (SELECT min(order_id) FROM order_header
        WHERE product_store_id = ANY ($1) GROUP BY product_store_id)";
    assert_eq!(client.execute(update, &[&&stores[..2]]).await.unwrap(), 2);
    wait_until(|| page(&now)["edges"].as_array().unwrap().len() == 2);
    let changes = page(&now)["edges"].clone();
    let mut seen: Vec<_> = changes.as_array().unwrap().iter().map(|edge| edge["node"]["order"].clone()).collect();
    seen.sort_by_key(Value::is_null);
    assert_eq!(seen, [json!({"productStoreId": stores[0]}), Value::Null]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_limited_cannot_have_a_query_analyzed() {
    let database = sampled_database().await;
    add_users(&database).await;
    command(&database, "grant add STORES /graphql/plan");
    let server = Server::start(&database, &[]);
    let token = server.token("store");
    let analyze = |query: &str| {
        let token = bearer(&token);
        let headers = [token.as_str(), "Content-Type: application/json", "GraphQL-Cost: analyze"];
        server.request("POST /rest/s1/graphql", &headers, json!({ "query": query }).to_string())
    };
    let refused = analyze("{ facilities(first: 1) { edges { node { facilityId } } } }");
    assert_eq!(refused.code(), "FORBIDDEN", "{}", refused.body);
    assert!(analyze("{ products(first: 1) { edges { node { productId } } } }").body.contains("\"plan\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_ends_when_its_caller_sees_other_rows() {
    let database = sampled_database().await;
    add_users(&database).await;
    // All pages take a minute.
    command(&database, "profile set store --max-cost 200 --bucket-size 200 --restore-rate 200");
    let server = Server::start(&database, &[]);
    let query =
        "query($after: String) { orders(first: 20, after: $after) { edges { node { orderId createdBy orderName statusId
        orderItems(first: 1) { edges { node { quantity } } } } } } }";
    let mut stream = server.connect();
    let body = json!({ "query": query }).to_string();
    let head = graphql_head(&server.token("store"), "application/x-ndjson");
    stream.write_all(with_body(&head, &body).as_bytes()).unwrap();
    let mut reader = BufReader::with_capacity(64, stream);
    let mut line = String::new();
    while !line.contains("orderId") {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    command(&database, "group scope STORES store * --remove");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let end = rest.lines().find(|line| line.contains("@end")).unwrap_or_else(|| panic!("{rest}"));
    assert!(end.contains("FORBIDDEN") && end.contains("changed meanwhile"), "{end}");
    assert!(end.contains("\"scope\":{\"facility\":[]}"), "{end}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_among_hidden_rows_examines_another_number_of_rows_in_each_request() {
    let database = sampled_database().await;
    add_users(&database).await;
    let facility = &values(&database, "facility_id", "order_item_ship_group").await[0];
    command(&database, &format!("group scope STORES facility {facility}"));
    command(&database, "grant add STORES /graphql/plan");
    let server = Server::start(&database, &[]);
    let token = bearer(&server.token("store"));
    let statement = || {
        let headers = [token.as_str(), "Content-Type: application/json", "GraphQL-Cost: plan"];
        let query = "{ shipments(first: 5) { edges { node { shipmentId } } } }";
        let response = server.request("POST /rest/s1/graphql", &headers, json!({ "query": query }).to_string());
        let statement = response.json()["extensions"]["plan"]["statement"].clone();
        (statement["sql"].clone(), statement["parameters"].clone())
    };
    let (sql, parameters) = statement();
    assert!(sql.is_string() && parameters.is_array(), "{sql} {parameters}");
    let others: Vec<_> = (0..5).map(|_| statement()).collect();
    assert!(others.iter().all(|(other, _)| *other == sql));
    assert!(others.iter().any(|(_, other)| *other != parameters), "{parameters}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_says_which_lists_below_its_nodes_ended_early() {
    let database = sampled_database().await;
    add_users(&database).await;
    let stores = values(&database, "product_store_id", "order_header").await;
    let [hidden, seen] = [&stores[0], &stores[1]];
    // A customer of 900 orders of a store that is not seen, then 100 of one that is; and one of the latter alone.
    let rows = format!(
        "INSERT INTO party (party_id, party_type_id) VALUES ('XBIG', 'PERSON'), ('XSMALL', 'PERSON');
         INSERT INTO party_role (party_id, role_type_id) VALUES ('XBIG', 'BILL_TO_CUSTOMER'), ('XSMALL', 'BILL_TO_CUSTOMER');
         INSERT INTO order_header (order_id, order_type_id, product_store_id)
           SELECT 'X' || lpad(n::text, 4, '0'), 'SALES_ORDER', CASE WHEN n <= 900 THEN '{hidden}' ELSE '{seen}' END
           FROM generate_series(1, 1010) AS n;
         INSERT INTO order_role (order_id, party_id, role_type_id)
           SELECT 'X' || lpad(n::text, 4, '0'), CASE WHEN n <= 1000 THEN 'XBIG' ELSE 'XSMALL' END, 'BILL_TO_CUSTOMER'
           FROM generate_series(1, 1010) AS n;"
    );
    database.connect().await.batch_execute(&rows).await.unwrap();
    command(&database, "group scope STORES facility *");
    command(&database, &format!("group scope STORES store {seen}"));
    command(&database, "group scope STORES store * --remove");
    let server = Server::start(&database, &["--search-window=100"]);
    let query = "{ parties(first: 1, query: \"partyId:XBIG,XSMALL\", sortKey: PARTY_ID) { edges { node { partyId
        orders(first: 10) { edges { node { orderId } } pageInfo { hasNextPage endCursor } } } } } }";
    let export = |user: &str| -> Vec<Value> {
        let token = bearer(&server.token(user));
        let headers = [token.as_str(), "Content-Type: application/json", "Accept: application/x-ndjson"];
        let response = server.request("POST /rest/s1/graphql", &headers, json!({ "query": query }).to_string());
        response.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let lines = export("store");
    let [big, short, small, end] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((&big["orders"]["edges"], &big["orders"]["pageInfo"]["hasNextPage"]), (&json!([]), &json!(true)));
    let rows = &short["@search"][0]["rowsExamined"];
    let entry = json!({ "node": 1, "path": ["orders"], "rowsExamined": rows, "inexact": ["hasNextPage"] });
    assert_eq!(short, &json!({ "@search": [entry] }));
    assert!((10..900).contains(&rows.as_u64().unwrap()), "{short}");
    assert_eq!(small["orders"]["edges"].as_array().unwrap().len(), 10);
    assert_eq!((&end["@end"]["complete"], &end["@end"]["shortNodes"]), (&json!(true), &json!(1)));

    // The list's own cursor leads to its rows.
    let (token, mut page) = (server.token("store"), big["orders"].clone());
    while page["edges"] == json!([]) {
        let rest = format!(
            "{{ party(partyId: \"XBIG\") {{ orders(first: 10, after: {}) {{ edges {{ node {{ orderId }} }}
                pageInfo {{ hasNextPage endCursor }} }} }} }}",
            page["pageInfo"]["endCursor"]
        );
        page = server.query(&token, &rest).json()["data"]["party"]["orders"].take();
    }
    assert_eq!(page["edges"][0]["node"]["orderId"], "X0901");

    // Who sees all rows has all of them.
    let lines = export("demo");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[2]["@end"].get("shortNodes"), None);
}

/// An order of two ship groups: lines 00001 and 00003 in the first, 00002 in the second; with states, adjustments and moves.
fn split_order(store: &str, [first, second]: [&str; 2]) -> String {
    format!(
        "INSERT INTO order_header (order_id, order_type_id, product_store_id) VALUES ('XSPLIT', 'SALES_ORDER', '{store}');
         INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id)
           VALUES ('XSPLIT', '00001', '{first}'), ('XSPLIT', '00002', '{second}');
         INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id)
           VALUES ('XSPLIT', '00001', '00001'), ('XSPLIT', '00002', '00002'), ('XSPLIT', '00003', '00001');
         INSERT INTO order_payment_preference (order_payment_preference_id, order_id) VALUES ('XPAY', 'XSPLIT');
         INSERT INTO order_status (order_status_id, order_id, order_item_seq_id, order_payment_preference_id, status_datetime) VALUES
           ('XORDER', 'XSPLIT', NULL, NULL, '2026-05-01'), ('XLINE1', 'XSPLIT', '00001', NULL, '2026-05-02'),
           ('XLINE2', 'XSPLIT', '00002', NULL, '2026-05-03'), ('XLINE3', 'XSPLIT', '00003', NULL, '2026-05-04'),
           ('XNONE', 'XSPLIT', '_NA_', NULL, '2026-05-05'), ('XPAID', 'XSPLIT', NULL, 'XPAY', '2026-05-06');
         INSERT INTO order_adjustment (order_adjustment_id, order_id, order_item_seq_id, ship_group_seq_id) VALUES
           ('XALL', 'XSPLIT', NULL, NULL), ('XALL_NA', 'XSPLIT', '_NA_', '_NA_'), ('XFIRST', 'XSPLIT', '00001', '_NA_'),
           ('XSECOND', 'XSPLIT', '00002', '_NA_'), ('XTHIRD', 'XSPLIT', '00003', NULL),
           ('XGROUP1', 'XSPLIT', '_NA_', '00001'), ('XGROUP2', 'XSPLIT', '_NA_', '00002');
         INSERT INTO order_facility_change (order_facility_change_id, order_id, from_facility_id, facility_id) VALUES
           ('XTO1', 'XSPLIT', '_NA_', '{first}'), ('XTO2', 'XSPLIT', '_NA_', '{second}'), ('XMOVE', 'XSPLIT', '{second}', '{first}');"
    )
}

/// A sample with such an order, its store, and facilities, of which the first two have its parts.
async fn database_with_split_order() -> (Database, Client, String, Vec<String>) {
    let database = sampled_database().await;
    add_users(&database).await;
    let store = values(&database, "product_store_id", "order_header").await.remove(0);
    let facilities = values(&database, "origin_facility_id", "shipment").await;
    let client = database.connect().await;
    client.batch_execute(&split_order(&store, [&facilities[0], &facilities[1]])).await.unwrap();
    (database, client, store, facilities)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_row_of_an_order_is_about_says_who_sees_it() {
    let (database, _, store, facilities) = database_with_split_order().await;
    command(&database, "group scope STORES facility *");
    let server = Server::start(&database, &[]);
    let token = server.token("store");
    let ids = |list: &str, field: &str, arguments: &str| -> Vec<String> {
        let query = format!(
            "{{ order(orderId: \"XSPLIT\") {{ {list}(first: 20{arguments}) {{ edges {{ node {{ {field} }} }} }} }} }}"
        );
        let response = server.query(&token, &query);
        assert_eq!(response.json()["extensions"].get("search"), None, "{}", response.body);
        let edges = response.json()["data"]["order"][list]["edges"].as_array().cloned();
        let edges = edges.unwrap_or_else(|| panic!("{}", response.body));
        edges.iter().map(|edge| edge["node"][field].as_str().unwrap().to_owned()).collect()
    };
    let by_time = ", sortKey: STATUS_DATETIME, reverse: true";
    // Without PAYMENTS no state of a payment, and all else.
    assert_eq!(ids("statuses", "orderStatusId", ""), ["XLINE1", "XLINE2", "XLINE3", "XNONE", "XORDER"]);
    assert_eq!(ids("statuses", "orderStatusId", by_time), ["XNONE", "XLINE3", "XLINE2", "XLINE1", "XORDER"]);
    let newest = server.query(
        &token,
        "{ order(orderId: \"XSPLIT\") { statuses(last: 1, sortKey: STATUS_DATETIME) { edges { node { orderStatusId } } } } }",
    );
    assert_eq!(newest.json()["data"]["order"]["statuses"]["edges"][0]["node"]["orderStatusId"], "XNONE");
    assert_eq!(newest.json()["extensions"].get("scope"), None);
    assert_eq!(ids("adjustments", "orderAdjustmentId", "").len(), 7);

    command(&database, "grant add STORES PAYMENTS");
    wait_until(|| ids("statuses", "orderStatusId", "").len() == 6);
    assert_eq!(ids("statuses", "orderStatusId", by_time)[0], "XPAID");

    // Of one facility: what is about the order, and about its own lines and ship groups.
    command(&database, &format!("group scope STORES facility {}", facilities[0]));
    command(&database, "group scope STORES facility * --remove");
    let is_limited_by = |expected: Value| {
        let items = "{ order(orderId: \"XSPLIT\") { orderItems(first: 1) { edges { cursor } } } }";
        server.query(&token, items).json()["extensions"]["scope"] == expected
    };
    wait_until(|| is_limited_by(json!({ "facility": [facilities[0]] })));
    assert_eq!(ids("orderItems", "orderItemSeqId", ""), ["00001", "00003"]);
    assert_eq!(ids("statuses", "orderStatusId", ""), ["XLINE1", "XLINE3", "XNONE", "XORDER", "XPAID"]);
    let adjustments = ids("adjustments", "orderAdjustmentId", "");
    assert_eq!(adjustments, ["XALL", "XALL_NA", "XFIRST", "XGROUP1", "XTHIRD"]);
    assert_eq!(ids("facilityChangeHistory", "orderFacilityChangeId", ""), ["XMOVE", "XTO1"]);

    // And of one store: the order, and all that is about it.
    command(&database, "group scope STORES facility *");
    command(&database, &format!("group scope STORES store {store}"));
    command(&database, "group scope STORES store * --remove");
    wait_until(|| is_limited_by(json!({ "store": [store] })));
    assert_eq!(ids("statuses", "orderStatusId", "").len(), 6);
    assert_eq!(ids("adjustments", "orderAdjustmentId", "").len(), 7);
    assert_eq!(ids("facilityChangeHistory", "orderFacilityChangeId", "").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_the_id_of_a_shipment_that_is_not_seen_finds_nothing() {
    let (database, client, _, facilities) = database_with_split_order().await;
    // Two shipments of the same line, of which the caller sees one, and its stock.
    let rows = format!(
        "INSERT INTO shipment (shipment_id, primary_order_id, origin_facility_id)
           VALUES ('XSEEN', 'XSPLIT', '{0}'), ('XHIDDEN', 'XSPLIT', '{1}');
         INSERT INTO shipment_item (shipment_id, shipment_item_seq_id) VALUES ('XSEEN', '00001'), ('XHIDDEN', '00001');
         INSERT INTO order_shipment (order_id, order_item_seq_id, ship_group_seq_id, shipment_id, shipment_item_seq_id, quantity)
           VALUES ('XSPLIT', '00001', '00001', 'XSEEN', '00001', 1), ('XSPLIT', '00001', '00001', 'XHIDDEN', '00001', 1);
         INSERT INTO inventory_item (inventory_item_id, facility_id) VALUES ('XSTOCK', '{0}');
         INSERT INTO order_item_ship_grp_inv_res (order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id, quantity)
           VALUES ('XSPLIT', '00001', '00001', 'XSTOCK', 1);",
        facilities[0], facilities[1]
    );
    client.batch_execute(&rows).await.unwrap();
    command(&database, &format!("group scope STORES facility {}", facilities[0]));
    let server = Server::start(&database, &[]);
    let (token, demo) = (server.token("store"), server.token("demo"));
    assert!(
        server.query(&token, "{ shipment(shipmentId: \"XHIDDEN\") { shipmentId } }").json()["data"]["shipment"]
            .is_null()
    );
    let found = |token: &str, shipments: &str| {
        let query = format!(
            "{{ orderItems(first: 5, query: \"shipmentId:{shipments}\", countUpTo: 5) {{ edges {{ node {{ orderItemSeqId }} }} count }}
                inventoryReservations(first: 5, query: \"shipmentId:{shipments}\", countUpTo: 5) {{
                    edges {{ node {{ inventoryItemId }} }} count }}
                itemTotals(first: 1, query: \"shipmentId:{shipments}\") {{ rowCount }} }}"
        );
        let response = server.query(token, &query).json();
        let data = &response["data"];
        let rows = data["orderItems"]["edges"].as_array().map(Vec::len);
        assert_eq!(json!(rows), data["orderItems"]["count"], "{response}");
        ["orderItems", "inventoryReservations"]
            .map(|root| data[root]["count"].as_u64().unwrap_or_else(|| panic!("{response}")))
            .into_iter()
            .chain([data["itemTotals"]["rowCount"].as_u64().unwrap()])
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&token, "XSEEN"), [1, 1, 1]);
    assert_eq!(found(&demo, "XHIDDEN"), [1, 1, 1]);
    assert_eq!(found(&token, "XHIDDEN"), [0, 0, 0]);
    assert_eq!(found(&token, "XHIDDEN,XSEEN"), [1, 1, 1]);
}
