//! What a row says about its rejection: what is rejected with its items, how stock changes, and what is recorded.

use serde_json::json;

use crate::orders::update::{ONE_BOX, rejecting};
use crate::support::command::{orderql, run};
use crate::support::database::assert_no_deadlocks;
use crate::support::http::Response;
use crate::support::server::{connection_string, wait_until};
use crate::support::store::{Store, messages};

/// Order items of one product: in three shipments of an order, of which one is packed, in a shipment of another order, and in no
/// shipment. The last two are at another facility, or of an order that is completed.
const SAME_PRODUCT: &str = "INSERT INTO product (product_id) VALUES ('SAME'); \
    UPDATE order_item SET product_id = 'SAME' WHERE (order_id, order_item_seq_id) IN (('ORDER_IN_PROGRESS', '00001'), \
        ('ORDER_IN_PROGRESS', '00003'), ('ORDER_IN_PROGRESS', '00005'), ('ORDER_IN_PROGRESS_2', '00001')); \
    UPDATE shipment_item AS item SET product_id = line.product_id FROM order_shipment AS link JOIN order_item AS line \
        USING (order_id, order_item_seq_id) WHERE link.shipment_id = item.shipment_id \
        AND link.shipment_item_seq_id = item.shipment_item_seq_id AND link.order_id LIKE 'ORDER_IN_PROGRESS%'; \
    INSERT INTO order_header (order_id, order_type_id, status_id, product_store_id) VALUES \
        ('WAITING', 'SALES_ORDER', 'ORDER_APPROVED', '9000'), ('ELSEWHERE', 'SALES_ORDER', 'ORDER_APPROVED', '9000'), \
        ('SENT', 'SALES_ORDER', 'ORDER_COMPLETED', '9000'); \
    INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id, shipment_method_type_id, may_split) \
        SELECT order_id, '00001', CASE order_id WHEN 'ELSEWHERE' THEN 'STORE_EXPIRED' ELSE 'STORE_BROADWAY' END, 'STANDARD', 'Y' \
        FROM order_header WHERE order_id IN ('WAITING', 'ELSEWHERE', 'SENT'); \
    INSERT INTO order_item (order_id, order_item_seq_id, product_id, quantity, status_id, ship_group_seq_id) \
        SELECT order_id, seq_id, product_id, 1, 'ITEM_APPROVED', '00001' FROM order_header, \
            (VALUES ('00001', 'SAME'), ('00002', 'MUG')) AS line(seq_id, product_id) \
        WHERE order_id IN ('WAITING', 'ELSEWHERE', 'SENT'); \
    INSERT INTO order_item_ship_group_assoc (order_id, order_item_seq_id, ship_group_seq_id, quantity) \
        SELECT order_id, order_item_seq_id, ship_group_seq_id, quantity FROM order_item \
        WHERE order_id IN ('WAITING', 'ELSEWHERE', 'SENT')";

/// The rejected order items, with the reason of each.
const REJECTED: &str = "SELECT order_id, order_item_seq_id, change_reason_enum_id FROM order_facility_change \
                        WHERE change_user_login = 'demo' ORDER BY 1, 2";

fn cascading(rest: &str) -> String {
    format!("{}&rej_cascadeRejectByProduct_0=Y{rest}", rejecting("SHIP_INPUT", "00001", "MISMATCH"))
}

fn notes(response: &Response) -> Vec<String> {
    assert_eq!(response.status, 200, "{response:?}");
    serde_json::from_value(response.json().get("_EVENT_MESSAGE_LIST_").cloned().unwrap_or(json!([]))).unwrap()
}

