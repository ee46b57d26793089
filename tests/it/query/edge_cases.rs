//! Ten common bugs of GraphQL servers on databases. Each test describes one and checks over HTTP that this server does not have
//! it. The expected results are literals or come from PostgreSQL.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::query::pages::{Connection, Page, PageReader};
use crate::support::database::{database_in_another_collation, migrated_database};
use crate::support::statement_log::StatementLog;

/// All orders, by id.
const ORDERS: Connection<'_> =
    Connection { around: "*", object: "", field: "orders", order: "sortKey: ORDER_ID, ", id: "orderId" };

/// The items of one order.
const ITEMS: Connection<'_> = Connection {
    around: r#"order(orderId: "O1") { * }"#,
    object: "/order",
    field: "orderItems",
    order: "",
    id: "orderItemSeqId",
};

/// The same items, fetched for several orders by one statement.
const ITEMS_OF_MANY: Connection<'_> = Connection {
    around: "orders(first: 3, sortKey: ORDER_ID) { edges { node { * } } }",
    object: "/orders/edges/0/node",
    ..ITEMS
};

/// Three orders with nine, four and no items.
const THREE_ORDERS: &str = "
    INSERT INTO order_header (order_id, status_id) SELECT 'O' || n, 'ORDER_APPROVED' FROM generate_series(1, 3) AS n;
    INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id)
        SELECT 'O1', lpad(n::text, 5, '0'), '00001' FROM generate_series(1, 9) AS n
        UNION ALL SELECT 'O2', lpad(n::text, 5, '0'), '00001' FROM generate_series(1, 4) AS n;
    INSERT INTO order_item_ship_group (order_id, ship_group_seq_id) VALUES ('O1', '00001'), ('O2', '00001');
    INSERT INTO order_status (order_status_id, order_id, status_id)
        SELECT 'S' || n, 'O1', 'ORDER_APPROVED' FROM generate_series(1, 4) AS n
        UNION ALL SELECT 'S' || n, 'O2', 'ORDER_APPROVED' FROM generate_series(5, 7) AS n;";

/// Bug: a limit on the rows of a batch or of an `IN` list (often 5,000) silently drops the children of the last parents.
#[tokio::test(flavor = "multi_thread")]
async fn returns_every_child_of_every_parent_however_many_there_are() {
    let reader = PageReader::with_rows(
        "INSERT INTO order_header (order_id, status_id)
             SELECT 'O' || lpad(n::text, 3, '0'), 'ORDER_APPROVED' FROM generate_series(1, 100) AS n;
         INSERT INTO order_item (order_id, order_item_seq_id)
             SELECT order_id, lpad(n::text, 5, '0') FROM order_header, generate_series(1, 100) AS n;
         INSERT INTO order_adjustment (order_adjustment_id, order_id, order_item_seq_id)
             SELECT order_id || order_item_seq_id, order_id, order_item_seq_id FROM order_item",
    )
    .await;
    let data = reader.data(
        "{ orders(first: 100, sortKey: ORDER_ID) { edges { node { orderItems(first: 100) {
             pageInfo { hasNextPage }
             edges { node { orderId orderItemSeqId adjustments(first: 1) { edges { node { orderAdjustmentId } } } } }
         } } } } }",
    );
    let (mut items, mut adjustments) = (Vec::new(), Vec::new());
    for order in nodes(&data["orders"]) {
        assert_eq!(order["orderItems"]["pageInfo"]["hasNextPage"], false);
        for item in nodes(&order["orderItems"]) {
            items.push(format!("{}{}", text(&item["orderId"]), text(&item["orderItemSeqId"])));
            adjustments.extend(nodes(&item["adjustments"]).map(|node| text(&node["orderAdjustmentId"]).to_owned()));
        }
    }
    let stored = reader.list("SELECT order_id || order_item_seq_id FROM order_item ORDER BY 1").await;
    assert_eq!(stored.len(), 10_000);
    assert!(items == stored, "{} of 10,000 items", items.len());
    assert!(adjustments == stored, "{} of 10,000 adjustments, each of another parent", adjustments.len());
}

