//! Successful updates: responses, and effects as GraphQL and the tables show them.

use serde_json::json;

use crate::support::store::{MULTIPART, Store, URLENCODED, messages, multipart};

/// A form whose box row changes nothing. Every form needs a box row.
pub const INPUT_BOX: &str =
    "facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_INPUT&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG";
pub const ONE_BOX: &str =
    "facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_ONE_ITEM&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG";

/// A form that rejects an item of a shipment, or all its items if `item` is empty.
pub fn rejecting(shipment: &str, item: &str, reason: &str) -> String {
    let item = if item.is_empty() { String::new() } else { format!("&rej_shipmentItemSeqId_0={item}") };
    format!("{INPUT_BOX}&rej_shipmentId_0={shipment}{item}&0_rej_rowSubmit_=0&rej_rejectionReason_0={reason}")
}

/// A form that moves an item of a shipment to another one, or all its items if `item` is empty.
pub fn moving(shipment: &str, item: &str, to: &str) -> String {
    let item = if item.is_empty() { String::new() } else { format!("&rtp_shipmentItemSeqId_0={item}") };
    format!("{INPUT_BOX}&rtp_shipmentId_0={shipment}{item}&0_rtp_rowSubmit=0&rtp_newShipmentId_0={to}")
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_the_examples_of_the_specification_byte_for_byte() {
    let store = Store::open().await;
    let response = store.update(
        "facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_INPUT&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG\
         &rej_shipmentId_0=SHIP_INPUT&rej_shipmentItemSeqId_0=00001&0_rej_rowSubmit_=0&rej_rejectionReason_0=NOT_IN_STOCK",
    );
    assert_eq!(
        response.body,
        r#"{"facilityId":"STORE_BROADWAY","box_shipmentId_0":"SHIP_INPUT","0_box_rowSubmit":0,"box_shipmentBoxTypeId_0":"YOURPACKNG","rej_shipmentId_0":"SHIP_INPUT","rej_shipmentItemSeqId_0":"00001","0_rej_rowSubmit_":0,"rej_rejectionReason_0":"NOT_IN_STOCK","_EVENT_MESSAGE_":"Order updated successfully"}"#
    );
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json; charset=utf-8")));
    let response = store.update(
        "facilityId=STORE_BROADWAY&box_shipmentId_1=SHIP_APPROVED&1_box_rowSubmit=1&box_shipmentBoxTypeId_1=YOURPACKNG\
         &rtp_shipmentId_1=SHIP_APPROVED&rtp_shipmentItemSeqId_1=00001&1_rtp_rowSubmit=1&rtp_newShipmentId_1=SHIP_INPUT",
    );
    assert_eq!(
        response.body,
        r#"{"facilityId":"STORE_BROADWAY","box_shipmentId_1":"SHIP_APPROVED","1_box_rowSubmit":1,"box_shipmentBoxTypeId_1":"YOURPACKNG","rtp_shipmentId_1":"SHIP_APPROVED","rtp_shipmentItemSeqId_1":"00001","1_rtp_rowSubmit":1,"rtp_newShipmentId_1":"SHIP_INPUT","_EVENT_MESSAGE_":"Order updated successfully"}"#
    );
    // The specification's table names a reason for moved items as well, and a trailing underscore.
    let response = store.update(&format!(
        "{INPUT_BOX}&rtp_shipmentId_0=SHIP_INPUT&0_rtp_rowSubmit_=0&rtp_rejectionReason_0=MISMATCH&rtp_newShipmentId_0=SHIP_INPUT"
    ));
    assert_eq!((response.status, &response.json()["0_rtp_rowSubmit_"]), (200, &json!(0)), "{response:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_a_rejected_item_to_the_queue_and_releases_its_stock() {
    let store = Store::open().await;
    assert_eq!(store.update(&rejecting("SHIP_INPUT", "00001", "NOT_IN_STOCK")).status, 200);
    let data = store.query(
        r#"{ order(orderId: "ORDER_IN_PROGRESS") { statusId shipGroups(first: 5) { edges { node { shipGroupSeqId facilityId
             orderItems(first: 9) { edges { node { orderItemSeqId statusId reservations(first: 2) { edges { node { quantity } } } } } }
             facilityChangeHistory(first: 3) { edges { node { orderItemSeqId fromFacilityId facilityId changeReasonEnumId changeUserLogin } } } } } } } }"#,
    );
    let groups = data["order"]["shipGroups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0]["orderItems"].as_array().unwrap().len(), 5);
    assert_eq!(
        groups[1],
        json!({
            "shipGroupSeqId": "00002", "facilityId": "REJECTED_ITM_PARKING",
            "orderItems": [{ "orderItemSeqId": "00001", "statusId": "ITEM_APPROVED", "reservations": [] }],
            "facilityChangeHistory": [{
                "orderItemSeqId": "00001", "fromFacilityId": "STORE_BROADWAY", "facilityId": "REJECTED_ITM_PARKING",
                "changeReasonEnumId": "NOT_IN_STOCK", "changeUserLogin": "demo",
            }],
        })
    );
    let shipment = store.query(
        r#"{ order(orderId: "ORDER_IN_PROGRESS") { shipments(first: 9) { edges { node { shipmentId statusId items(first: 3) { edges { node { shipmentItemSeqId } } }
             packages(first: 2) { edges { node { contents(first: 3) { edges { node { shipmentItemSeqId } } } } } } } } } } }"#,
    );
    let shipments = shipment["order"]["shipments"].as_array().unwrap();
    assert_eq!(
        shipments.iter().find(|shipment| shipment["shipmentId"] == "SHIP_INPUT"),
        Some(&json!({
            "shipmentId": "SHIP_INPUT", "statusId": "SHIPMENT_INPUT", "items": [{ "shipmentItemSeqId": "00002" }],
            "packages": [{ "contents": [] }, { "contents": [{ "shipmentItemSeqId": "00002" }] }],
        }))
    );
    // 7 were available, and 2 are released. Then the reason reports all of them as missing.
    assert_eq!(level(&store, "SHIRT_S"), json!({ "availableToPromise": "0.000000", "quantityOnHand": "10.000000" }));
    let details = "SELECT inventory_item_detail_seq_id, available_to_promise_diff, quantity_on_hand_diff, order_item_seq_id, \
                   reason_enum_id, physical_inventory_id IS NOT NULL FROM inventory_item_detail \
                   WHERE inventory_item_id = 'INV_SHIRT_S' AND order_id = 'ORDER_IN_PROGRESS' ORDER BY 1";
    assert_eq!(
        store.rows(details).await,
        ["00003 2.000000 0.000000 00001 NOT_IN_STOCK f", "00004 -9.000000 0.000000 00001 NOT_IN_STOCK t"]
    );
    let moved = "SELECT assigned.ship_group_seq_id, assigned.quantity, item_status_id, picked.ship_group_seq_id \
                 FROM order_item_ship_group_assoc AS assigned JOIN picklist_item AS picked USING (order_id, order_item_seq_id) \
                 WHERE order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00001'";
    assert_eq!(store.rows(moved).await, ["00002 2.000000 PICKITEM_CANCELLED 00001"]);
    let count = "SELECT last_inventory_count FROM product_facility WHERE product_id = 'SHIRT_S' AND facility_id = 'STORE_BROADWAY'";
    assert_eq!(store.rows(count).await, ["0.000000"]);
}