fn of_product(order: &str, item: &str) -> String {
    format!(
        "row 0 of rej: the order item {item} of the order {order} is rejected too, because it is of the same product SAME"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_the_product_in_every_order_that_the_facility_has_not_packed() {
    let store = Store::open_with_least_privileges().await;
    store.execute(SAME_PRODUCT).await;
    store.execute("UPDATE order_header SET last_updated_stamp = '2020-01-01'").await;
    let response = store.update_with_key("all", &cascading(""));
    let expected = [
        of_product("ORDER_IN_PROGRESS", "00003"),
        of_product("ORDER_IN_PROGRESS_2", "00001"),
        of_product("WAITING", "00001"),
    ];
    assert_eq!(notes(&response), expected);
    assert_eq!(store.update_with_key("all", &cascading("")).body, response.body);
    assert_eq!(
        store.rows(REJECTED).await,
        [
            "ORDER_IN_PROGRESS 00001 MISMATCH",
            "ORDER_IN_PROGRESS 00003 REJ_AVOID_ORD_SPLIT",
            "ORDER_IN_PROGRESS_2 00001 REJ_CASCADE_BY_PROD",
            "WAITING 00001 REJ_CASCADE_BY_PROD",
        ]
    );
    let shipments = "SELECT shipment_id, status_id FROM shipment WHERE shipment_id IN ('SHIP_APPROVED', 'SHIP_INPUT', 'SHIP_ONE_ITEM', \
                     'SHIP_PACKED') ORDER BY 1";
    assert_eq!(
        store.rows(shipments).await,
        [
            "SHIP_APPROVED SHIPMENT_APPROVED",
            "SHIP_INPUT SHIPMENT_INPUT",
            "SHIP_ONE_ITEM SHIPMENT_CANCELLED",
            "SHIP_PACKED SHIPMENT_PACKED",
        ]
    );
    let stamped = "SELECT order_id FROM order_header WHERE last_updated_stamp > '2020-01-02' ORDER BY 1";
    assert_eq!(store.rows(stamped).await, ["ORDER_IN_PROGRESS", "ORDER_IN_PROGRESS_2", "WAITING"]);
    // Nothing else is missing than what the row reports.
    let variances = "SELECT count(*) FROM inventory_item_variance WHERE change_by_user_login_id = 'demo'";
    assert_eq!(store.rows(variances).await, ["0"], "the product has no stock");
    let audit = "SELECT request #>> '{}' LIKE '%&rej_cascadeRejectByProduct_0=Y', jsonb_path_query_array(changes, \
                 '$[*] ? (@.change == \"itemRejected\").orderId') FROM orderql.order_update";
    assert_eq!(
        store.rows(audit).await,
        [r#"t ["ORDER_IN_PROGRESS", "ORDER_IN_PROGRESS", "ORDER_IN_PROGRESS_2", "WAITING"]"#]
    );
}

/// By product, and all of each ship group of the product's order items.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_says_whether_ship_groups_are_split() {
    let store = Store::open().await;
    store.execute(SAME_PRODUCT).await;
    store.keep().await;
    let item = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let whole = |order: &str, item: &str| {
        format!(
            "row 0 of rej: the order item {item} of the order {order} is rejected too, because its ship group 00001 may not be split"
        )
    };
    let unpack = "DELETE FROM shipment_package_content WHERE shipment_id = 'SHIP_PACKED'; \
                  DELETE FROM order_shipment WHERE shipment_id = 'SHIP_PACKED'; \
                  DELETE FROM shipment_item WHERE shipment_id = 'SHIP_PACKED'";
    store.execute(unpack).await;
    let others = ["00002", "00003", "00004", "00005"].map(|item| whole("ORDER_IN_PROGRESS", item));
    assert_eq!(notes(&store.update(&format!("{item}&rej_maySplit_0=N"))), others);
    store.restore().await;

    let no_split =
        "UPDATE order_item_ship_group SET may_split = 'N' WHERE order_id IN ('ORDER_IN_PROGRESS', 'WAITING')";
    store.execute(no_split).await;
    assert_eq!(notes(&store.update(&format!("{item}&rej_maySplit_0=Y"))), [""; 0]);
    assert_eq!(store.rows(REJECTED).await, ["ORDER_IN_PROGRESS 00001 MISMATCH"]);
    store.restore().await;

    // A row of the same ship group that says nothing keeps it together, in its own name.
    store.execute(&format!("{no_split}; {unpack}")).await;
    let other = "&rej_shipmentId_1=SHIP_INPUT&rej_shipmentItemSeqId_1=00002&rej_rejectionReason_1=MISMATCH";
    let expected = ["00003", "00004", "00005"].map(|item| whole("ORDER_IN_PROGRESS", item).replace("row 0", "row 1"));
    assert_eq!(notes(&store.update(&format!("{item}&rej_maySplit_0=Y{other}"))), expected);
    store.restore().await;

    // The stored rows that a product is found by follow the tables again.
    let follow = "SELECT orderql.refresh_items_of_orders(ARRAY(SELECT order_id::text FROM order_header))";
    store.rows(follow).await;
    let response = store.update(&cascading("&rej_maySplit_0=N"));
    assert_eq!(
        (response.status, messages(&response)),
        (
            409,
            vec![
                "row 0 of rej: the shipment SHIP_PACKED is SHIPMENT_PACKED, and no longer in progress; unpack it first"
                    .to_owned()
            ]
        )
    );
    store.execute(unpack).await;
    let expected = [
        of_product("ORDER_IN_PROGRESS", "00003"),
        of_product("ORDER_IN_PROGRESS", "00005"),
        of_product("ORDER_IN_PROGRESS_2", "00001"),
        of_product("WAITING", "00001"),
        whole("ORDER_IN_PROGRESS", "00002"),
        whole("ORDER_IN_PROGRESS", "00004"),
        whole("WAITING", "00002"),
    ];
    assert_eq!(notes(&store.update(&cascading("&rej_maySplit_0=N"))), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_says_what_is_recorded_and_whether_quantity_on_hand_decreases() {
    let store = Store::open().await;
    store.keep().await;
    let recorded = "SELECT change.comments, history.change_reason, extract(day FROM thru_date - from_date), \
                    (SELECT quantity_on_hand_var FROM inventory_item_variance WHERE change_by_user_login_id = 'demo') \
                    FROM order_facility_change AS change \
                    JOIN order_status AS history ON history.order_id = change.order_id \
                     AND history.order_item_seq_id = change.order_item_seq_id AND history.status_user_login = 'demo' \
                    LEFT JOIN excluded_order_facility AS excluded ON excluded.order_id = change.order_id \
                     AND excluded.order_item_seq_id = change.order_item_seq_id AND excluded.created_stamp > now() - interval '1 hour' \
                    WHERE change_user_login = 'demo'";
    let long = "é".repeat(255);
    for (options, reason, expected) in [
        ("", "MISMATCH", "Store Rejected Inventory Store Rejected Inventory 30 -".to_owned()),
        (
            "&rej_comments_0=&rej_updateQOH_0=N",
            "MISMATCH",
            "Store Rejected Inventory Store Rejected Inventory 30 -".to_owned(),
        ),
        (
            "&rej_comments_0=Torn&rej_excludeOrderFacilityDuration_0=7&rej_updateQOH_0=true",
            "MISMATCH",
            "Torn Torn 7 -2.000000".to_owned(),
        ),
        // A damaged item is still on hand.
        ("&rej_updateQOH_0=Y", "REJ_RSN_DAMAGED", "Store Rejected Inventory Store Rejected Inventory 30 -".to_owned()),
        (
            &format!("&rej_comments_0={long}&rej_excludeOrderFacilityDuration_0=0"),
            "MISMATCH",
            format!("{long} {long} - -"),
        ),
    ] {
        let response = store.update(&format!("{}{options}", rejecting("SHIP_INPUT", "00001", reason)));
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(store.rows(recorded).await, [expected], "{options}");
        store.restore().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_values_before_the_tables_are_read() {
    let store = Store::open().await;
    let mut other = store.database.connect().await;
    let lock = other.transaction().await.unwrap();
    lock.batch_execute("LOCK shipment, order_header, enumeration").await.unwrap();
    let long = "x".repeat(256);
    let form = format!(
        "{}&rej_maySplit_0=yes&rej_cascadeRejectByProduct_0=&rej_updateQOH_0=1&rej_excludeOrderFacilityDuration_0=3651\
         &rej_comments_0={long}&rej_kitComponents_0=A&rej_excludeOrderFacilityDuration_1=1.5&rej_maySplit_2=Y&rej_maySplit_2=N",
        rejecting("SHIP_INPUT", "00001", "MISMATCH")
    );
    let response = store.update(&form);
    assert_eq!(response.status, 400);
    assert_eq!(
        messages(&response)[..8],
        [
            "the parameter rej_maySplit_0 is neither Y nor N (nor true or false)",
            "the parameter rej_cascadeRejectByProduct_0 is neither Y nor N (nor true or false)",
            "the parameter rej_updateQOH_0 is neither Y nor N (nor true or false)",
            "the parameter rej_excludeOrderFacilityDuration_0 is no whole number of days up to 3650",
            "the parameter rej_comments_0 has more than 255 characters",
            "the parameter rej_kitComponents_0 is not supported: an order item is rejected as a whole, and not the components of \
             a kit one by one",
            "the parameter rej_excludeOrderFacilityDuration_1 is no whole number of days up to 3650",
            "the parameter rej_maySplit_2 was sent with different values",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_no_more_than_500_order_items_by_product() {
    let store = Store::open().await;
    store.execute(SAME_PRODUCT).await;
    // With the other order items of the product, and the shipment's own, 501.
    let many = |count: u32| {
        format!(
            "INSERT INTO order_item (order_id, order_item_seq_id, product_id, quantity, status_id, ship_group_seq_id) \
             SELECT 'WAITING', to_char(n, 'FM00000'), 'SAME', 1, 'ITEM_APPROVED', '00001' FROM generate_series(3, {}) AS n",
            count + 2
        )
    };
    store.execute(&many(497)).await;
    let before = store.updatable_rows().await;
    let too_many = "row 0 of rej: with the approved items of the same product at STORE_BROADWAY, more than 500 order items would be \
                    rejected, or too many are packed to look for the others; reject them in several updates, without \
                    cascadeRejectByProduct";
    let response = store.update(&cascading(""));
    assert_eq!((response.status, messages(&response)), (409, vec![too_many.to_owned()]));
    // Few order items of the product, and a ship group with many others.
    store
        .execute("UPDATE order_item SET product_id = 'MUG' WHERE order_id = 'WAITING' AND order_item_seq_id > '00002'")
        .await;
    let response = store.update(&cascading("&rej_maySplit_0=N"));
    assert_eq!((response.status, messages(&response)), (409, vec![too_many.to_owned()]));
    assert_eq!(store.updatable_rows().await, before);
    // With one less it is possible.
    store
        .execute(
            "UPDATE order_item SET product_id = 'SAME' WHERE order_id = 'WAITING' AND order_item_seq_id > '00002' \
             AND order_item_seq_id < '00499'",
        )
        .await;
    assert_eq!(notes(&store.update(&cascading(""))).len(), 499);
}

/// Order items of a completed order are none of them, but have to be passed over.
#[tokio::test(flavor = "multi_thread")]
async fn looks_for_order_items_of_a_product_among_5000_at_most() {
    let store = Store::open().await;
    store.execute(SAME_PRODUCT).await;
    store
        .execute(
            "UPDATE order_item_ship_group SET facility_id = 'STORE_BROADWAY' WHERE order_id = 'SENT'; \
             INSERT INTO order_item (order_id, order_item_seq_id, product_id, quantity, status_id, ship_group_seq_id) \
             SELECT 'SENT', to_char(n, 'FM00000'), 'SAME', 1, 'ITEM_APPROVED', '00001' FROM generate_series(3, 5000) AS n",
        )
        .await;
    let response = store.update(&cascading(""));
    assert_eq!(response.status, 409, "{response:?}");
    assert!(messages(&response)[0].contains("too many are packed"), "{response:?}");
    store.execute("DELETE FROM order_item WHERE order_id = 'SENT' AND order_item_seq_id > '04990'").await;
    assert_eq!(notes(&store.update(&cascading(""))).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_by_product_in_the_orders_of_the_callers_stores_alone() {
    let store = Store::open().await;
    store.execute(SAME_PRODUCT).await;
    store
        .execute(
            "INSERT INTO product_store (product_store_id) VALUES ('OTHER'); \
             UPDATE order_header SET product_store_id = 'OTHER' WHERE order_id = 'ORDER_IN_PROGRESS_2'; \
             UPDATE order_header SET product_store_id = NULL WHERE order_id = 'WAITING'",
        )
        .await;
    let address = connection_string(&store.database.config());
    for scope in [&["store", "9000"][..], &["store", "*", "--remove"]] {
        let mut group = orderql();
        group.args(["group", "scope", "API"]).args(scope).args(["--database-url", &address]);
        assert!(run(&mut group, "").succeeded);
    }
    wait_until(|| store.update(ONE_BOX).status == 403);
    assert_eq!(notes(&store.update(&cascading(""))), [of_product("ORDER_IN_PROGRESS", "00003")]);
    assert_eq!(
        store.rows("SELECT status_id FROM shipment WHERE shipment_id = 'SHIP_ONE_ITEM'").await,
        ["SHIPMENT_APPROVED"]
    );
}

/// Each of two updates has an order item that the other one rejects by product.
#[tokio::test(flavor = "multi_thread")]
async fn updates_that_reject_one_product_wait_for_each_other() {
    let store = Store::open().await;
    store.execute(SAME_PRODUCT).await;
    let other = format!(
        "{ONE_BOX}&rej_shipmentId_0=SHIP_ONE_ITEM&rej_rejectionReason_0=MISMATCH&rej_cascadeRejectByProduct_0=true"
    );
    let mut responses = store.send_together([&|| store.update(&cascading("")), &|| store.update(&other)]).await;
    responses.sort_by_key(|response| response.status);
    assert_eq!(responses.each_ref().map(|response| response.status), [200, 409], "{responses:?}");
    assert_eq!(store.rows(REJECTED).await.len(), 4);
    let Store { server, client, database, .. } = store;
    drop(server);
    assert_no_deadlocks(&client).await;
    drop(database);
}

/// The app lists approved shipments alone: what is left of one stays in its list.
#[tokio::test(flavor = "multi_thread")]
async fn a_shipment_that_loses_some_of_its_items_is_approved_again() {
    let store = Store::open().await;
    store.keep().await;
    let state = "SELECT shipment.status_id, count(tracking_code), count(tracking_id_number), \
                 (SELECT string_agg(history.status_id || ' ' || change_by_user_login_id, ', ' ORDER BY history.status_id) \
                  FROM shipment_status AS history WHERE history.shipment_id = 'SHIP_APPROVED') \
                 FROM shipment JOIN shipment_package_route_seg USING (shipment_id) \
                 JOIN shipment_route_segment USING (shipment_id, shipment_route_segment_id) \
                 WHERE shipment_id = 'SHIP_APPROVED' GROUP BY 1";
    let again = "SHIPMENT_APPROVED 0 0 SHIPMENT_APPROVED demo, SHIPMENT_INPUT demo";
    let reject = rejecting("SHIP_APPROVED", "00001", "MISMATCH");
    for form in [
        reject.clone(),
        // Another box, too.
        format!("{reject}&box_shipmentId_1=SHIP_APPROVED&1_box_rowSubmit=1&box_shipmentBoxTypeId_1=BOPISPACKNG"),
    ] {
        assert_eq!(store.update(&form).status, 200);
        assert_eq!(store.rows(state).await, [again]);
        store.restore().await;
    }
    // One that was not approved is not, and neither is one that is left by a moved item.
    assert_eq!(store.update(&rejecting("SHIP_INPUT", "00001", "MISMATCH")).status, 200);
    let input = "SELECT status_id FROM shipment WHERE shipment_id = 'SHIP_INPUT'";
    assert_eq!(store.rows(input).await, ["SHIPMENT_INPUT"]);
    assert_eq!(store.update(&crate::orders::update::moving("SHIP_APPROVED", "00001", "SHIP_INPUT")).status, 200);
    assert_eq!(store.rows(state).await, ["SHIPMENT_INPUT 0 0 SHIPMENT_INPUT demo"]);
}