/// Bug: pagination works at the root, but nested connections ignore `last:` and `before:`.
#[tokio::test(flavor = "multi_thread")]
async fn nested_connections_support_last_and_before() {
    let reader = PageReader::with_rows(THREE_ORDERS).await;
    let many = Connection { object: "/orders/edges/1/node", ..ITEMS_OF_MANY };
    // Cursors of the larger order, which are positions in the smaller one below both.
    let cursors = reader.page(ITEMS, "first: 9").cursors;
    let (third, sixth) = (json!(cursors[2]), json!(cursors[5]));
    for (page, of_nine, of_four) in [
        ("last: 2".to_owned(), "8 9", "3 4"),
        (format!("last: 2, before: {sixth}"), "4 5", "3 4"),
        (format!("last: 2, before: {third}"), "1 2", "1 2"),
        (format!("first: 1, before: {third}"), "1", "1"),
        (format!("last: 2, after: {third}"), "8 9", "4"),
        (format!("last: 9, after: {third}, before: {sixth}"), "4 5", "4"),
        (format!("first: 1, after: {third}, before: {sixth}"), "4", "4"),
        (format!("last: 2, after: {sixth}"), "8 9", ""),
    ] {
        for (connection, expected) in [(ITEMS, of_nine), (ITEMS_OF_MANY, of_nine), (many, of_four)] {
            let expected: Vec<_> = expected.split_whitespace().map(|number| format!("0000{number}")).collect();
            assert_eq!(reader.page(connection, &page).ids, expected, "{page} in {}", connection.around);
        }
    }
}

/// Bug: children are stored by field name only, so one alias gets the page of another.
#[tokio::test(flavor = "multi_thread")]
async fn aliases_of_one_connection_have_their_own_pages() {
    let reader = PageReader::with_rows(THREE_ORDERS).await;
    let cursor = json!(reader.page(ITEMS, "first: 2").cursors[1]);
    let pages = [
        ("first: 1".to_owned(), "1"),
        ("first: 3".to_owned(), "1 2 3"),
        ("last: 1".to_owned(), "9"),
        (format!("first: 1, after: {cursor}"), "3"),
        (format!("last: 1, before: {cursor}"), "1"),
        ("first: 3".to_owned(), "1 2 3"),
    ];
    let (arguments, expected): (Vec<_>, Vec<_>) = pages.into_iter().unzip();
    for connection in [ITEMS, ITEMS_OF_MANY] {
        let found: Vec<_> = reader.pages(connection, &arguments).iter().map(|page| digits(&page.ids)).collect();
        assert_eq!(found, expected, "{}", connection.around);
    }

    // At the root, with different orders, and in two aliases of one parent.
    let data = reader.data(
        r#"{ a: orders(first: 1, sortKey: ORDER_ID) { ...Ids } b: orders(first: 1, sortKey: ORDER_ID, reverse: true) { ...Ids }
             c: orders(last: 2, sortKey: ORDER_ID) { ...Ids } d: orders(first: 3, query: "orderId:O2") { ...Ids }
             e: order(orderId: "O1") { orderItems(first: 1) { edges { node { orderItemSeqId } } } }
             f: order(orderId: "O1") { orderItems(last: 1) { edges { node { orderItemSeqId } } } } }
           fragment Ids on OrderConnection { edges { node { orderId } } }"#,
    );
    let ids = |alias: &str| nodes(&data[alias]).map(|node| text(&node["orderId"])).collect::<Vec<_>>().join(" ");
    assert_eq!(["a", "b", "c", "d"].map(ids), ["O1", "O3", "O2 O3", "O2"]);
    let item =
        |alias: &str| nodes(&data[alias]["orderItems"]).map(|node| text(&node["orderItemSeqId"])).collect::<String>();
    assert_eq!(["e", "f"].map(item), ["00001", "00009"]);

    // Two pages with one response key are an error.
    let clash = r#"{ order(orderId: "O1") { orderItems(first: 1) { edges { cursor } } orderItems(last: 1) { edges { cursor } } } }"#;
    assert_eq!(reader.query(clash, &json!({})).code(), "GRAPHQL_VALIDATION_FAILED");
}

