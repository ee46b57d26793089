//! What is refused, with which status and words; and that it leaves no trace.

use crate::orders::update::{INPUT_BOX, ONE_BOX, moving, rejecting};
use crate::support::server::Answer;
use crate::support::store::{MULTIPART, Store, URLENCODED, messages, multipart, request};

fn told(answer: &Answer, status: u16) -> Vec<String> {
    assert_eq!(answer.status, status, "{answer:?}");
    messages(answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_told_all_that_is_wrong_with_it() {
    let store = Store::open().await;
    let before = store.traces().await;
    let form = "box_shipmentId_x=SHIP_INPUT&0_box_rowSubmit=zero&box_shipmentId_0=SHIP_INPUT&box_shipmentId_0=SHIP_APPROVED\
                &rej_shipmentItemSeqId_1=&rtp_shipmentItemSeqId_2=00001&2_rtp_rowSubmit=-1&99999999999_rej_rowSubmit=1";
    let expected = [
        "the parameter facilityId is missing",
        "the parameter box_shipmentId_x has an index that is no whole number up to 4294967295",
        "the parameter 0_box_rowSubmit is no whole number up to 4294967295",
        "the parameter box_shipmentId_0 was sent with different values",
        "the parameter 2_rtp_rowSubmit is no whole number up to 4294967295",
        "the parameter 99999999999_rej_rowSubmit has an index that is no whole number up to 4294967295",
        "at least one row with box_shipmentId_<n>, box_shipmentBoxTypeId_<n> and <n>_box_rowSubmit is required",
        "the parameter rej_shipmentItemSeqId_1 is empty; leave it out to mean every item of the shipment",
        "the parameter rej_shipmentId_1 is missing",
        "the parameter rej_rejectionReason_1 is missing",
        "the parameter rtp_shipmentId_2 is missing",
        "the parameter rtp_newShipmentId_2 is missing",
    ];
    assert_eq!(told(&store.update(form), 400), expected);
    assert_eq!(told(&store.send(&[MULTIPART], &multipart(form)), 400), expected);
    assert_eq!(told(&store.update(""), 400).len(), 2);
    for (headers, body, word) in [
        (&[URLENCODED][..], "facilityId=%00", "UTF-8"),
        (&[URLENCODED], "facilityId=%ff", "UTF-8"),
        (&[MULTIPART], "------part\r\n", "cannot be read"),
        (&["Content-Type: multipart/form-data"], "", "cannot be read"),
        (&[MULTIPART], "------part\r\nContent-Disposition: form-data\r\n\r\n1\r\n------part--", "has no name"),
        (&[URLENCODED, "Idempotency-Key: a", "Idempotency-Key: b"], INPUT_BOX, "one Idempotency-Key"),
        (&[URLENCODED, "Idempotency-Key: "], INPUT_BOX, "Idempotency-Key"),
        (&[URLENCODED, "Idempotency-Key: é"], INPUT_BOX, "visible ASCII"),
        (&[URLENCODED, &format!("Idempotency-Key: {}", "x".repeat(256))], INPUT_BOX, "255"),
    ] {
        let told = told(&store.send(headers, body), 400);
        assert!(told.len() == 1 && told[0].contains(word), "{told:?}");
    }
    let rows: Vec<_> = (0..600).map(|n| format!("&rej_shipmentId_{n}=A&rej_rejectionReason_{n}=B")).collect();
    assert_eq!(told(&store.update(&format!("{INPUT_BOX}{}", rows.concat())), 400), ["the form has more than 500 rows"]);
    assert!(told(&store.update(&"a=b&".repeat(5001)), 400)[0].contains("more than 5000 parameters"));
    assert_eq!(store.traces().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_door_refuses_in_the_words_of_its_clients() {
    let store = Store::open().await;
    let good = request(&store.token, &[URLENCODED], INPUT_BOX);
    for (change, by, status) in [
        ("Authorization: Bearer", "X: y", 401),
        ("Authorization: Bearer ", "Authorization: Bearer x", 401),
        ("POST", "GET", 405),
        ("POST", "DELETE", 405),
        ("Content-Type: application/x-www-form-urlencoded", "Content-Type: application/json", 415),
        ("Content-Type: application/x-www-form-urlencoded", "X: y", 415),
        ("Content-Type", "Content-Encoding: gzip\r\nContent-Type", 415),
        ("Content-Length: ", "Content-Length: 9999", 413),
    ] {
        let answers = store.server.exchange(good.replace(change, by));
        assert_eq!(told(&answers[0], status).len(), 1, "{change}");
        assert_eq!(answers[0].header("allow"), (status == 405).then_some("POST, OPTIONS"));
        assert_eq!(answers[0].header("www-authenticate").is_some(), status == 401);
    }

    // Nothing is read for who has no grant: not the form, which is bad, nor any table, which could not be.
    let mut holder = store.database.connect().await;
    let hold = holder.transaction().await.unwrap();
    let guest = store.server.token("guest");
    hold.batch_execute(
        "LOCK shipment, order_header, orderql.idempotent_answer, orderql.user_account, orderql.artifact_grant",
    )
    .await
    .unwrap();
    for form in ["%00", INPUT_BOX] {
        let answer = store.send_as(&guest, &[URLENCODED, "Idempotency-Key: a"], form);
        assert_eq!(told(&answer, 403), ["none of your user groups has the grant on /api/updateOrder"]);
    }
    drop(hold);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_forbid_is_told_by_row_and_leaves_no_trace() {
    let store = Store::open().await;
    let before = store.traces().await;
    let long = "x".repeat(5000);
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
            &["row 0 of box: the shipment SHIP_PACKED is SHIPMENT_PACKED, and no longer in progress"],
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
        let told = told(&store.update(form), *status);
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (told, expected) in told.iter().zip(*expected) {
            assert!(told.starts_with(expected), "{told:?}");
        }
        assert_eq!(store.traces().await, before, "{form}");
    }
    // One bad row is enough for none to be applied.
    let form = format!(
        "{}&rej_shipmentId_1=SHIP_APPROVED&rej_rejectionReason_1=NONE",
        rejecting("SHIP_INPUT", "00001", "MISMATCH")
    );
    told(&store.update(&form), 404);
    assert_eq!(store.traces().await, before);
}

/// Data as other programs may have left it: each is refused with a word about it, or dealt with; none is a fault.
#[tokio::test(flavor = "multi_thread")]
async fn data_that_is_not_as_it_should_be_is_no_fault() {
    let reject = &rejecting("SHIP_APPROVED", "00001", "MISMATCH");
    let line = "order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00003'";
    let item = "shipment_id = 'SHIP_APPROVED' AND shipment_item_seq_id = '00001'";
    let split = "INSERT INTO shipment_item (shipment_id, shipment_item_seq_id, product_id, quantity) VALUES ('SHIP_INPUT', '00007', 'SHIRT_L', 1); \
                 INSERT INTO order_shipment VALUES ('ORDER_IN_PROGRESS', '00003', '00001', 'SHIP_INPUT', '00007', 1)";
    let spread = "INSERT INTO order_item_ship_group VALUES ('ORDER_IN_PROGRESS', '00005'); \
                  INSERT INTO order_item_ship_group_assoc VALUES ('ORDER_IN_PROGRESS', '00003', '00005', 1)";
    for (change, form, expected) in [
        (format!("DELETE FROM order_shipment WHERE {item}"), reject, "row 0 of rej: the item 00001 of the shipment SHIP_APPROVED belongs to no order item"),
        (format!("UPDATE order_shipment SET order_item_seq_id = '00077' WHERE {item}"), reject, "row 0 of rej: the item 00001 of the shipment SHIP_APPROVED belongs to no order item"),
        (format!("UPDATE order_item SET ship_group_seq_id = 'NOWHERE' WHERE {line}"), reject, "row 0 of rej: the order item 00003 of the order ORDER_IN_PROGRESS is in no ship group"),
        (split.to_owned(), reject, "row 0 of rej: the order item 00003 of the order ORDER_IN_PROGRESS is in the item 00007 of the shipment SHIP_INPUT too, and can only be rejected together with it"),
        (spread.to_owned(), reject, "row 0 of rej: the order item 00003 of the order ORDER_IN_PROGRESS is spread over several ship groups; split it first"),
        (format!("INSERT INTO item_issuance (item_issuance_id, shipment_id, shipment_item_seq_id) SELECT 'ISSUED', shipment_id, shipment_item_seq_id FROM shipment_item WHERE {item}"), reject, "row 0 of rej: the item 00001 of the shipment SHIP_APPROVED has been issued or received already"),
        ("UPDATE shipment SET status_id = NULL WHERE shipment_id = 'SHIP_APPROVED'".to_owned(), reject, "row 0 of rej: the shipment SHIP_APPROVED is without a status, and no longer in progress"),
        ("UPDATE shipment SET origin_facility_id = NULL WHERE shipment_id = 'SHIP_APPROVED'".to_owned(), reject, "row 0 of rej: the shipment SHIP_APPROVED starts at no facility, not at STORE_BROADWAY"),
        ("DELETE FROM order_shipment WHERE shipment_id = 'SHIP_APPROVED'; UPDATE shipment SET primary_order_id = NULL WHERE shipment_id = 'SHIP_APPROVED'".to_owned(), &moving("SHIP_APPROVED", "00001", "SHIP_INPUT"), "row 0 of rtp: the shipments SHIP_APPROVED and SHIP_INPUT are not of the same order"),
        (format!("CREATE TABLE theirs AS SELECT shipment_id, shipment_item_seq_id FROM shipment_item WHERE {item}; \
                  ALTER TABLE theirs ADD FOREIGN KEY (shipment_id, shipment_item_seq_id) REFERENCES shipment_item"), reject, "rows of theirs refer to what would be deleted"),
    ] {
        let store = Store::open().await;
        store.set(&change).await;
        let before = store.traces().await;
        assert_eq!(told(&store.update(form), 409), [expected]);
        assert_eq!(store.traces().await, before);
    }

    let store = Store::open().await;
    // Both parts of a line together; quantities and a primary order that are not told; an assignment that was cancelled; an
    // item for two lines of which one is of another order.
    store.set(split).await;
    store.set("INSERT INTO order_shipment VALUES ('ORDER_IN_PROGRESS_2', '00001', '00001', 'SHIP_APPROVED', '00001', NULL); \
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
    let answer = store.update(&form);
    assert_eq!(answer.status, 200, "{answer:?}");
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

    // A user whom OFBiz's tables have no room for.
    let long = "u".repeat(300);
    store.set(&format!("INSERT INTO orderql.user_account (user_id, password_hash) SELECT '{long}', password_hash FROM orderql.user_account WHERE user_id = 'demo'; \
                        INSERT INTO orderql.group_member VALUES ('API', '{long}')")).await;
    let token = loop {
        // The server has heard of the account once it opens.
        let answer = store.server.sign_in("/auth/token", &long, "demo");
        if answer.status == 200 {
            break answer.json()["access_token"].as_str().unwrap().to_owned();
        }
    };
    let answer = loop {
        let answer = store.send_as(&token, &[URLENCODED], &ONE_BOX.replace("YOURPACKNG", "BOPISPACKNG"));
        if answer.status != 403 {
            break answer;
        }
    };
    assert!(told(&answer, 409)[0].starts_with("a value is too long for the database"));
}
