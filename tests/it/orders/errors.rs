//! Rejected updates: status and messages. A rejected update changes no row.

use crate::orders::update::{INPUT_BOX, ONE_BOX, moving, rejecting};
use crate::support::command::{orderql, run};
use crate::support::http::Response;
use crate::support::server::{connection_string, wait_until};
use crate::support::store::{MULTIPART, Store, URLENCODED, messages, multipart, update_request};

/// The messages of a response, after checking its status.
fn errors(response: &Response, status: u16) -> Vec<String> {
    assert_eq!(response.status, status, "{response:?}");
    messages(response)
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_nothing_for_a_caller_who_does_not_see_a_shipment() {
    let store = Store::open().await;
    let scope = |arguments: &str| {
        let arguments = arguments.split(' ').chain(["--database-url"]);
        let address = connection_string(&store.database.config());
        let result = run(orderql().args(["group", "scope", "API"]).args(arguments).arg(&address), "");
        assert!(result.succeeded, "{}", result.stderr);
    };
    let shipment = |id: &str| format!("the shipment {id} is not among those that your user groups may change");
    let order_store = "SELECT product_store_id FROM order_header JOIN shipment ON primary_order_id = order_id
                       WHERE shipment_id = 'SHIP_INPUT'";
    let own = store.rows(order_store).await.remove(0);
    let form = moving("SHIP_INPUT", "00001", "SHIP_APPROVED");
    for (scope_name, others) in [("facility", "NEITHER"), ("store", "NEITHER")] {
        scope(&format!("{scope_name} {others}"));
        scope(&format!("{scope_name} * --remove"));
        wait_until(|| store.update(INPUT_BOX).status == 403);
        let before = store.updatable_rows().await;
        for refused in
            [store.update(&form), store.update_with_key("unseen", &form), store.update_with_key("unseen", &form)]
        {
            assert_eq!(
                (messages(&refused), refused.status),
                (vec![shipment("SHIP_APPROVED"), shipment("SHIP_INPUT")], 403)
            );
        }
        assert_eq!(store.updatable_rows().await, before);
        scope(&format!("{scope_name} *"));
        wait_until(|| store.update(INPUT_BOX).status == 200);
    }
    scope("facility STORE_BROADWAY");
    scope("facility * --remove");
    scope(&format!("store {own}"));
    scope("store * --remove");
    let unknown = INPUT_BOX.replace("SHIP_INPUT", "SHIP_UNKNOWN");
    wait_until(|| store.update(&unknown).status == 403);
    assert_eq!(messages(&store.update(&unknown)), [shipment("SHIP_UNKNOWN")]);
    wait_until(|| store.update(&form).status == 200);
}

/// An item is in a shipment of another facility too, or its ship group may not be split and has an item there.
#[tokio::test(flavor = "multi_thread")]
async fn names_no_shipment_that_the_caller_neither_sees_nor_named() {
    let store = Store::open().await;
    let part = "UPDATE shipment SET origin_facility_id = (SELECT min(facility_id) FROM facility WHERE facility_id <> 'STORE_BROADWAY') WHERE shipment_id = 'SHIP_APPROVED'; \
                INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, product_id, quantity) VALUES ('SHIP_APPROVED', '00009', 'SHIRT_L', 1); \
                INSERT INTO order_shipment SELECT order_id, order_item_seq_id, ship_group_seq_id, 'SHIP_APPROVED', '00009', 1 \
                FROM order_shipment WHERE shipment_id = 'SHIP_INPUT' AND shipment_item_seq_id = '00001'";
    store.execute(part).await;
    let address = connection_string(&store.database.config());
    for scope in [["STORE_BROADWAY", ""], ["*", "--remove"]] {
        let arguments = scope.iter().filter(|argument| !argument.is_empty());
        let mut group = orderql();
        group.args(["group", "scope", "API", "facility"]).args(arguments).args(["--database-url", &address]);
        assert!(run(&mut group, "").succeeded);
    }
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let is_hidden = || messages(&store.update(&form)).iter().all(|message| !message.contains("SHIP_APPROVED"));
    wait_until(is_hidden);
    let elsewhere = "row 0 of rej: the order item 00001 of the order ORDER_IN_PROGRESS is in another shipment too, which is not among \
                     those that your user groups may change";
    assert_eq!(errors(&store.update(&form), 409), [elsewhere]);
    store.execute("UPDATE order_item_ship_group SET may_split = 'N' WHERE order_id = 'ORDER_IN_PROGRESS'").await;
    let changed =
        "the update would change another shipment too, which is not among those that your user groups may change";
    assert_eq!(errors(&store.update(&form), 403), [changed]);
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_every_error_of_a_form_together() {
    let store = Store::open().await;
    let before = store.updatable_rows().await;
    let form = "box_shipmentId_x=SHIP_INPUT&0_box_rowSubmit=zero&box_shipmentId_0=SHIP_INPUT&box_shipmentId_0=SHIP_APPROVED\
                &rej_shipmentItemSeqId_1=&rtp_shipmentItemSeqId_2=00001&2_rtp_rowSubmit=-1&99999999999_rej_rowSubmit=1\
                &rej_quantity_1=1&0_box_weight=2";
    let expected = [
        "the parameter facilityId is missing",
        "the parameter box_shipmentId_x has an index that is no whole number up to 4294967295",
        "the parameter 0_box_rowSubmit is no whole number up to 4294967295",
        "the parameter box_shipmentId_0 was sent with different values",
        "the parameter 2_rtp_rowSubmit is no whole number up to 4294967295",
        "the parameter 99999999999_rej_rowSubmit has an index that is no whole number up to 4294967295",
        "there is no parameter rej_quantity_1; the rej rows have rej_shipmentId_<n>, rej_shipmentItemSeqId_<n>, \
         rej_rejectionReason_<n>, rej_maySplit_<n>, rej_cascadeRejectByProduct_<n>, rej_updateQOH_<n>, \
         rej_excludeOrderFacilityDuration_<n>, rej_comments_<n>, <n>_rej_rowSubmit",
        "there is no parameter 0_box_weight; the box rows have box_shipmentId_<n>, box_shipmentBoxTypeId_<n>, <n>_box_rowSubmit",
        "the parameter box_shipmentBoxTypeId_0 is missing",
        "the parameter rej_shipmentItemSeqId_1 is empty; leave it out to mean every item of the shipment",
        "the parameter rej_shipmentId_1 is missing",
        "the parameter rej_rejectionReason_1 is missing",
        "the parameter rtp_shipmentId_2 is missing",
        "the parameter rtp_newShipmentId_2 is missing",
    ];
    assert_eq!(errors(&store.update(form), 400), expected);
    assert_eq!(errors(&store.send(&[MULTIPART], &multipart(form)), 400), expected);
    assert_eq!(errors(&store.update(""), 400).len(), 2);
    for (headers, body, word) in [
        (&[URLENCODED][..], "facilityId=%00", "UTF-8"),
        (&[URLENCODED], "facilityId=%ff", "UTF-8"),
        (&[MULTIPART], "------part\r\n", "cannot be read"),
        (&["Content-Type: multipart/form-data"], "", "has no boundary"),
        (&[MULTIPART], "------part\r\nContent-Disposition: form-data\r\n\r\n1\r\n------part--", "has no name"),
        (&[URLENCODED, "Idempotency-Key: a", "Idempotency-Key: b"], INPUT_BOX, "one Idempotency-Key"),
        (&[URLENCODED, "Idempotency-Key: "], INPUT_BOX, "Idempotency-Key"),
        (&[URLENCODED, "Idempotency-Key: é"], INPUT_BOX, "visible ASCII"),
        (&[URLENCODED, "Idempotency-Key: a b"], INPUT_BOX, "visible ASCII"),
        (&[URLENCODED, &format!("Idempotency-Key: {}", "x".repeat(256))], INPUT_BOX, "255"),
    ] {
        let errors = errors(&store.send(headers, body), 400);
        assert!(errors.len() == 1 && errors[0].contains(word), "{errors:?}");
    }
    let rows: Vec<_> = (0..600).map(|n| format!("&rej_shipmentId_{n}=A&rej_rejectionReason_{n}=B")).collect();
    assert_eq!(
        errors(&store.update(&format!("{INPUT_BOX}{}", rows.concat())), 400),
        ["the form has more than 500 rows"]
    );
    assert!(errors(&store.update(&"a=b&".repeat(5001)), 400)[0].contains("more than 5000 parameters"));
    let large = format!("{INPUT_BOX}&note={}", "x".repeat(128 * 1024));
    assert_eq!(errors(&store.update(&large), 400), ["the names and values of the form have more than 131072 bytes"]);
    let long = format!("{}&rej_rejectionReason_1=R", rejecting("SHIP_INPUT", &"x".repeat(256), "MISMATCH"));
    assert_eq!(
        errors(&store.update(&long), 400),
        ["the parameter rej_shipmentItemSeqId_0 has more than 255 bytes", "the parameter rej_shipmentId_1 is missing"]
    );
    let name = format!("{INPUT_BOX}&{}=1", "x".repeat(256));
    assert!(errors(&store.update(&name), 400)[0].contains("name has more than 255 bytes"));
    let many: Vec<_> = (0..100).map(|n| format!("&box_shipmentId_x{n}=1")).collect();
    let many = errors(&store.update(&format!("{INPUT_BOX}{}", many.concat())), 400);
    assert_eq!((many.len(), many[50].as_str()), (51, "and 50 more errors"));
    assert_eq!(store.updatable_rows().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_requests_in_the_error_format_of_the_update() {
    let store = Store::open().await;
    let good = update_request(&store.token, &[URLENCODED], INPUT_BOX);
    for (change, by, status) in [
        ("Authorization: Bearer", "X: y", 401),
        ("Authorization: Bearer ", "Authorization: Bearer x", 401),
        ("POST", "GET", 405),
        ("POST", "DELETE", 405),
        ("Content-Type: application/x-www-form-urlencoded", "Content-Type: application/json", 415),
        ("Content-Type: application/x-www-form-urlencoded", "X: y", 415),
        ("x-www-form-urlencoded", "x-www-form-urlencoded; charset=utf-16", 415),
        ("Content-Type", "Content-Encoding: gzip\r\nContent-Type", 415),
        ("Content-Length: ", "Content-Length: 9999", 413),
    ] {
        let responses = store.server.exchange(good.replace(change, by));
        assert_eq!(errors(&responses[0], status).len(), 1, "{change}");
        assert_eq!(responses[0].header("allow"), (status == 405).then_some("POST, OPTIONS"));
        assert_eq!(responses[0].header("www-authenticate").is_some(), status == 401);
    }

    // Without a grant, the server reads neither the form, which is invalid, nor any table, which are locked.
    let mut other = store.database.connect().await;
    let lock = other.transaction().await.unwrap();
    let guest = store.server.token("guest");
    lock.batch_execute(
        "LOCK shipment, order_header, orderql.idempotent_answer, orderql.user_account, orderql.artifact_grant",
    )
    .await
    .unwrap();
    for form in ["%00", INPUT_BOX] {
        let response = store.send_as(&guest, &[URLENCODED, "Idempotency-Key: a"], form);
        assert_eq!(errors(&response, 403), ["none of your user groups has the grant on /api/updateOrder"]);
    }
    drop(lock);
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_broken_rules_by_row_and_changes_nothing() {
    let store = Store::open().await;
    let before = store.updatable_rows().await;
    let long = "x".repeat(255);
    let long_item = format!("row 0 of rej: there is no item {long} in the shipment SHIP_INPUT");
    let cases = [
        (INPUT_BOX.replace("SHIP_INPUT", "NONE"), 404, &["row 0 of box: there is no shipment NONE"][..]),
        (INPUT_BOX.replace("YOURPACKNG", "BOX'--"), 404, &["row 0 of box: there is no box type BOX'--"]),
        (
            INPUT_BOX.replace("STORE_BROADWAY", "STORE_9"),
            409,
            &["row 0 of box: the shipment SHIP_INPUT starts at STORE_BROADWAY, not at STORE_9"],
        ),
        (
            INPUT_BOX.replace("SHIP_INPUT", "SHIP_PACKED"),
            409,
            &["row 0 of box: the shipment SHIP_PACKED is SHIPMENT_PACKED, and no longer in progress; unpack it first"],
        ),
        (
            moving("SHIP_INPUT", "00001", "SHIP_SHIPPED"),
            409,
            &["row 0 of rtp: the shipment SHIP_SHIPPED is SHIPMENT_SHIPPED, and no longer in progress"],
        ),
        (
            moving("SHIP_INPUT", "00001", "SHIP_ONE_ITEM"),
            409,
            &["row 0 of rtp: the shipments SHIP_INPUT and SHIP_ONE_ITEM are not of the same order"],
        ),
        (moving("SHIP_INPUT", "", "GONE"), 404, &["row 0 of rtp: there is no shipment GONE"]),
        (
            rejecting("SHIP_INPUT", "00009", "MISMATCH"),
            409,
            &["row 0 of rej: there is no item 00009 in the shipment SHIP_INPUT"],
        ),
        (rejecting("SHIP_INPUT", &long, "MISMATCH"), 409, &[long_item.as_str()]),
        (
            rejecting("SHIP_INPUT", "00001", "DAMAGED"),
            404,
            &["row 0 of rej: there is no rejection reason DAMAGED; there are INACTIVE_STORE, MISMATCH, NOT_IN_STOCK, \
               NO_VARIANCE_LOG, REJECT_ENTIRE_ORDER, REJ_AVOID_ORD_SPLIT, REJ_CASCADE_BY_PROD, REJ_RSN_DAMAGED, \
               SYS_REJ_IDLE_ORD, WORN_DISPLAY"],
        ),
        (
            format!(
                "{}&rtp_shipmentId_4=SHIP_INPUT&rtp_newShipmentId_4=SHIP_APPROVED",
                rejecting("SHIP_INPUT", "00001", "MISMATCH")
            ),
            409,
            &["row 4 of rtp: the item 00001 of the shipment SHIP_INPUT is in the row rej 0 already"],
        ),
        (
            format!(
                "{}&rej_shipmentId_1=SHIP_INPUT&rej_rejectionReason_1=NONE",
                INPUT_BOX.replace("SHIP_INPUT", "NONE")
            ),
            404,
            &["row 0 of box: there is no shipment NONE", "row 1 of rej: there is no rejection reason NONE; there are"],
        ),
    ];
    for (form, status, expected) in &cases {
        let errors = errors(&store.update(form), *status);
        assert_eq!(errors.len(), expected.len(), "{errors:?}");
        for (error, expected) in errors.iter().zip(*expected) {
            assert!(error.starts_with(expected), "{error:?}");
        }
        assert_eq!(store.updatable_rows().await, before, "{form}");
    }
    // One invalid row is enough: no row is applied.
    let form = format!(
        "{}&rej_shipmentId_1=SHIP_APPROVED&rej_rejectionReason_1=NONE",
        rejecting("SHIP_INPUT", "00001", "MISMATCH")
    );
    errors(&store.update(&form), 404);
    assert_eq!(store.updatable_rows().await, before);
}

/// Only approved lines of orders in progress can be rejected or moved, and only within their ship group.
#[tokio::test(flavor = "multi_thread")]
async fn rejects_what_the_state_of_an_order_does_not_allow() {
    let store = Store::open().await;
    store.keep().await;
    let reject = &rejecting("SHIP_APPROVED", "00001", "MISMATCH");
    let moved = &moving("SHIP_APPROVED", "00001", "SHIP_INPUT");
    let line = |status: &str| {
        format!(
            "UPDATE order_item SET status_id = {status} WHERE order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00003'"
        )
    };
    let order =
        |status: &str| format!("UPDATE order_header SET status_id = '{status}' WHERE order_id = 'ORDER_IN_PROGRESS'");
    let group = "INSERT INTO order_item_ship_group (order_id, ship_group_seq_id, facility_id, shipment_method_type_id) \
                 VALUES ('ORDER_IN_PROGRESS', '00009', 'STORE_BROADWAY', 'NEXT_DAY'); \
                 UPDATE order_item SET ship_group_seq_id = '00009' WHERE order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00003'";
    // Of a ship group that may not be split, one item is packed.
    let whole = "UPDATE order_item_ship_group SET may_split = 'N' WHERE order_id = 'ORDER_IN_PROGRESS'";
    let not_approved = |kind: &str, status: &str| {
        format!(
            "row 0 of {kind}: the order item 00003 of the order ORDER_IN_PROGRESS is {status}, and only approved ones can be rejected or moved"
        )
    };
    let closed = |status: &str| {
        // Reported once, with the first row, although all rows are about shipments of the order.
        format!("row 0 of box: the order ORDER_IN_PROGRESS is {status}, and no longer in progress")
    };
    for (change, form, expected) in [
        (line("'ITEM_CANCELLED'"), reject, vec![not_approved("rej", "ITEM_CANCELLED")]),
        (line("'ITEM_COMPLETED'"), reject, vec![not_approved("rej", "ITEM_COMPLETED")]),
        (line("NULL"), reject, vec![not_approved("rej", "without a status")]),
        (line("'ITEM_CREATED'"), moved, vec![not_approved("rtp", "ITEM_CREATED")]),
        (order("ORDER_CANCELLED"), reject, vec![closed("ORDER_CANCELLED")]),
        (order("ORDER_COMPLETED"), reject, vec![closed("ORDER_COMPLETED")]),
        (order("ORDER_REJECTED"), &INPUT_BOX.to_owned(), vec![closed("ORDER_REJECTED")]),
        (order("ORDER_SENT"), moved, vec![closed("ORDER_SENT")]),
        (order("ORDER_EXPIRED"), reject, vec![closed("ORDER_EXPIRED")]),
        (group.to_owned(), moved, vec!["row 0 of rtp: the item 00001 of the shipment SHIP_APPROVED is of the ship group 00009, and the shipment SHIP_INPUT of 00001".to_owned()]),
        (whole.to_owned(), reject, vec!["row 0 of rej: the shipment SHIP_PACKED is SHIPMENT_PACKED, and no longer in progress; unpack it first".to_owned()]),
    ] {
        store.execute(&change).await;
        let before = store.updatable_rows().await;
        assert_eq!(errors(&store.update(form), 409), expected);
        assert_eq!(store.updatable_rows().await, before, "{change}");
        store.restore().await;
    }
}

/// A line in two boxes, of which one is packed or sent: the message names a way out, and it works.
#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_with_a_packed_part_names_a_way_out() {
    let store = Store::open().await;
    store
        .execute(
            "INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, product_id, quantity) VALUES ('SHIP_PACKED', '00007', 'SHIRT_L', 1); \
             INSERT INTO order_shipment VALUES ('ORDER_IN_PROGRESS', '00003', '00001', 'SHIP_PACKED', '00007', 1); \
             UPDATE order_shipment SET quantity = 2 WHERE shipment_id = 'SHIP_APPROVED' AND order_item_seq_id = '00003'",
        )
        .await;
    let one = rejecting("SHIP_APPROVED", "00001", "MISMATCH");
    let both = format!(
        "{one}&rej_shipmentId_1=SHIP_PACKED&rej_shipmentItemSeqId_1=00007&rej_rejectionReason_1=INACTIVE_STORE"
    );
    let part = "row 0 of rej: the order item 00003 of the order ORDER_IN_PROGRESS is in the item 00007 of the shipment SHIP_PACKED too";
    let unpack =
        format!("{part}, which is SHIPMENT_PACKED; unpack that shipment, then reject both in the same request");
    assert_eq!(errors(&store.update(&one), 409), [unpack]);
    assert_eq!(
        errors(&store.update(&both), 409),
        ["row 1 of rej: the shipment SHIP_PACKED is SHIPMENT_PACKED, and no longer in progress; unpack it first"]
    );
    store.execute("UPDATE shipment SET status_id = 'SHIPMENT_SHIPPED' WHERE shipment_id = 'SHIP_PACKED'").await;
    let sent = ", which is SHIPMENT_SHIPPED, so that it cannot be rejected any more; split the order item first";
    assert_eq!(errors(&store.update(&one), 409), [format!("{part}{sent}")]);
    // Unpacked, as OFBiz does it.
    store.execute("UPDATE shipment SET status_id = 'SHIPMENT_APPROVED' WHERE shipment_id = 'SHIP_PACKED'").await;
    assert_eq!(errors(&store.update(&one), 409), [format!("{part}; reject both in the same request")]);
    assert_eq!(store.update(&both).status, 200);
}

/// Other programs may leave inconsistent data. The update rejects it with a message or copes with it; nothing is a server error.
#[tokio::test(flavor = "multi_thread")]
async fn inconsistent_data_is_no_server_error() {
    let reject = &rejecting("SHIP_APPROVED", "00001", "MISMATCH");
    let line = "order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00003'";
    let item = "shipment_id = 'SHIP_APPROVED' AND shipment_item_seq_id = '00001'";
    let split = "INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, product_id, quantity) VALUES ('SHIP_INPUT', '00007', 'SHIRT_L', 1); \
                 INSERT INTO order_shipment VALUES ('ORDER_IN_PROGRESS', '00003', '00001', 'SHIP_INPUT', '00007', 1)";
    let store = Store::open().await;
    store.keep().await;
    let spread = "INSERT INTO order_item_ship_group VALUES ('ORDER_IN_PROGRESS', '00005'); \
                  INSERT INTO order_item_ship_group_assoc VALUES ('ORDER_IN_PROGRESS', '00003', '00005', 1)";
    for (change, form, expected) in [
        (format!("DELETE FROM order_shipment WHERE {item}"), reject, "row 0 of rej: the item 00001 of the shipment SHIP_APPROVED belongs to no order item"),
        (format!("UPDATE order_shipment SET order_item_seq_id = '00077' WHERE {item}"), reject, "row 0 of rej: the item 00001 of the shipment SHIP_APPROVED belongs to no order item"),
        (format!("UPDATE order_item SET ship_group_seq_id = 'NOWHERE' WHERE {line}"), reject, "row 0 of rej: the order item 00003 of the order ORDER_IN_PROGRESS is in no ship group"),
        (split.to_owned(), reject, "row 0 of rej: the order item 00003 of the order ORDER_IN_PROGRESS is in the item 00007 of the shipment SHIP_INPUT too; reject both in the same request"),
        (spread.to_owned(), reject, "row 0 of rej: the order item 00003 of the order ORDER_IN_PROGRESS is spread over several ship groups; split it first"),
        (format!("INSERT INTO item_issuance (item_issuance_id, shipment_id, shipment_item_seq_id) SELECT 'ISSUED', shipment_id, shipment_item_seq_id FROM shipment_item WHERE {item}"), reject, "row 0 of rej: the item 00001 of the shipment SHIP_APPROVED has been issued or received already"),
        ("UPDATE shipment SET status_id = NULL WHERE shipment_id = 'SHIP_APPROVED'".to_owned(), reject, "row 0 of rej: the shipment SHIP_APPROVED is without a status, and no longer in progress"),
        ("UPDATE shipment SET origin_facility_id = NULL WHERE shipment_id = 'SHIP_APPROVED'".to_owned(), reject, "row 0 of rej: the shipment SHIP_APPROVED starts at no facility, not at STORE_BROADWAY"),
        ("DELETE FROM order_shipment WHERE shipment_id = 'SHIP_APPROVED'; UPDATE shipment SET primary_order_id = NULL WHERE shipment_id = 'SHIP_APPROVED'".to_owned(), &moving("SHIP_APPROVED", "00001", "SHIP_INPUT"), "row 0 of rtp: the shipments SHIP_APPROVED and SHIP_INPUT are not of the same order"),
        (format!("CREATE TABLE theirs AS SELECT shipment_id, shipment_item_seq_id FROM shipment_item WHERE {item}; \
                  ALTER TABLE theirs ADD FOREIGN KEY (shipment_id, shipment_item_seq_id) REFERENCES shipment_item"), reject, "rows of theirs refer to what would be deleted"),
    ] {
        store.execute(&change).await;
        let before = store.updatable_rows().await;
        assert_eq!(errors(&store.update(form), 409), [expected]);
        assert_eq!(store.updatable_rows().await, before);
        store.execute("DROP TABLE IF EXISTS theirs").await;
        store.restore().await;
    }

    // Both parts of a split line together; null quantities and a null primary order; a cancelled assignment; an item for two
    // lines of different orders.
    store.execute(split).await;
    store.execute("INSERT INTO order_shipment VALUES ('ORDER_IN_PROGRESS_2', '00001', '00001', 'SHIP_APPROVED', '00001', NULL); \
               DELETE FROM shipment_package_content WHERE shipment_id = 'SHIP_ONE_ITEM'; \
               DELETE FROM order_shipment WHERE shipment_id = 'SHIP_ONE_ITEM'; \
               UPDATE order_shipment SET quantity = NULL WHERE shipment_id = 'SHIP_APPROVED'; \
               UPDATE shipment_item SET quantity = NULL WHERE shipment_id = 'SHIP_APPROVED'; \
               UPDATE shipment SET primary_order_id = NULL WHERE shipment_id = 'SHIP_APPROVED'; \
               UPDATE order_item_ship_grp_inv_res SET quantity = NULL WHERE order_id = 'ORDER_IN_PROGRESS_2'; \
               INSERT INTO order_item_ship_group VALUES ('ORDER_IN_PROGRESS', '00002', 'STANDARD'); \
               UPDATE order_item_ship_group SET facility_id = 'REJECTED_ITM_PARKING' WHERE ship_group_seq_id = '00002' AND order_id = 'ORDER_IN_PROGRESS'; \
               INSERT INTO order_item_ship_group_assoc VALUES ('ORDER_IN_PROGRESS', '00003', '00002', 2, 2)").await;
    let form = format!(
        "{reject}&rej_shipmentId_1=SHIP_INPUT&rej_shipmentItemSeqId_1=00007&rej_rejectionReason_1=INACTIVE_STORE"
    );
    let response = store.update(&form);
    assert_eq!(response.status, 200, "{response:?}");
    let lines = "SELECT order_id, order_item_seq_id, item.ship_group_seq_id, assigned.ship_group_seq_id, assigned.quantity, assigned.cancel_quantity \
                 FROM order_item AS item JOIN order_item_ship_group_assoc AS assigned USING (order_id, order_item_seq_id) \
                 WHERE order_id LIKE 'ORDER_IN_PROGRESS%' AND item.ship_group_seq_id > '00001' ORDER BY 1";
    assert_eq!(
        store.rows(lines).await,
        ["ORDER_IN_PROGRESS 00003 00002 00002 3.000000 -", "ORDER_IN_PROGRESS_2 00001 00002 00002 1.000000 -"]
    );
    let reserved = "SELECT order_id FROM order_item_ship_grp_inv_res WHERE order_item_seq_id = '00003' AND order_id = 'ORDER_IN_PROGRESS'";
    assert!(store.rows(reserved).await.is_empty());
    assert_eq!(
        store
            .rows("SELECT available_to_promise_total FROM inventory_item WHERE inventory_item_id = 'INV_SHIRT_L_NEW'")
            .await,
        ["24.000000"]
    );

    // A user id that is too long for OFBiz's columns.
    let long = "u".repeat(300);
    store.execute(&format!("INSERT INTO orderql.user_account (user_id, password_hash) SELECT '{long}', password_hash FROM orderql.user_account WHERE user_id = 'demo'; \
                        INSERT INTO orderql.group_member VALUES ('API', '{long}')")).await;
    let token = loop {
        // Signing in succeeds as soon as the server knows the account.
        let response = store.server.sign_in("/auth/token", &long, "demo");
        if response.status == 200 {
            break response.json()["access_token"].as_str().unwrap().to_owned();
        }
    };
    let response = loop {
        let response = store.send_as(&token, &[URLENCODED], &ONE_BOX.replace("YOURPACKNG", "BOPISPACKNG"));
        if response.status != 403 {
            break response;
        }
    };
    assert!(errors(&response, 409)[0].starts_with("a value is too long for the database"));
}
