//! Ten faults that GraphQL servers over databases are known for, each ruled out over HTTP by a test of its own.
//!
//! What is right is either written down beside the rows, or asked of PostgreSQL itself.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::query::pages::{Connection, Page, Service};
use crate::support::database::{database_in_another_collation, migrated_database};
use crate::support::statement_log::StatementLog;

/// The orders of the root, by their ids.
const ORDERS: Connection<'_> =
    Connection { around: "*", object: "", field: "orders", order: "sortKey: ORDER_ID, ", id: "orderId" };

/// The items of an order that is known by its id, where PostgreSQL is told the order in so many words.
const ITEMS: Connection<'_> = Connection {
    around: r#"order(orderId: "O1") { * }"#,
    object: "/order",
    field: "orderItems",
    order: "",
    id: "orderItemSeqId",
};

/// The same items, fetched for several orders at once.
const ITEMS_OF_MANY: Connection<'_> = Connection {
    around: "orders(first: 3, sortKey: ORDER_ID) { edges { node { * } } }",
    object: "/orders/edges/0/node",
    ..ITEMS
};

/// Three orders, of nine, four and no items.
const THREE_ORDERS: &str = "
    INSERT INTO order_header (order_id, status_id) SELECT 'O' || n, 'ORDER_APPROVED' FROM generate_series(1, 3) AS n;
    INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id)
        SELECT 'O1', lpad(n::text, 5, '0'), '00001' FROM generate_series(1, 9) AS n
        UNION ALL SELECT 'O2', lpad(n::text, 5, '0'), '00001' FROM generate_series(1, 4) AS n;
    INSERT INTO order_item_ship_group (order_id, ship_group_seq_id) VALUES ('O1', '00001'), ('O2', '00001');
    INSERT INTO order_status (order_status_id, order_id, status_id)
        SELECT 'S' || n, 'O1', 'ORDER_APPROVED' FROM generate_series(1, 4) AS n;";

/// Where the children of all parents are fetched at once, a limit on the rows of that statement, of a loader's batch or of an
/// `IN` list (5,000 is a common one) takes them from the last parents without a word.
#[tokio::test(flavor = "multi_thread")]
async fn every_child_of_every_parent_is_answered_however_many_there_are_together() {
    let service = Service::with(
        "INSERT INTO order_header (order_id, status_id)
             SELECT 'O' || lpad(n::text, 3, '0'), 'ORDER_APPROVED' FROM generate_series(1, 100) AS n;
         INSERT INTO order_item (order_id, order_item_seq_id)
             SELECT order_id, lpad(n::text, 5, '0') FROM order_header, generate_series(1, 100) AS n;
         INSERT INTO order_adjustment (order_adjustment_id, order_id, order_item_seq_id)
             SELECT order_id || order_item_seq_id, order_id, order_item_seq_id FROM order_item",
    )
    .await;
    let data = service.data(
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
    let stored = service.list("SELECT order_id || order_item_seq_id FROM order_item ORDER BY 1").await;
    assert_eq!(stored.len(), 10_000);
    assert!(items == stored, "{} of 10,000 items", items.len());
    assert!(adjustments == stored, "{} of 10,000 adjustments, each of another parent", adjustments.len());
}

/// Paging works at the root; nested, `last:` and `before:` are accepted and every page is the first.
#[tokio::test(flavor = "multi_thread")]
async fn nested_pages_from_the_back_and_before_a_cursor_are_those() {
    let service = Service::with(THREE_ORDERS).await;
    let many = Connection { object: "/orders/edges/1/node", ..ITEMS_OF_MANY };
    // Cursors of the larger order, which in the smaller one name the same places.
    let cursors = service.page(ITEMS, "first: 9").cursors;
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
            assert_eq!(service.page(connection, &page).ids, expected, "{page} in {}", connection.around);
        }
    }
}

/// The children of a parent are kept by the field's name alone, so that of two aliases one gets the other's page.
#[tokio::test(flavor = "multi_thread")]
async fn aliases_of_one_connection_have_a_page_each() {
    let service = Service::with(THREE_ORDERS).await;
    let cursor = json!(service.page(ITEMS, "first: 2").cursors[1]);
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
        let found: Vec<_> = service.pages(connection, &arguments).iter().map(|page| digits(&page.ids)).collect();
        assert_eq!(found, expected, "{}", connection.around);
    }

    // At the root, where the order may differ too, and under two aliases of one parent.
    let data = service.data(
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

    // Two pages under one name are nobody's.
    let clash = r#"{ order(orderId: "O1") { orderItems(first: 1) { edges { cursor } } orderItems(last: 1) { edges { cursor } } } }"#;
    assert_eq!(service.answer(clash, &json!({})).code(), "GRAPHQL_VALIDATION_FAILED");
}

