//! Searches that end with their window, as a client sees them.

use serde_json::{Value, json};

use crate::support::http::{GRAPHQL_JSON, JSON};
use crate::support::server::{Server, server_with_demo_user};
use crate::support::users::UNLIMITED_PROFILE;

/// Five hundred orders in a row, of which the last is a purchase order.
const ORDERS: &str = "
    INSERT INTO order_type (order_type_id) VALUES ('SALES_ORDER'), ('PURCHASE_ORDER') ON CONFLICT DO NOTHING;
    INSERT INTO order_header (order_id, order_type_id, status_id, order_date)
    SELECT 'SHORT' || lpad(n::text, 3, '0'), CASE WHEN n = 500 THEN 'PURCHASE_ORDER' ELSE 'SALES_ORDER' END,
        'ORDER_COMPLETED', timestamptz '2001-01-01Z' + n * interval '1 minute'
    FROM generate_series(1, 500) AS n";

/// The ids, `pageInfo` and `extensions.search` of pages, until one has no next page.
fn pages(server: &Server, token: &str, accept: &str, search: &str) -> Vec<(Vec<String>, Value, Value)> {
    let (mut pages, mut cursor) = (Vec::new(), Value::Null);
    while pages.len() < 50 {
        let query = format!(
            "{{ found: orders(first: 10, after: {cursor}, query: \"{search}\") {{ edges {{ node {{ orderId }} }} \
             pageInfo {{ hasNextPage endCursor }} }} }}"
        );
        let body = server.query_as(accept, token, &query).json();
        let found = &body["data"]["found"];
        let ids =
            found["edges"].as_array().unwrap().iter().map(|edge| edge["node"]["orderId"].as_str().unwrap().into());
        pages.push((ids.collect(), found["pageInfo"].clone(), body["extensions"]["search"].clone()));
        if found["pageInfo"]["hasNextPage"] == false {
            return pages;
        }
        cursor = found["pageInfo"]["endCursor"].clone();
        assert!(cursor.is_string(), "a page that is not the last has a cursor: {body}");
    }
    panic!("more than fifty pages for {search}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_ends_with_its_window_says_so_and_goes_on_from_its_cursor() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--search-window", "100"]).await;
    database.connect().await.batch_execute(ORDERS).await.unwrap();
    for accept in [JSON, GRAPHQL_JSON] {
        let search = "orderTypeId:PURCHASE_ORDER orderDate:<2002-01-01";
        let pages = pages(&server, &token, accept, search);
        let found: Vec<_> = pages.iter().flat_map(|(ids, ..)| ids.clone()).collect();
        assert_eq!(found, ["SHORT500"]);
        // Every page but the last examined the rows of a window, and few found one.
        let (last, others) = pages.split_last().unwrap();
        assert!(others.len() >= 9, "{}", others.len());
        for (_, _, short) in others {
            assert_eq!(*short, json!([{"path": ["found"], "rowsExamined": 50, "inexact": ["hasNextPage"]}]));
        }
        assert_eq!(last.2, Value::Null);
    }
}

/// Totals of as many rows as they may sum up are none that end early: there `rows` is the end.
#[tokio::test(flavor = "multi_thread")]
async fn totals_that_end_with_their_window_say_so() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--search-window", "100"]).await;
    database.connect().await.batch_execute(ORDERS).await.unwrap();
    for (rows, search, short) in [
        (1000, "orderTypeId:NONE", json!([{"path": ["found"], "rowsExamined": 50, "inexact": []}])),
        (1, "orderTypeId:SALES_ORDER", Value::Null),
        (1000, "orderId:SHORT500", Value::Null),
    ] {
        let query = format!(
            "{{ found: orderTotals(first: 1, rows: {rows}, query: {search:?}) {{ groups {{ count }} complete endCursor }} }}"
        );
        let body = server.query(&token, &query).json();
        assert_eq!(body["extensions"]["search"], short, "{body:#}");
        let is_complete = &body["data"]["found"]["complete"];
        assert_eq!(*is_complete, json!(search.starts_with("orderId")), "{body:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_costs_more_examines_more_rows_before_it_comes_short() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--search-window", "200"]).await;
    database.connect().await.batch_execute(ORDERS).await.unwrap();
    let examined = |size: u32, search: &str| {
        let query = format!("{{ orders(first: {size}, query: \"{search}\") {{ edges {{ cursor }} }} }}");
        let body = server.query(&token, &query).json();
        let rows = body["data"]["orders"]["edges"].as_array().unwrap().len();
        (rows, body["extensions"]["search"][0]["rowsExamined"].clone())
    };
    let (none, every) = ("orderTypeId:NONE orderDate:<2002-01-01", "orderTypeId:SALES_ORDER orderDate:<2002-01-01");
    for (size, rows) in [(1, 100), (50, 100), (75, 150), (100, 200)] {
        assert_eq!(examined(size, none), (0, json!(rows)), "{size}");
        assert_eq!(examined(size, every).0, size as usize);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_an_index_serves_is_whole_in_its_first_page() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &["--search-window", "100"]).await;
    database.connect().await.batch_execute(ORDERS).await.unwrap();
    for search in ["orderId:SHORT250", "orderDate:>2001-01-01 orderDate:<=2001-01-01T00:05:00Z", "statusId:NONE"] {
        let pages = pages(&server, &token, JSON, search);
        assert_eq!((pages.len(), &pages[0].2), (1, &Value::Null), "{search}");
    }
}