/// Bug: an invalid cursor or one of another connection is ignored, so pagination starts again and never ends.
#[tokio::test(flavor = "multi_thread")]
async fn rejects_a_cursor_of_another_connection_without_a_statement() {
    let database = migrated_database().await;
    let log = StatementLog::start(&database).await;
    let reader = PageReader::with_database(database, THREE_ORDERS).await;
    let groups = r#"order(orderId: "O1") { shipGroups(first: 1) { edges { node { * } } } }"#;
    let of_group = Connection { around: groups, object: "/order/shipGroups/edges/0/node", ..ITEMS };
    let of_root = Connection { order: "", ..ITEMS };
    let of_root = Connection { around: "*", object: "", ..of_root };
    let statuses = Connection { field: "statuses", id: "orderStatusId", ..ITEMS };
    let by_name = Connection { order: "sortKey: ORDER_NAME, ", ..ORDERS };
    let reversed = Connection { order: "sortKey: ORDER_ID, reverse: true, ", ..ORDERS };
    let second = |connection| reader.page(connection, "first: 2").cursors[1].clone();
    let good = second(ITEMS);
    let unreadable = ["", "null", "O1", "2", "MDAwMDI=", &good[1..], &good[..good.len() - 1], &format!("{good}A")];
    let unreadable = unreadable.map(str::to_owned);
    let bad: Vec<(Connection<'_>, Vec<String>)> = vec![
        (ITEMS, [&unreadable[..], &[of_group, of_root, statuses, ORDERS].map(second)].concat()),
        (ITEMS_OF_MANY, [&unreadable[..], &[of_group, of_root, statuses, ORDERS].map(second)].concat()),
        (of_group, [ITEMS, of_root].map(second).to_vec()),
        (of_root, [ITEMS, of_group].map(second).to_vec()),
        (ORDERS, [ITEMS, by_name, reversed].map(second).to_vec()),
    ];
    let sent = log.lines_by_process("orderql-queries");
    assert!(sent.values().any(|lines| !executions(lines).is_empty()), "the log contains executed statements");
    for (connection, cursors) in &bad {
        for cursor in cursors {
            for (end, beyond) in [("first", "after"), ("last", "before"), ("first", "before"), ("last", "after")] {
                let written = connection.query(&[format!("{end}: 2, {beyond}: {}", json!(cursor))]);
                let open = connection.query(&[format!("{end}: 2, {beyond}: $cursor")]);
                let open = format!("query Page($cursor: String) {open}");
                for response in [reader.query(&written, &json!({})), reader.query(&open, &json!({ "cursor": cursor }))]
                {
                    let body = response.json();
                    assert_eq!(body["data"], Value::Null, "{written}");
                    assert_eq!(response.code(), "BAD_USER_INPUT", "{written}: {body}");
                    assert_eq!(body["errors"][0]["extensions"]["argument"], beyond, "{written}: {body}");
                }
            }
        }
    }
    for (process, lines) in log.lines_by_process("orderql-queries") {
        // Connections prepare the earlier statements meanwhile.
        let before = sent.get(&process).map(|sent| executions(sent)).unwrap_or_default();
        assert_eq!(executions(&lines), before, "{lines:?}");
    }
}

/// The lines of a log that tell of statements that were executed.
fn executions(lines: &[String]) -> Vec<&str> {
    let lines = lines.iter().map(String::as_str);
    lines.filter(|line| line.starts_with("LOG:  execute ") || line.contains(" bind ")).collect()
}