/// A cursor that cannot be read, or is of another list, is taken for none, and the walk begins again without end.
#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_is_not_of_its_connection_is_refused_before_the_database_hears_of_it() {
    let database = migrated_database().await;
    let log = StatementLog::start(&database).await;
    let service = Service::on(database, THREE_ORDERS).await;
    let groups = r#"order(orderId: "O1") { shipGroups(first: 1) { edges { node { * } } } }"#;
    let of_group = Connection { around: groups, object: "/order/shipGroups/edges/0/node", ..ITEMS };
    let of_root = Connection { order: "", ..ITEMS };
    let of_root = Connection { around: "*", object: "", ..of_root };
    let statuses = Connection { field: "statuses", id: "orderStatusId", ..ITEMS };
    let by_name = Connection { order: "sortKey: ORDER_NAME, ", ..ORDERS };
    let reversed = Connection { order: "sortKey: ORDER_ID, reverse: true, ", ..ORDERS };
    let second = |connection| service.page(connection, "first: 2").cursors[1].clone();
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
    let sent = log.lines("orderql");
    assert!(!sent.is_empty(), "what is asked is seen");
    for (connection, cursors) in &bad {
        for cursor in cursors {
            for (end, beyond) in [("first", "after"), ("last", "before"), ("first", "before"), ("last", "after")] {
                let written = connection.query(&[format!("{end}: 2, {beyond}: {}", json!(cursor))]);
                let open = connection.query(&[format!("{end}: 2, {beyond}: $cursor")]);
                let open = format!("query Page($cursor: String) {open}");
                for answer in
                    [service.answer(&written, &json!({})), service.answer(&open, &json!({ "cursor": cursor }))]
                {
                    let body = answer.json();
                    assert_eq!(body["data"], Value::Null, "{written}");
                    assert_eq!(answer.code(), "BAD_USER_INPUT", "{written}: {body}");
                    assert_eq!(body["errors"][0]["extensions"]["argument"], beyond, "{written}: {body}");
                }
            }
        }
    }
    assert_eq!(log.lines("orderql"), sent);

    // An item of another order is of the same connection: the page begins behind its place.
    let of_other = json!(second(Connection { around: r#"order(orderId: "O2") { * }"#, ..ITEMS }));
    assert_eq!(digits(&service.page(ITEMS, &format!("first: 2, after: {of_other}")).ids), "3 4");
}

/// The server compares cursors, or sorts pages, byte by byte (or by number), and the database by its collation: rows between
/// the two orders are lost or come twice.
#[tokio::test(flavor = "multi_thread")]
async fn texts_are_walked_in_the_databases_own_order_whatever_its_collation() {
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
    // The tests' own databases sort by bytes. A server that has no other collation is held to that one alone.
    let mut databases = vec![migrated_database().await];
    databases.extend(database_in_another_collation().await);
    for (number, database) in databases.into_iter().enumerate() {
        let service = Service::on(database, &rows).await;
        let ids = service.list("SELECT order_id FROM order_header ORDER BY order_id").await;
        let mut bytewise = ids.clone();
        bytewise.sort();
        assert_eq!(ids == bytewise, number == 0, "the collations differ: {ids:?}");
        service.assert_walks(ORDERS, &ids);
        service.assert_walks(ITEMS, &ids);
        service.assert_walks(of_many, &ids);
        let names = service.list("SELECT order_id FROM order_header ORDER BY order_name, order_id").await;
        service.assert_walks(by_name, &names);
        service.assert_walks(by_name_down, &reverse(names));
    }
}

/// A row-value comparison with a null in it is null, so that the walk ends where the nulls begin, or does not leave them.
#[tokio::test(flavor = "multi_thread")]
async fn walks_go_through_the_nulls_of_their_sort_key() {
    let service = Service::with(
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
        let list = format!("SELECT order_id FROM order_header ORDER BY {column} NULLS LAST, order_id");
        let ids = service.list(&list).await;
        let order = format!("sortKey: {sort_key}, ");
        service.assert_walks(Connection { order: &order, ..ORDERS }, &ids);
        let order = format!("sortKey: {sort_key}, reverse: true, ");
        service.assert_walks(Connection { order: &order, ..ORDERS }, &reverse(ids));
    }
}

/// Cursors keep milliseconds and the database keeps microseconds: rows between two milliseconds come twice or never.
#[tokio::test(flavor = "multi_thread")]
async fn moments_that_differ_by_a_microsecond_or_not_at_all_are_walked_one_by_one() {
    let service = Service::with(
        "INSERT INTO order_header (order_id, order_date, status_id)
             SELECT 'O' || n, timestamptz '2026-05-01 09:30:00.123456Z' + micros * interval '1 microsecond', 'ORDER_APPROVED'
             FROM unnest('{7, 0, 0, 1, 2, 0, 543, 544, 1, 1000}'::int[]) WITH ORDINALITY AS moments (micros, n);
         INSERT INTO order_identification (order_identification_type_id, order_id, from_date, id_value)
             SELECT 'SHOPIFY_ORD_ID', 'O1', timestamptz '2026-05-01 09:30:00.123456Z' + n * interval '1 microsecond', 10 - n
             FROM generate_series(0, 8) AS n",
    )
    .await;
    let by_date = Connection { order: "", ..ORDERS };
    let ids = service.list("SELECT order_id FROM order_header ORDER BY order_date, order_id").await;
    service.assert_walks(by_date, &ids);
    service.assert_walks(Connection { order: "reverse: true, ", ..ORDERS }, &reverse(ids));
    // A nested connection whose key has a moment in it.
    let identifications = Connection { field: "identifications", id: "idValue", ..ITEMS };
    let values = service.list("SELECT id_value FROM order_identification ORDER BY from_date").await;
    service.assert_walks(identifications, &values);
    let around = r#"orders(first: 2, query: "orderId:O1,O2", reverse: true) { edges { node { * } } }"#;
    service.assert_walks(Connection { around, object: ITEMS_OF_MANY.object, ..identifications }, &values);
    // And the moments themselves are answered whole.
    let date = service.page(Connection { id: "orderDate", ..by_date }, "last: 1").ids;
    assert_eq!(date, ["2026-05-01T09:30:00.124456Z"]);
}

/// `hasPreviousPage` is true wherever there is an `after:`, or false wherever nobody looked, and `hasNextPage` likewise
/// with `before:`; or the flags are counted from the cursor's row, which may be gone.
#[tokio::test(flavor = "multi_thread")]
async fn both_flags_of_every_page_say_what_is_there() {
    let service = Service::with(
        "INSERT INTO order_header (order_id, status_id) SELECT 'O' || n, 'ORDER_APPROVED' FROM generate_series(1, 5) AS n;
         INSERT INTO order_item (order_id, order_item_seq_id)
             SELECT 'O1', 'O' || n FROM generate_series(1, 5) AS n UNION ALL VALUES ('O2', 'O1'), ('O2', 'O6')",
    )
    .await;
    // The items' parent has to stay: an order is taken from the root's walk by its status.
    let approved = Connection { order: r#"sortKey: ORDER_ID, query: "statusId:ORDER_APPROVED", "#, ..ORDERS };
    let connections = [approved, ITEMS, ITEMS_OF_MANY];
    let cursors = connections.map(|connection| service.page(connection, "first: 5").cursors);
    let mut left: Vec<String> = (1..=5).map(|n| format!("O{n}")).collect();
    for gone in ["", "O3", "O1", "O5", "O2", "O4"] {
        left.retain(|id| id != gone);
        service
            .run(&format!(
                "UPDATE order_header SET status_id = 'ORDER_CANCELLED' WHERE order_id = '{gone}';
                 DELETE FROM order_item WHERE order_id = 'O1' AND order_item_seq_id = '{gone}'"
            ))
            .await;
        for (connection, cursors) in connections.into_iter().zip(&cursors) {
            let (mut arguments, mut expected) = (Vec::new(), Vec::new());
            for size in [1, 2, 4, 9] {
                for place in 0..=5 {
                    // The places of cursors are 1 to 5, that of none is 0.
                    let cursor = if place == 0 { json!(null) } else { json!(cursors[place - 1]) };
                    let at = format!("O{place}");
                    arguments.push(format!("first: {size}, after: {cursor}"));
                    expected.push(after(&left, &at, size));
                    arguments.push(format!("last: {size}, before: {cursor}"));
                    expected.push(before(&left, if place == 0 { "P" } else { &at }, size));
                }
            }
            let pages = service.pages(connection, &arguments);
            for ((page, expected), arguments) in pages.into_iter().zip(expected).zip(arguments) {
                let found = (page.ids, page.has_previous, page.has_next);
                assert_eq!(found, expected, "{arguments} of {} without {gone}, left: {left:?}", connection.around);
            }
        }
    }
}

/// The ids of a page and its flags, previous and next.
type Expected = (Vec<String>, bool, bool);

/// What `first:` rows behind a place are.
fn after(rows: &[String], place: &str, size: usize) -> Expected {
    let (passed, ahead): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|id| id.as_str() <= place);
    let has_next = ahead.len() > size;
    (ahead.into_iter().take(size).collect(), !passed.is_empty(), has_next)
}

/// What `last:` rows before a place are.
fn before(rows: &[String], place: &str, size: usize) -> Expected {
    let (ahead, passed): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|id| id.as_str() < place);
    let skipped = ahead.len().saturating_sub(size);
    (ahead.into_iter().skip(skipped).collect(), skipped > 0, !passed.is_empty())
}

/// An aggregate is null, not 0, for a parent without children, or wherever the parent is reached by another way than the
/// one that was thought of.
#[tokio::test(flavor = "multi_thread")]
async fn every_count_is_a_number_on_every_way_to_it() {
    let service = Service::with(
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
        let data = service.data(&query);
        let mut seen = Vec::new();
        counted(&data, &mut seen);
        assert_eq!(seen.len(), orders, "{query}: {data}");
        for order in seen {
            for name in ["orderItemCount", "again", "lines"] {
                assert_eq!(order[name], counts[text(&order["orderId"])], "{name} of {order} in {query}");
            }
        }
    }
}

/// Every order whose items are counted, wherever it stands.
fn counted<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("orderItemCount") {
                found.push(value);
            }
            fields.values().for_each(|value| counted(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| counted(value, found)),
        _ => {}
    }
}

