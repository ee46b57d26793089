//! Boxes that are empty, and updates that remove them.

use serde_json::json;

use crate::orders::update::{INPUT_BOX, moving};
use crate::support::store::{Store, messages};

const ADD: &str = "facilityId=STORE_BROADWAY&add_shipmentId_0=SHIP_APPROVED&add_shipmentBoxTypeId_0=BOPISPACKNG";

fn removing(shipment: &str) -> String {
    format!("facilityId=STORE_BROADWAY&rem_shipmentId_0={shipment}&0_rem_rowSubmit=0")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_box_that_stays_empty_is_removed() {
    let store = Store::open_with_least_privileges().await;
    let added = store.update(ADD).json();
    let new = added["add_newShipmentId_0"].as_str().unwrap();
    store.execute("UPDATE order_header SET last_updated_stamp = '2020-01-01'").await;
    let response = store.update_with_key("remove", &removing(new));
    assert_eq!(
        response.json(),
        json!({
            "facilityId": "STORE_BROADWAY", "rem_shipmentId_0": new, "0_rem_rowSubmit": 0,
            "_EVENT_MESSAGE_": "Order updated successfully",
        })
    );
    assert_eq!(store.update_with_key("remove", &removing(new)).body, response.body);
    let state = format!(
        "SELECT shipment.status_id, change_by_user_login_id FROM shipment JOIN shipment_status USING (shipment_id, status_id) \
         WHERE shipment_id = '{new}'"
    );
    assert_eq!(store.rows(&state).await, ["SHIPMENT_CANCELLED demo"]);
    let stamped = "SELECT order_id FROM order_header WHERE last_updated_stamp > '2020-01-02'";
    assert_eq!(store.rows(stamped).await, ["ORDER_IN_PROGRESS"]);
    let audit = "SELECT request #>> '{}', changes FROM orderql.order_update ORDER BY order_update_id DESC LIMIT 1";
    assert_eq!(
        store.rows(audit).await,
        [format!(
            "facilityId=STORE_BROADWAY&rem_shipmentId_0={new} [{{\"change\": \"boxRemoved\", \"shipmentId\": \"{new}\"}}, \
             {{\"change\": \"shipmentStatus\", \"statusId\": \"SHIPMENT_CANCELLED\", \"shipmentId\": \"{new}\"}}]"
        )]
    );
    let again = store.update(&removing(new));
    assert_eq!(
        (again.status, messages(&again)),
        (409, vec![format!("row 0 of rem: the shipment {new} is SHIPMENT_CANCELLED, and no longer in progress")])
    );
    // It is used again when an item is moved there.
    assert_eq!(store.update(&moving("SHIP_APPROVED", "00001", new)).status, 200);
    assert_eq!(store.rows(&state).await, ["SHIPMENT_INPUT demo"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_box_that_is_and_stays_empty_can_be_removed() {
    let store = Store::open().await;
    let added = store.update(ADD).json();
    let new = added["add_newShipmentId_0"].as_str().unwrap();
    let before = store.updatable_rows().await;
    let filled = moving("SHIP_APPROVED", "00001", new).replace("_0=", "_3=");
    for (form, status, expected) in [
        (
            removing("SHIP_APPROVED"),
            409,
            "row 0 of rem: the shipment SHIP_APPROVED has items, and only an empty one can be removed; it is cancelled when its \
             last item is rejected or moved"
                .to_owned(),
        ),
        (
            format!("{filled}&rem_shipmentId_0={new}").replace("0_box", "3_box").replace("0_rtp", "3_rtp"),
            409,
            format!("row 0 of rem: the row rtp 3 moves items to the shipment {new}, so that it cannot be removed"),
        ),
        (removing("NONE"), 404, "row 0 of rem: there is no shipment NONE".to_owned()),
        (
            removing(new).replace("STORE_BROADWAY", "STORE_9"),
            409,
            format!("row 0 of rem: the shipment {new} starts at STORE_BROADWAY, not at STORE_9"),
        ),
        (
            removing("SHIP_PACKED"),
            409,
            "row 0 of rem: the shipment SHIP_PACKED is SHIPMENT_PACKED, and no longer in progress; unpack it first".to_owned(),
        ),
        (removing(""), 400, "the parameter rem_shipmentId_0 is missing".to_owned()),
        (
            format!("{}&rem_shipmentBoxTypeId_0=X", removing(new)),
            400,
            "there is no parameter rem_shipmentBoxTypeId_0; the rem rows have rem_shipmentId_<n>, <n>_rem_rowSubmit".to_owned(),
        ),
    ] {
        let response = store.update(&form);
        assert_eq!(response.status, status, "{response:?}");
        assert_eq!(messages(&response)[0], expected);
        assert_eq!(store.updatable_rows().await, before, "{form}");
    }
    // Rows of all kinds: the box is changed first, and a box is added beside it.
    let form = format!(
        "{INPUT_BOX}&box_shipmentId_1={new}&1_box_rowSubmit=1&box_shipmentBoxTypeId_1=YOURPACKNG&add_shipmentId_0={new}\
         &add_shipmentBoxTypeId_0=YOURPACKNG&rem_shipmentId_0={new}"
    );
    assert_eq!(store.update(&form).status, 200);
    let boxes = "SELECT shipment.status_id, shipment_box_type_id FROM shipment JOIN shipment_package USING (shipment_id) \
                 WHERE shipment_id LIKE 'Q%' ORDER BY length(shipment_id), shipment_id";
    assert_eq!(store.rows(boxes).await, ["SHIPMENT_CANCELLED YOURPACKNG", "SHIPMENT_INPUT YOURPACKNG"]);
}