/// Bug: a cursor of another parent's rows is taken for a position among this parent's, so pagination skips or repeats rows.
#[tokio::test(flavor = "multi_thread")]
async fn rejects_a_cursor_of_another_parent() {
    let reader = PageReader::with_rows(THREE_ORDERS).await;
    reader.execute("UPDATE order_header SET external_id = 'E2' WHERE order_id = 'O2'").await;
    let second_order = r#"order(orderId: "O2") { * }"#;
    let many_second = "/orders/edges/1/node";
    // The parent is part of the key of an item; a status has a key of its own.
    let statuses = Connection { field: "statuses", id: "orderStatusId", ..ITEMS };
    let statuses_of_many = Connection { field: "statuses", id: "orderStatusId", ..ITEMS_OF_MANY };
    for (one, many) in [(ITEMS, ITEMS_OF_MANY), (statuses, statuses_of_many)] {
        let other = Connection { around: second_order, ..one };
        let other_of_many = Connection { object: many_second, ..many };
        let cursor_of = |connection| json!(reader.page(connection, "first: 2").cursors[0]);
        for (connection, foreign) in [(one, other), (one, other_of_many), (other, one), (other, many)] {
            let response =
                reader.query(&connection.query(&[format!("last: 2, after: {}", cursor_of(foreign))]), &json!({}));
            let error = &response.json()["errors"][0];
            assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{response:?}");
            assert!(text(&error["message"]).contains("it was made for the rows of another parent"), "{error}");
        }
        // The cursors of an order's own rows are the same, however the order is found.
        for (connection, own) in [(one, one), (one, many), (other, other), (other, other_of_many)] {
            let rest = reader.page(connection, &format!("first: 9, after: {}", cursor_of(own))).ids;
            assert_eq!(rest, reader.page(connection, "first: 9").ids[1..], "{}", connection.around);
        }
        // Below several orders, and below one that another key finds, a cursor is a position for each.
        let by_external_id = Connection { around: r#"order(externalId: "E2") { * }"#, ..one };
        let position = reader.page(one, "first: 1").ids.remove(0);
        let rest: Vec<_> = reader.page(other, "first: 9").ids.into_iter().filter(|id| *id > position).collect();
        for connection in [other_of_many, by_external_id] {
            assert_eq!(reader.page(connection, &format!("first: 9, after: {}", cursor_of(one))).ids, rest);
        }
    }
}

/// Bug: the server compares texts by bytes and the database by its collation, so rows are lost or returned twice.
#[tokio::test(flavor = "multi_thread")]
async fn pages_through_texts_in_the_order_of_the_databases_collation() {
    let words = "9 10 1 09 a A b B ab aB Ab AB a-b a_b _a Z z é É e f ä Å ø 日本 ~";
    let rows = format!(
        "INSERT INTO order_header (order_id, order_name, status_id)
             SELECT word, CASE WHEN n % 4 > 0 THEN reverse(word) ELSE 'b' END, 'ORDER_APPROVED'
             FROM string_to_table('{words}', ' ') WITH ORDINALITY AS words (word, n);
         INSERT INTO order_header (order_id, status_id) VALUES ('O1', 'ORDER_APPROVED');
         INSERT INTO order_item (order_id, order_item_seq_id)
             SELECT header.order_id, item.order_id FROM order_header AS header, order_header AS item
             WHERE header.order_id IN ('10', 'O1')"
    );
    let by_name = Connection { order: "sortKey: ORDER_NAME, ", ..ORDERS };
    let by_name_down = Connection { order: "sortKey: ORDER_NAME, reverse: true, ", ..ORDERS };
    let of_many = Connection {
        around: r#"orders(first: 2, sortKey: ORDER_ID, query: "orderId:10,O1") { edges { node { * } } }"#,
        ..ITEMS_OF_MANY
    };
    // The tests' databases sort by bytes. The second collation is tested if the server has one.
    let mut databases = vec![migrated_database().await];
    databases.extend(database_in_another_collation().await);
    for (number, database) in databases.into_iter().enumerate() {
        let reader = PageReader::with_database(database, &rows).await;
        let ids = reader.list("SELECT order_id FROM order_header ORDER BY order_id").await;
        let mut bytewise = ids.clone();
        bytewise.sort();
        assert_eq!(ids == bytewise, number == 0, "the collations differ: {ids:?}");
        reader.assert_rows(ORDERS, &ids);
        reader.assert_rows(ITEMS, &ids);
        reader.assert_rows(of_many, &ids);
        let names = reader.list("SELECT order_id FROM order_header ORDER BY order_name, order_id").await;
        reader.assert_rows(by_name, &names);
        let down = "SELECT order_id FROM order_header ORDER BY order_name DESC NULLS LAST, order_id DESC";
        reader.assert_rows(by_name_down, &reader.list(down).await);
    }
}

/// Bug: a row comparison with a null is null, so pagination ends at the first null; or the reversed order begins with the nulls,
/// and the orders without a total come before the one with the highest.
#[tokio::test(flavor = "multi_thread")]
async fn pages_through_nulls_of_the_sort_key() {
    let reader = PageReader::with_rows(
        "INSERT INTO order_header (order_id, order_name, order_date, grand_total, status_id)
         SELECT 'O' || n, CASE WHEN n % 2 = 0 THEN 'name ' || n % 3 END,
             CASE WHEN n % 3 = 0 THEN timestamptz '2026-05-01' + n % 2 * interval '1 day' END,
             CASE WHEN n > 7 THEN 1.50 END, 'ORDER_APPROVED'
         FROM generate_series(1, 9) AS n",
    )
    .await;
    for (sort_key, column) in
        [("ORDER_NAME", "order_name"), ("ORDER_DATE", "order_date"), ("GRAND_TOTAL", "grand_total")]
    {
        for (reverse, direction) in [(false, "ASC"), (true, "DESC")] {
            let list = format!(
                "SELECT order_id FROM order_header ORDER BY {column} {direction} NULLS LAST, order_id {direction}"
            );
            let ids = reader.list(&list).await;
            let order = format!("sortKey: {sort_key}, reverse: {reverse}, ");
            reader.assert_rows(Connection { order: &order, ..ORDERS }, &ids);
        }
    }
}

/// Bug: cursors have milliseconds and the database has microseconds, so rows are lost or returned twice.
#[tokio::test(flavor = "multi_thread")]
async fn pages_through_equal_timestamps_and_timestamps_a_microsecond_apart() {
    let reader = PageReader::with_rows(
        "INSERT INTO order_header (order_id, order_date, status_id)
             SELECT 'O' || n, timestamptz '2026-05-01 09:30:00.123456Z' + micros * interval '1 microsecond', 'ORDER_APPROVED'
             FROM unnest('{7, 0, 0, 1, 2, 0, 543, 544, 1, 1000}'::int[]) WITH ORDINALITY AS dates (micros, n);
         INSERT INTO order_identification (order_identification_type_id, order_id, from_date, id_value)
             SELECT 'SHOPIFY_ORD_ID', 'O1', timestamptz '2026-05-01 09:30:00.123456Z' + n * interval '1 microsecond', 10 - n
             FROM generate_series(0, 8) AS n",
    )
    .await;
    let by_date = Connection { order: "", ..ORDERS };
    let ids = reader.list("SELECT order_id FROM order_header ORDER BY order_date, order_id").await;
    reader.assert_rows(by_date, &ids);
    reader.assert_rows(Connection { order: "reverse: true, ", ..ORDERS }, &reverse(ids));
    // A nested connection whose key contains a timestamp.
    let identifications = Connection { field: "identifications", id: "idValue", ..ITEMS };
    let values = reader.list("SELECT id_value FROM order_identification ORDER BY from_date").await;
    reader.assert_rows(identifications, &values);
    let around = r#"orders(first: 2, query: "orderId:O1,O2", reverse: true) { edges { node { * } } }"#;
    reader.assert_rows(Connection { around, object: ITEMS_OF_MANY.object, ..identifications }, &values);
    // Responses have microseconds too.
    let date = reader.page(Connection { id: "orderDate", ..by_date }, "last: 1").ids;
    assert_eq!(date, ["2026-05-01T09:30:00.124456Z"]);
}

/// Bug: `hasPreviousPage` only tells whether the query has `after:`, `hasNextPage` whether it has `before:`; or both depend on
/// the cursor's row, which may be deleted.
#[tokio::test(flavor = "multi_thread")]
async fn both_flags_of_every_page_are_correct() {
    let reader = PageReader::with_rows(
        "INSERT INTO order_header (order_id, status_id) SELECT 'O' || n, 'ORDER_APPROVED' FROM generate_series(1, 5) AS n;
         INSERT INTO order_item (order_id, order_item_seq_id)
             SELECT 'O1', 'O' || n FROM generate_series(1, 5) AS n UNION ALL VALUES ('O2', 'O1'), ('O2', 'O6')",
    )
    .await;
    // Orders leave the root connection by their status, because the items need their order.
    let approved = Connection { order: r#"sortKey: ORDER_ID, query: "statusId:ORDER_APPROVED", "#, ..ORDERS };
    let connections = [approved, ITEMS, ITEMS_OF_MANY];
    let cursors = connections.map(|connection| reader.page(connection, "first: 5").cursors);
    let mut left: Vec<String> = (1..=5).map(|n| format!("O{n}")).collect();
    for removed in ["", "O3", "O1", "O5", "O2", "O4"] {
        left.retain(|id| id != removed);
        reader
            .execute(&format!(
                "UPDATE order_header SET status_id = 'ORDER_CANCELLED' WHERE order_id = '{removed}';
                 DELETE FROM order_item WHERE order_id = 'O1' AND order_item_seq_id = '{removed}'"
            ))
            .await;
        for (connection, cursors) in connections.into_iter().zip(&cursors) {
            let (mut arguments, mut expected) = (Vec::new(), Vec::new());
            for size in [1, 2, 4, 9] {
                for number in 0..=5 {
                    // Number 0 is no cursor.
                    let cursor = if number == 0 { json!(null) } else { json!(cursors[number - 1]) };
                    let at = format!("O{number}");
                    arguments.push(format!("first: {size}, after: {cursor}"));
                    expected.push(after(&left, &at, size));
                    arguments.push(format!("last: {size}, before: {cursor}"));
                    expected.push(before(&left, if number == 0 { "P" } else { &at }, size));
                }
            }
            let pages = reader.pages(connection, &arguments);
            for ((page, expected), arguments) in pages.into_iter().zip(expected).zip(arguments) {
                let found = (page.ids, page.has_previous, page.has_next);
                assert_eq!(found, expected, "{arguments} of {} without {removed}, left: {left:?}", connection.around);
            }
        }
    }
}

/// The ids of a page, `hasPreviousPage` and `hasNextPage`.
type Expected = (Vec<String>, bool, bool);

/// The page of the first rows after an id.
fn after(rows: &[String], after: &str, size: usize) -> Expected {
    let (passed, ahead): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|id| id.as_str() <= after);
    let has_next = ahead.len() > size;
    (ahead.into_iter().take(size).collect(), !passed.is_empty(), has_next)
}

/// The page of the last rows before an id.
fn before(rows: &[String], before: &str, size: usize) -> Expected {
    let (ahead, passed): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|id| id.as_str() < before);
    let skipped = ahead.len().saturating_sub(size);
    (ahead.into_iter().skip(skipped).collect(), skipped > 0, !passed.is_empty())
}