/// 2,216 orders, of which four are purchase orders. All values differ.
const MANY_ORDERS: &str = "
    INSERT INTO order_type (order_type_id) VALUES ('SALES_ORDER'), ('PURCHASE_ORDER') ON CONFLICT DO NOTHING;
    INSERT INTO order_header (order_id, order_type_id, order_date, grand_total)
    SELECT 'MANY' || lpad(n::text, 4, '0'), CASE WHEN n IN (1100, 1110, 1200, 2208) THEN 'PURCHASE_ORDER' ELSE 'SALES_ORDER' END,
        timestamptz '2001-01-01Z' + n * interval '1 minute', n * 7919 % 2216
    FROM generate_series(1, 2216) AS n;
    ANALYZE order_header";

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_of_a_full_page_is_exact_or_named() {
    let (server, database, token) = server_with_demo_user(UNLIMITED_PROFILE, &[]).await;
    let client = database.connect().await;
    client.batch_execute(MANY_ORDERS).await.unwrap();
    let page = |arguments: &str| {
        let fields = "edges { cursor } pageInfo { hasNextPage hasPreviousPage }";
        server.query(&token, &format!("{{ orders({arguments}) {{ {fields} }} }}")).json()
    };
    let mut inexact = 0;
    for (sort_key, column) in [("ORDER_ID", "order_id"), ("ORDER_DATE", "order_date"), ("GRAND_TOTAL", "grand_total")] {
        for reverse in [false, true] {
            for row in [1, 500, 1002, 1100, 1500, 2208, 2216] {
                let row = format!("MANY{row:04}");
                let order = format!("sortKey: {sort_key}, reverse: {reverse}");
                let of_row = page(&format!("first: 1, {order}, query: \"orderId:{row}\""));
                let cursor = &of_row["data"]["orders"]["edges"][0]["cursor"];
                for (size, position, flag, is_upward) in
                    [("first", "after", "hasPreviousPage", reverse), ("last", "before", "hasNextPage", !reverse)]
                {
                    let search = "query: \"orderTypeId:PURCHASE_ORDER\"";
                    let body = page(&format!("{size}: 1, {order}, {search}, {position}: {cursor}"));
                    let sql = format!(
                        "SELECT EXISTS (SELECT FROM order_header AS found, order_header AS cursor WHERE cursor.order_id = $1
                         AND found.order_type_id = 'PURCHASE_ORDER' AND found.{column} {} cursor.{column})",
                        if is_upward { ">=" } else { "<=" }
                    );
                    let is_there: bool = client.query_one(&sql, &[&row]).await.unwrap().get(0);
                    let named = body["extensions"]["search"][0]["inexact"].as_array();
                    let is_named = named.is_some_and(|flags| flags.contains(&json!(flag)));
                    let value = &body["data"]["orders"]["pageInfo"][flag];
                    assert_eq!(*value, is_there || is_named, "{order}, {position} {row}: {body}");
                    inexact += usize::from(is_named && !is_there);
                }
            }
        }
    }
    // Otherwise the test would show nothing.
    assert!(inexact > 0);
}