fn level(store: &Store, product: &str) -> serde_json::Value {
    let query = format!(
        r#"{{ inventoryLevels(first: 1, query: "productId:{product} facilityId:STORE_BROADWAY") {{ edges {{ node {{ availableToPromise quantityOnHand }} }} }} }}"#
    );
    store.query(&query)["inventoryLevels"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reason_decides_the_variance_and_later_rejections_share_the_ship_group() {
    let store = Store::open().await;
    let levels =
        || ["SHIRT_L", "PROD_9", "SHIRT_S"].map(|product| level(&store, product)["availableToPromise"].clone());
    assert_eq!(levels(), ["25.000000", "99.000000", "7.000000"]);
    // A variance of the quantity, no variance, and no variance where there is no stock.
    let form = "facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_APPROVED&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG\
                &rej_shipmentId_7=SHIP_APPROVED&rej_shipmentItemSeqId_7=00001&rej_rejectionReason_7=MISMATCH\
                &rej_shipmentId_2=SHIP_APPROVED&rej_shipmentItemSeqId_2=00002&rej_rejectionReason_2=INACTIVE_STORE\
                &rej_shipmentId_4=SHIP_INPUT&rej_shipmentItemSeqId_4=00002&rej_rejectionReason_4=NOT_IN_STOCK";
    assert_eq!(store.update(form).status, 200);
    assert_eq!(levels(), ["25.000000", "100.000000", "7.000000"]);
    let late = store.update(&rejecting("SHIP_APPROVED", "", "MISMATCH"));
    assert_eq!(late.status, 409);
    assert_eq!(
        messages(&late),
        ["row 0 of rej: the shipment SHIP_APPROVED is SHIPMENT_CANCELLED, and no longer in progress"]
    );
    let left =
        "SELECT shipment_id, status_id FROM shipment WHERE shipment_id IN ('SHIP_INPUT', 'SHIP_APPROVED') ORDER BY 1";
    assert_eq!(store.rows(left).await, ["SHIP_APPROVED SHIPMENT_CANCELLED", "SHIP_INPUT SHIPMENT_INPUT"]);
    let history = "SELECT status_id, change_by_user_login_id, status_date > now() - interval '1 hour' FROM shipment_status \
                   WHERE shipment_id = 'SHIP_APPROVED' ORDER BY 1";
    assert_eq!(store.rows(history).await, ["SHIPMENT_APPROVED - f", "SHIPMENT_CANCELLED demo t", "SHIPMENT_INPUT - f"]);
    let groups =
        "SELECT order_item_seq_id, ship_group_seq_id FROM order_item WHERE order_id = 'ORDER_IN_PROGRESS' ORDER BY 1";
    let expected = ["00001 00001", "00002 00002", "00003 00002", "00004 00002", "00005 00001", "00006 00001"];
    assert_eq!(store.rows(groups).await, expected);
    let variances = "SELECT inventory_item_id, available_to_promise_var, quantity_on_hand_var, reason_enum_id, \
                     change_by_user_login_id FROM inventory_item_variance WHERE change_by_user_login_id = 'demo'";
    assert_eq!(store.rows(variances).await, ["INV_SHIRT_L_NEW -3.000000 - MISMATCH demo"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_without_an_item_means_all_items_of_the_shipment() {
    let store = Store::open().await;
    assert_eq!(store.update(&rejecting("SHIP_INPUT", "", "NO_VARIANCE_LOG")).status, 200);
    let data = store.query(
        r#"{ order(orderId: "ORDER_IN_PROGRESS") { shipments(first: 9) { edges { node { shipmentId statusId items(first: 3) { edges { node { productId } } } } } } } }"#,
    );
    assert_eq!(
        data["order"]["shipments"].as_array().unwrap().iter().find(|shipment| shipment["shipmentId"] == "SHIP_INPUT"),
        Some(&json!({ "shipmentId": "SHIP_INPUT", "statusId": "SHIPMENT_CANCELLED", "items": [] }))
    );
    let lines =
        "SELECT order_item_seq_id FROM order_item WHERE order_id = 'ORDER_IN_PROGRESS' AND ship_group_seq_id = '00002'";
    assert_eq!(store.rows(lines).await, ["00001", "00002"]);
    assert_eq!(level(&store, "SHIRT_S")["availableToPromise"], "9.000000");

    // A box that was emptied is used again by moving items there, and only so.
    let late = store.update(INPUT_BOX);
    assert_eq!(
        (late.status, messages(&late)),
        (
            409,
            vec!["row 0 of box: the shipment SHIP_INPUT is SHIPMENT_CANCELLED, and no longer in progress".to_owned()]
        )
    );
    // Moving all items cancels the empty shipment and clears its tracking number.
    assert_eq!(store.update(&moving("SHIP_APPROVED", "", "SHIP_INPUT")).status, 200);
    let items = "SELECT shipment_id, shipment_item_seq_id, link.order_item_seq_id, item.quantity FROM shipment_item AS item \
                 JOIN order_shipment AS link USING (shipment_id, shipment_item_seq_id) \
                 WHERE shipment_id IN ('SHIP_INPUT', 'SHIP_APPROVED') ORDER BY 2";
    assert_eq!(store.rows(items).await, ["SHIP_INPUT 00001 00003 3.000000", "SHIP_INPUT 00002 00004 1.000000"]);
    assert_eq!(store.rows("SELECT status_id FROM shipment WHERE shipment_id = 'SHIP_INPUT'").await, ["SHIPMENT_INPUT"]);
    let state = "SELECT status_id, tracking_id_number, (SELECT count(*) FROM shipment_package_content AS content \
                 WHERE content.shipment_id = shipment.shipment_id) FROM shipment JOIN shipment_route_segment USING (shipment_id) \
                 WHERE shipment_id = 'SHIP_APPROVED'";
    assert_eq!(store.rows(state).await, ["SHIPMENT_CANCELLED - 0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_pickup_items_have_a_queue_of_their_own() {
    for method in ["STOREPICKUP", "LOCKER"] {
        let store = Store::open().await;
        store
            .execute(&format!(
                "INSERT INTO shipment_method_type (shipment_method_type_id, parent_type_id) VALUES ('LOCKER', 'STOREPICKUP'); \
                 UPDATE order_item_ship_group SET shipment_method_type_id = '{method}', carrier_party_id = NULL, \
                 carrier_role_type_id = NULL, tracking_number = '1Z' WHERE order_id = 'ORDER_IN_PROGRESS_2'"
            ))
            .await;
        assert_eq!(
            store.update(&format!("{ONE_BOX}&rej_shipmentId_0=SHIP_ONE_ITEM&rej_rejectionReason_0=MISMATCH")).status,
            200
        );
        let group = "SELECT ship_group_seq_id, facility_id, own.shipment_method_type_id, contact_mech_id, tracking_number, \
                     from_facility_id FROM order_item_ship_group AS own \
                     JOIN order_facility_change AS change USING (order_id, ship_group_seq_id, facility_id) \
                     WHERE order_id = 'ORDER_IN_PROGRESS_2'";
        assert_eq!(store.rows(group).await, [format!("00002 PICKUP_REJECTED {method} ADDR_ADA - STORE_BROADWAY")]);
    }
}

const LABELS: &str = "SELECT shipment.status_id, box.shipment_box_type_id, label.tracking_code, label.label_image_url, \
                      segment.tracking_id_number, segment.carrier_service_status_id \
                      FROM shipment JOIN shipment_package AS box USING (shipment_id) \
                      JOIN shipment_package_route_seg AS label USING (shipment_id, shipment_package_seq_id) \
                      JOIN shipment_route_segment AS segment USING (shipment_id, shipment_route_segment_id) \
                      WHERE shipment_id = 'SHIP_ONE_ITEM'";

#[tokio::test(flavor = "multi_thread")]
async fn another_box_voids_the_label_and_the_same_box_changes_nothing() {
    let store = Store::open().await;
    let labelled = store.rows(LABELS).await;
    assert_eq!(
        labelled,
        ["SHIPMENT_APPROVED YOURPACKNG 1Z-ONE-1 https://carrier.example/label/1Z-ONE-1.png 1Z-ONE SHRSCS_ACCEPTED"]
    );
    assert_eq!(store.update(ONE_BOX).status, 200);
    assert_eq!(store.rows(LABELS).await, labelled);
    let changes = "SELECT changes FROM orderql.order_update ORDER BY order_update_id DESC LIMIT 1";
    assert_eq!(store.rows(changes).await, ["[]"]);

    let other = ONE_BOX.replace("YOURPACKNG", "BOPISPACKNG");
    assert_eq!(store.update(&other).status, 200);
    // It was approved, and is again: the store goes on packing it.
    let void = ["SHIPMENT_APPROVED BOPISPACKNG - - - SHRSCS_NOT_STARTED"];
    assert_eq!(store.rows(LABELS).await, void);
    let history = "SELECT status_id, status_date > now() - interval '1 hour', change_by_user_login_id \
                   FROM shipment_status WHERE shipment_id = 'SHIP_ONE_ITEM' ORDER BY 1";
    assert_eq!(store.rows(history).await, ["SHIPMENT_APPROVED t demo", "SHIPMENT_INPUT t demo"]);
    assert_eq!(store.update(&other).status, 200);
    assert_eq!(store.rows(LABELS).await, void);

    // A shipment without a package gets one.
    store
        .execute(
            "DELETE FROM shipment_package_content WHERE shipment_id = 'SHIP_ONE_ITEM'; \
               DELETE FROM shipment_package_route_seg WHERE shipment_id = 'SHIP_ONE_ITEM'; \
               DELETE FROM shipment_package WHERE shipment_id = 'SHIP_ONE_ITEM'",
        )
        .await;
    assert_eq!(store.update(ONE_BOX).status, 200);
    let package = "SELECT shipment_package_seq_id, shipment_box_type_id FROM shipment_package WHERE shipment_id = 'SHIP_ONE_ITEM'";
    assert_eq!(store.rows(package).await, ["00001 YOURPACKNG"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn moving_an_item_updates_the_rows_that_refer_to_it() {
    let store = Store::open().await;
    store.execute("UPDATE order_item_ship_grp_inv_res SET shipment_id = 'SHIP_APPROVED' WHERE order_item_seq_id = '00003' AND order_id = 'ORDER_IN_PROGRESS'; \
               UPDATE order_item SET shipment_id = 'SHIP_APPROVED' WHERE order_item_seq_id = '00003' AND order_id = 'ORDER_IN_PROGRESS'; \
               UPDATE shipment_item SET external_id = 'kept' WHERE shipment_id = 'SHIP_APPROVED'").await;
    let before = store.updatable_rows().await;
    assert_eq!(
        store.update(&moving("SHIP_APPROVED", "00001", "SHIP_APPROVED")).status,
        200,
        "the item is in this shipment already"
    );
    let same = |rows: &[String]| {
        rows.iter().filter(|row| !row.starts_with("update") && !row.starts_with("login")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(same(&store.updatable_rows().await), same(&before));

    assert_eq!(store.update(&moving("SHIP_APPROVED", "00001", "SHIP_INPUT")).status, 200);
    let moved = "SELECT item.shipment_id, item.shipment_item_seq_id, item.product_id, item.quantity, item.external_id, \
                 line.shipment_id, line.ship_group_seq_id, reserved.shipment_id, reserved.quantity, \
                 content.shipment_package_seq_id, content.quantity \
                 FROM shipment_item AS item JOIN order_shipment AS link USING (shipment_id, shipment_item_seq_id) \
                 JOIN order_item AS line ON line.order_id = link.order_id AND line.order_item_seq_id = link.order_item_seq_id \
                 JOIN order_item_ship_grp_inv_res AS reserved ON reserved.order_id = line.order_id AND reserved.order_item_seq_id = line.order_item_seq_id \
                 JOIN shipment_package_content AS content ON content.shipment_id = item.shipment_id AND content.shipment_item_seq_id = item.shipment_item_seq_id \
                 WHERE line.order_id = 'ORDER_IN_PROGRESS' AND line.order_item_seq_id = '00003'";
    assert_eq!(
        store.rows(moved).await,
        ["SHIP_INPUT 00003 SHIRT_L 3.000000 kept SHIP_INPUT 00001 SHIP_INPUT 3.000000 00001 3.000000"]
    );
    let states = "SELECT shipment_id, status_id, tracking_id_number FROM shipment JOIN shipment_route_segment USING (shipment_id) \
                  WHERE shipment_id IN ('SHIP_APPROVED', 'SHIP_INPUT') ORDER BY 1";
    assert_eq!(store.rows(states).await, ["SHIP_APPROVED SHIPMENT_INPUT -", "SHIP_INPUT SHIPMENT_INPUT -"]);
    assert_eq!(
        store.update(&moving("SHIP_APPROVED", "00001", "SHIP_INPUT")).status,
        409,
        "the item is no longer in this shipment"
    );

    // Moving the last item into a shipment without a package cancels the one and makes a package for the other.
    store
        .execute(
            "DELETE FROM shipment_package_content WHERE shipment_id = 'SHIP_INPUT'; \
               DELETE FROM shipment_package_route_seg WHERE shipment_id = 'SHIP_INPUT'; \
               DELETE FROM shipment_package WHERE shipment_id = 'SHIP_INPUT'",
        )
        .await;
    let form = moving("SHIP_APPROVED", "00002", "SHIP_INPUT")
        .replace("box_shipmentId_0=SHIP_INPUT", "box_shipmentId_0=SHIP_APPROVED");
    assert_eq!(store.update(&form).status, 200);
    let packed = "SELECT shipment_item_seq_id, shipment_package_seq_id FROM shipment_package_content WHERE shipment_id = 'SHIP_INPUT'";
    assert_eq!(store.rows(packed).await, ["00004 00001"]);
    let ended = "SELECT shipment.status_id, history.change_by_user_login_id FROM shipment JOIN shipment_status AS history \
                 USING (shipment_id, status_id) WHERE shipment_id = 'SHIP_APPROVED'";
    assert_eq!(store.rows(ended).await, ["SHIPMENT_CANCELLED demo"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn accepts_rows_of_all_kinds_in_one_request_in_either_encoding() {
    let form = "orderId=ORDER_IN_PROGRESS&shipmentIds=SHIP_INPUT&facilityId=STORE_BROADWAY&shipmentIds=SHIP_APPROVED\
                &box_shipmentId_0=SHIP_INPUT&box_shipmentBoxTypeId_0=BOPISPACKNG&0_box_rowSubmit_=0\
                &box_shipmentId_1=SHIP_APPROVED&box_shipmentBoxTypeId_1=YOURPACKNG&1_box_rowSubmit_=1\
                &rej_shipmentId_0=SHIP_INPUT&rej_shipmentItemSeqId_0=00001&rej_rejectionReason_0=MISMATCH&0_rej_rowSubmit_=0\
                &rtp_shipmentId_3=SHIP_APPROVED&rtp_shipmentItemSeqId_3=00002&rtp_newShipmentId_3=SHIP_INPUT&3_rtp_rowSubmit_=3\
                &picklistBinId=%F0%9F%93%A6+%22%5C";
    let expected = concat!(
        r#"{"orderId":"ORDER_IN_PROGRESS","shipmentIds":["SHIP_INPUT","SHIP_APPROVED"],"facilityId":"STORE_BROADWAY","#,
        r#""box_shipmentId_0":"SHIP_INPUT","box_shipmentBoxTypeId_0":"BOPISPACKNG","0_box_rowSubmit_":0,"#,
        r#""box_shipmentId_1":"SHIP_APPROVED","box_shipmentBoxTypeId_1":"YOURPACKNG","1_box_rowSubmit_":1,"#,
        r#""rej_shipmentId_0":"SHIP_INPUT","rej_shipmentItemSeqId_0":"00001","rej_rejectionReason_0":"MISMATCH","0_rej_rowSubmit_":0,"#,
        r#""rtp_shipmentId_3":"SHIP_APPROVED","rtp_shipmentItemSeqId_3":"00002","rtp_newShipmentId_3":"SHIP_INPUT","3_rtp_rowSubmit_":3,"#,
        r#""picklistBinId":"📦 \"\\","_EVENT_MESSAGE_":"Order updated successfully"}"#
    );
    // The audit has the rows alone.
    let audited = "facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_INPUT&box_shipmentBoxTypeId_0=BOPISPACKNG\
                   &box_shipmentId_1=SHIP_APPROVED&box_shipmentBoxTypeId_1=YOURPACKNG\
                   &rej_shipmentId_0=SHIP_INPUT&rej_shipmentItemSeqId_0=00001&rej_rejectionReason_0=MISMATCH\
                   &rtp_shipmentId_3=SHIP_APPROVED&rtp_shipmentItemSeqId_3=00002&rtp_newShipmentId_3=SHIP_INPUT";
    for (content_type, body) in [(URLENCODED, form.to_owned()), (MULTIPART, multipart(form))] {
        let store = Store::open().await;
        let response = store.send(&[content_type], &body);
        assert_eq!((response.status, response.body.as_str()), (200, expected));
        let items = "SELECT shipment_id, shipment_item_seq_id, product_id FROM shipment_item \
                     WHERE shipment_id IN ('SHIP_INPUT', 'SHIP_APPROVED') ORDER BY 1, 2";
        assert_eq!(
            store.rows(items).await,
            ["SHIP_APPROVED 00001 SHIRT_L", "SHIP_INPUT 00002 MUG", "SHIP_INPUT 00003 PROD_9"]
        );
        let audit = "SELECT user_id, address, updated_at > now() - interval '1 hour', request #>> '{}', \
                     (SELECT string_agg(change ->> 'change', ',' ORDER BY ordinality) FROM jsonb_array_elements(changes) WITH ORDINALITY AS change(change, ordinality)) \
                     FROM orderql.order_update";
        assert_eq!(
            store.rows(audit).await,
            [format!(
                "demo 127.0.0.1 t {audited} boxType,itemMoved,reservationReleased,stockVaried,shipGroupMade,itemRejected,shipmentStatus"
            )]
        );
    }
}

/// Programs that poll orders by their stamp see what happened to their shipments.
#[tokio::test(flavor = "multi_thread")]
async fn an_update_moves_the_stamp_of_the_orders_that_it_changes() {
    let store = Store::open().await;
    let stamped = "SELECT order_id FROM order_header WHERE last_updated_stamp > now() - interval '1 hour' \
                   AND last_updated_tx_stamp = last_updated_stamp ORDER BY 1";
    for (form, orders) in [
        (INPUT_BOX.to_owned(), &[][..]),
        (INPUT_BOX.replace("YOURPACKNG", "BOPISPACKNG"), &["ORDER_IN_PROGRESS"]),
        (ONE_BOX.replace("YOURPACKNG", "BOPISPACKNG"), &["ORDER_IN_PROGRESS_2"]),
        (moving("SHIP_APPROVED", "00001", "SHIP_INPUT"), &["ORDER_IN_PROGRESS"]),
        (
            format!("{INPUT_BOX}&rej_shipmentId_0=SHIP_ONE_ITEM&rej_rejectionReason_0=MISMATCH"),
            &["ORDER_IN_PROGRESS_2"],
        ),
    ] {
        store.execute("UPDATE order_header SET last_updated_stamp = '2020-01-01', last_updated_tx_stamp = NULL").await;
        assert_eq!(store.update(&form).status, 200, "{form}");
        assert_eq!(store.rows(stamped).await, orders, "{form}");
    }
}

/// Of a ship group that may not be split the server rejects the other approved items too: in boxes of the same update, in others,
/// and in none.
#[tokio::test(flavor = "multi_thread")]
async fn a_ship_group_that_may_not_be_split_is_rejected_as_a_whole() {
    let store = Store::open().await;
    store
        .execute(
            "UPDATE order_item_ship_group SET may_split = 'N' WHERE order_id = 'ORDER_IN_PROGRESS'; \
             DELETE FROM shipment_package_content WHERE shipment_id = 'SHIP_PACKED'; \
             DELETE FROM order_shipment WHERE shipment_id = 'SHIP_PACKED'; \
             DELETE FROM shipment_item WHERE shipment_id = 'SHIP_PACKED'",
        )
        .await;
    let form = rejecting("SHIP_INPUT", "00001", "MISMATCH");
    let response = store.update_with_key("whole", &form);
    let note = |line: &str| {
        format!(
            "row 0 of rej: the order item {line} of the order ORDER_IN_PROGRESS is rejected too, because its ship group 00001 \
             may not be split"
        )
    };
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.json()["_EVENT_MESSAGE_"], "Order updated successfully");
    assert_eq!(response.json()["_EVENT_MESSAGE_LIST_"], json!(["00002", "00003", "00004", "00005"].map(note)));
    assert_eq!(store.update_with_key("whole", &form).body, response.body);
    let lines = "SELECT item.order_item_seq_id, item.ship_group_seq_id, change_reason_enum_id FROM order_item AS item \
                 LEFT JOIN order_facility_change USING (order_id, order_item_seq_id) WHERE order_id = 'ORDER_IN_PROGRESS' ORDER BY 1";
    assert_eq!(
        store.rows(lines).await,
        [
            "00001 00002 MISMATCH",
            "00002 00002 REJ_AVOID_ORD_SPLIT",
            "00003 00002 REJ_AVOID_ORD_SPLIT",
            "00004 00002 REJ_AVOID_ORD_SPLIT",
            "00005 00002 REJ_AVOID_ORD_SPLIT",
            // It is sent.
            "00006 00001 -",
        ]
    );
    let left = "SELECT (SELECT count(*) FROM order_item_ship_grp_inv_res WHERE order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id < '00006'), \
                string_agg(status_id, ' ' ORDER BY shipment_id) FROM shipment WHERE shipment_id IN ('SHIP_APPROVED', 'SHIP_INPUT')";
    assert_eq!(store.rows(left).await, ["0 SHIPMENT_CANCELLED SHIPMENT_CANCELLED"]);
    // Another row uses an item that would be rejected too.
    let store = Store::open().await;
    store
        .execute(
            "UPDATE order_item_ship_group SET may_split = 'N' WHERE order_id = 'ORDER_IN_PROGRESS'; \
                   UPDATE shipment SET status_id = 'SHIPMENT_INPUT' WHERE shipment_id = 'SHIP_PACKED'",
        )
        .await;
    let response = store.update(&format!(
        "{form}&rtp_shipmentId_5=SHIP_APPROVED&rtp_shipmentItemSeqId_5=00002&rtp_newShipmentId_5=SHIP_PACKED"
    ));
    assert_eq!(
        (response.status, messages(&response)),
        (
            409,
            vec!["row 0 of rej: the item 00002 of the shipment SHIP_APPROVED is in the row rtp 5 already".to_owned()]
        )
    );
}

/// A store that needs another box adds one, and moves items there.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_box_is_a_shipment_beside_another_one() {
    let store = Store::open_with_least_privileges().await;
    let form = "facilityId=STORE_BROADWAY&add_shipmentId_3=SHIP_APPROVED&add_shipmentBoxTypeId_3=BOPISPACKNG&3_add_rowSubmit=3";
    let response = store.update_with_key("add", form);
    assert_eq!(response.status, 200, "{response:?}");
    let body = response.json();
    let new = body["add_newShipmentId_3"].as_str().unwrap();
    assert_eq!(
        body["_EVENT_MESSAGE_LIST_"],
        json!([format!(
            "row 3 of add: the new box is the shipment {new}; it is empty until an item is moved there, and a row with rem_shipmentId_<n> removes it"
        )])
    );
    assert_eq!(store.update_with_key("add", form).body, response.body);

    let shipment = |id: &str| {
        let query = format!(
            r#"{{ shipment(shipmentId: "{id}") {{ statusId externalId primaryOrderId originFacilityId shipmentMethodTypeId
                 items(first: 9) {{ edges {{ node {{ productId }} }} }}
                 packages(first: 2) {{ edges {{ node {{ shipmentPackageSeqId shipmentBoxTypeId contents(first: 9) {{ edges {{ node {{ quantity }} }} }} }} }} }} }} }}"#
        );
        store.query(&query)["shipment"].clone()
    };
    let expected = |items: serde_json::Value, contents: serde_json::Value| {
        json!({
            "statusId": "SHIPMENT_INPUT", "externalId": null, "primaryOrderId": "ORDER_IN_PROGRESS",
            "originFacilityId": "STORE_BROADWAY", "shipmentMethodTypeId": "STANDARD", "items": items,
            "packages": [{ "shipmentPackageSeqId": "00001", "shipmentBoxTypeId": "BOPISPACKNG", "contents": contents }],
        })
    };
    assert_eq!(shipment(new), expected(json!([]), json!([])));
    assert_eq!(store.update(&moving("SHIP_APPROVED", "00001", new)).status, 200);
    assert_eq!(shipment(new), expected(json!([{ "productId": "SHIRT_L" }]), json!([{ "quantity": "3.000000" }])));
    let segments = "SELECT count(*), count(tracking_id_number), min(carrier_service_status_id), \
                    (SELECT count(*) FROM shipment_package_route_seg WHERE shipment_id = 'NEW'), \
                    (SELECT string_agg(status_id || ' ' || change_by_user_login_id, ',') FROM shipment_status WHERE shipment_id = 'NEW') \
                    FROM shipment_route_segment WHERE shipment_id = 'NEW'";
    assert_eq!(store.rows(&segments.replace("NEW", new)).await, ["1 0 SHRSCS_NOT_STARTED 1 SHIPMENT_INPUT demo"]);
    let missing = store.update(&form.replace("SHIP_APPROVED", "NONE").replace("BOPISPACKNG", "CRATE"));
    assert_eq!(
        (missing.status, messages(&missing)),
        (
            404,
            ["there is no box type CRATE", "there is no shipment NONE"]
                .map(|cause| format!("row 3 of add: {cause}"))
                .into()
        )
    );
}

/// An app can build its form from GraphQL alone.
#[tokio::test(flavor = "multi_thread")]
async fn graphql_has_what_a_form_needs() {
    let store = Store::open().await;
    let data = store.query(
        r#"{ shipment(shipmentId: "SHIP_INPUT") {
               items(first: 2) { edges { node { shipmentItemSeqId orderItem { orderItemSeqId externalId statusId } } } }
               packages(first: 2) { edges { node { packageName boxType { description } contents(first: 2) { edges { node { shipmentItemSeqId } } } } } } }
             rejectionReasons(first: 3) { edges { node { enumId enumTypeId sequenceId description } } }
             known: rejectionReasons(first: 9, query: "enumId:MISMATCH,DAMAGED") { edges { node { enumId } } }
             shipmentBoxTypes(first: 9, query: "shipmentBoxTypeId:FXBOX_SM,YOURPACKNG,NONE") {
               edges { node { shipmentBoxTypeId boxLength carriers(first: 2) { edges { node { partyId } } } } } } }"#,
    );
    assert_eq!(
        data,
        json!({
            "shipment": {
                "items": [
                    { "shipmentItemSeqId": "00001", "orderItem": { "orderItemSeqId": "00001", "externalId": "SC-LINE-1", "statusId": "ITEM_APPROVED" } },
                    { "shipmentItemSeqId": "00002", "orderItem": { "orderItemSeqId": "00002", "externalId": "SC-LINE-2", "statusId": "ITEM_APPROVED" } },
                ],
                "packages": [
                    { "packageName": "A", "boxType": { "description": "Your Packaging" }, "contents": [{ "shipmentItemSeqId": "00001" }] },
                    { "packageName": "B", "boxType": { "description": "Your Packaging" }, "contents": [{ "shipmentItemSeqId": "00002" }] },
                ],
            },
            "rejectionReasons": [
                { "enumId": "NOT_IN_STOCK", "enumTypeId": "REPORT_ALL_VAR", "sequenceId": "10", "description": "Not in Stock" },
                { "enumId": "WORN_DISPLAY", "enumTypeId": "REPORT_VAR", "sequenceId": "20", "description": "Worn Display" },
                { "enumId": "REJ_RSN_DAMAGED", "enumTypeId": "REPORT_VAR", "sequenceId": "30", "description": "Damaged" },
            ],
            // DAMAGED is a reason, but not one of rejections.
            "known": [{ "enumId": "MISMATCH" }],
            "shipmentBoxTypes": [
                { "shipmentBoxTypeId": "FXBOX_SM", "boxLength": "12.250000", "carriers": [{ "partyId": "FEDEX" }] },
                { "shipmentBoxTypeId": "YOURPACKNG", "boxLength": "15.000000", "carriers": [{ "partyId": "FEDEX" }] },
            ],
        })
    );
}