/// Bug: an aggregate is null instead of 0 for a parent without children, or for a parent that is selected in another way.
#[tokio::test(flavor = "multi_thread")]
async fn counts_are_numbers_wherever_an_order_is_selected() {
    let reader = PageReader::with_rows(
        "INSERT INTO order_header (order_id, external_id, status_id) VALUES
             ('SOME', 'XS', 'ORDER_APPROVED'), ('NONE', 'XN', 'ORDER_APPROVED'), ('NULLS', NULL, 'ORDER_APPROVED');
         INSERT INTO order_item (order_id, order_item_seq_id, external_id, ship_group_seq_id) VALUES
             ('SOME', '1', 'A', '1'), ('SOME', '2', 'A', '1'), ('SOME', '3', 'B', '1'), ('SOME', '4', NULL, '1'),
             ('NULLS', '1', NULL, '1');
         INSERT INTO order_item_ship_group (order_id, ship_group_seq_id) VALUES ('SOME', '1'), ('NULLS', '1');
         INSERT INTO order_identification (order_identification_type_id, order_id, from_date, id_value)
             SELECT 'SHOPIFY_ORD_ID', order_id, '2026-01-01', order_id FROM order_header;
         INSERT INTO order_role (order_id, party_id, role_type_id)
             SELECT order_id, 'WHO', 'BILL_TO_CUSTOMER' FROM order_header;
         INSERT INTO shipment (shipment_id, primary_order_id) SELECT 'S' || order_id, order_id FROM order_header;
         INSERT INTO return_header (return_id) VALUES ('R');
         INSERT INTO return_item (return_id, return_item_seq_id, order_id) SELECT 'R', order_id, order_id FROM order_header;
         SET session_replication_role = origin;
         INSERT INTO party (party_id) VALUES ('WHO');
         INSERT INTO person (party_id) VALUES ('WHO')",
    )
    .await;
    let counts: HashMap<_, _> = [("SOME", 2), ("NONE", 0), ("NULLS", 0)].into();
    for (query, orders) in [
        (r#"{ order(orderId: "SOME") { ...Count } }"#, 1),
        (r#"{ order(orderId: "NONE") { ...Count } again: order(externalId: "XN") { ...Count } }"#, 2),
        (r#"{ orderByIdentification(identificationTypeId: "SHOPIFY_ORD_ID", idValue: "NONE") { ...Count } }"#, 1),
        ("{ orders(first: 5) { edges { node { ...Count } } } }", 3),
        ("{ orders(last: 5, reverse: true) { edges { node { ... on Order { ...Count } } } } }", 3),
        ("{ orderItems(first: 9) { edges { node { order { ...Count } } } } }", 5),
        ("{ shipments(first: 9) { edges { node { order { ...Count } } } } }", 3),
        (r#"{ shipment(shipmentId: "SNONE") { order { ...Count } } }"#, 1),
        (r#"{ party(partyId: "WHO") { orders(first: 5) { edges { node { ...Count } } } } }"#, 3),
        ("{ parties(first: 5) { edges { node { orders(first: 5) { edges { node { ...Count } } } } } } }", 3),
        (r#"{ return(returnId: "R") { returnItems(first: 5) { edges { node { order { ...Count } } } } } }"#, 3),
        (
            "{ orders(first: 5) { edges { node { billToCustomer { party { orders(first: 5) { edges { node { shipments(first: 1) {
               edges { node { order { ...Count } } } } } } } } } } } } }",
            9,
        ),
        (
            r#"{ order(orderId: "SOME") { shipGroups(first: 5) { edges { node { orderItems(first: 9) { edges { node { order {
               ...Count } } } } } } } } }"#,
            4,
        ),
    ] {
        let query = format!(
            "query {query} fragment Count on Order {{ orderId orderItemCount ...More }}
             fragment More on Order {{ again: orderItemCount ... @include(if: true) {{ lines: orderItemCount }} }}"
        );
        let data = reader.data(&query);
        let mut seen = Vec::new();
        collect_orders(&data, &mut seen);
        assert_eq!(seen.len(), orders, "{query}: {data}");
        for order in seen {
            for name in ["orderItemCount", "again", "lines"] {
                assert_eq!(order[name], counts[text(&order["orderId"])], "{name} of {order} in {query}");
            }
        }
    }
}