/// A moment that is searched for is cut to its day, to its second, or loses its offset.
#[tokio::test(flavor = "multi_thread")]
async fn searches_by_time_compare_to_the_microsecond_and_heed_the_offset() {
    let service = Service::with(
        "CREATE TEMP TABLE moment AS SELECT 'M' || n AS id, moment::timestamptz FROM unnest(ARRAY[
             '2026-04-30T23:59:59.999999Z', '2026-05-01T00:00:00Z', '2026-05-01T09:29:59.999999Z',
             '2026-05-01T09:30:00Z', '2026-05-01T09:30:00.000001Z', '2026-05-01T09:30:00.5Z', '2026-05-01T09:30:01Z',
             '2026-05-01T23:59:59.999999Z', '2026-05-02T00:00:00Z']) WITH ORDINALITY AS moments (moment, n);
         INSERT INTO order_header (order_id, order_date, status_id) SELECT id, moment, 'ORDER_APPROVED' FROM moment;
         INSERT INTO shipment (shipment_id, estimated_ship_date) SELECT id, moment FROM moment;
         INSERT INTO return_header (return_id, entry_date, return_date) SELECT id, moment, moment FROM moment",
    )
    .await;
    // How many of the nine lie before each, and whether the next one is it.
    let moments = [
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
    let terms = moments.into_iter().flat_map(|(moment, before, is_one)| {
        let behind = before + usize::from(is_one);
        [(">", behind..9), (">=", before..9), ("<", 0..before), ("<=", 0..behind)]
            .map(|(comparator, found)| (format!("KEY:{comparator}{moment}"), found))
    });
    let (mut terms, mut expected): (Vec<_>, Vec<_>) = terms.unzip();
    // The whole of a day, and the whole of a second.
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
        let pages = service.pages(connection, &terms.iter().map(page).collect::<Vec<_>>());
        for ((Page { mut ids, .. }, expected), terms) in pages.into_iter().zip(&expected).zip(&terms) {
            ids.sort();
            let expected: Vec<_> = expected.clone().map(|place| format!("M{}", place + 1)).collect();
            assert_eq!(ids, expected, "{terms} of {field} by {key}");
        }
        // A variable's text is read no otherwise.
        let query = format!(
            "query Since($since: String) {{ {field}(first: 9, query: $since) {{ edges {{ node {{ {id} }} }} }} }}"
        );
        let since = json!({ "since": format!("{key}:>2026-05-01T11:30:00+02:00") });
        let answer = service.answer(&query, &since).json();
        assert_eq!(nodes(&answer["data"][field]).count(), 5, "{answer}");
    }
}

/// The rows of a connection.
fn nodes(connection: &Value) -> impl Iterator<Item = &Value> {
    connection["edges"].as_array().unwrap_or_else(|| panic!("{connection}")).iter().map(|edge| &edge["node"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// The last digits of the ids, with spaces between.
fn digits(ids: &[String]) -> String {
    ids.iter().map(|id| &id[id.len() - 1..]).collect::<Vec<_>>().join(" ")
}

fn reverse(mut ids: Vec<String>) -> Vec<String> {
    ids.reverse();
    ids
}