/// Collects every order with a count.
fn collect_orders<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("orderItemCount") {
                found.push(value);
            }
            fields.values().for_each(|value| collect_orders(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_orders(value, found)),
        _ => {}
    }
}

/// Bug: a search truncates a timestamp to its day or second, or ignores its offset.
#[tokio::test(flavor = "multi_thread")]
async fn searches_by_timestamp_compare_microseconds_and_respect_offsets() {
    let reader = PageReader::with_rows(
        "CREATE TEMP TABLE moment AS SELECT 'M' || n AS id, moment::timestamptz FROM unnest(ARRAY[
             '2026-04-30T23:59:59.999999Z', '2026-05-01T00:00:00Z', '2026-05-01T09:29:59.999999Z',
             '2026-05-01T09:30:00Z', '2026-05-01T09:30:00.000001Z', '2026-05-01T09:30:00.5Z', '2026-05-01T09:30:01Z',
             '2026-05-01T23:59:59.999999Z', '2026-05-02T00:00:00Z']) WITH ORDINALITY AS moments (moment, n);
         INSERT INTO order_header (order_id, order_date, status_id) SELECT id, moment, 'ORDER_APPROVED' FROM moment;
         INSERT INTO shipment (shipment_id, estimated_ship_date) SELECT id, moment FROM moment;
         INSERT INTO return_header (return_id, entry_date, return_date) SELECT id, moment, moment FROM moment",
    )
    .await;
    // For each timestamp: the number of earlier rows, and whether a row has this timestamp.
    let timestamps = [
        ("2026-05-01", 1, true),
        ("2026-05-02", 8, true),
        ("2026-05-03", 9, false),
        ("2026-05-01T00:00:00Z", 1, true),
        ("2026-05-01T09:30:00Z", 3, true),
        ("2026-05-01T09:30:00", 3, true),
        ("2026-05-01T09:30:00.000001Z", 4, true),
        ("2026-05-01T09:30:00.000002Z", 5, false),
        ("2026-05-01T09:30:00.25Z", 5, false),
        ("2026-05-01T09:30:00.500Z", 5, true),
        ("2026-05-01T09:30:01Z", 6, true),
        ("2026-05-01T11:30:00+02:00", 3, true),
        ("2026-05-01T04:00:00.5-05:30", 5, true),
        ("2026-05-02T09:00:00+09:00", 8, true),
        ("2026-05-01T01:59:59.999999+02:00", 0, true),
        ("'2026-05-01T09:30:00Z'", 3, true),
        ("'2026-05-01'", 1, true),
    ];
    let terms = timestamps.into_iter().flat_map(|(timestamp, before, is_equal)| {
        let upto = before + usize::from(is_equal);
        [(">", upto..9), (">=", before..9), ("<", 0..before), ("<=", 0..upto)]
            .map(|(comparator, found)| (format!("KEY:{comparator}{timestamp}"), found))
    });
    let (mut terms, mut expected): (Vec<_>, Vec<_>) = terms.unzip();
    // A whole day, and a whole second.
    terms.push("KEY:>=2026-05-01 KEY:<2026-05-02".to_owned());
    expected.push(1..8);
    terms.push("KEY:>=2026-05-01T09:30:00Z KEY:<2026-05-01T11:30:01+02:00".to_owned());
    expected.push(3..6);
    for (field, key, id) in [
        ("orders", "orderDate", "orderId"),
        ("shipments", "estimatedShipDate", "shipmentId"),
        ("returns", "entryDate", "returnId"),
        ("returns", "returnDate", "returnId"),
    ] {
        let connection = Connection { field, order: "", id, ..ORDERS };
        let page = |terms: &String| format!("first: 9, query: {}", json!(terms.replace("KEY", key)));
        let pages = reader.pages(connection, &terms.iter().map(page).collect::<Vec<_>>());
        for ((Page { mut ids, .. }, expected), terms) in pages.into_iter().zip(&expected).zip(&terms) {
            ids.sort();
            let expected: Vec<_> = expected.clone().map(|index| format!("M{}", index + 1)).collect();
            assert_eq!(ids, expected, "{terms} of {field} by {key}");
        }
        // The same in a variable.
        let query = format!(
            "query Since($since: String) {{ {field}(first: 9, query: $since) {{ edges {{ node {{ {id} }} }} }} }}"
        );
        let since = json!({ "since": format!("{key}:>2026-05-01T11:30:00+02:00") });
        let response = reader.query(&query, &since).json();
        assert_eq!(nodes(&response["data"][field]).count(), 5, "{response}");
    }
}

/// The rows of a connection.
fn nodes(connection: &Value) -> impl Iterator<Item = &Value> {
    connection["edges"].as_array().unwrap_or_else(|| panic!("{connection}")).iter().map(|edge| &edge["node"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

/// The last digits of the ids, separated by spaces.
fn digits(ids: &[String]) -> String {
    ids.iter().map(|id| &id[id.len() - 1..]).collect::<Vec<_>>().join(" ")
}

fn reverse(mut ids: Vec<String>) -> Vec<String> {
    ids.reverse();
    ids
}
