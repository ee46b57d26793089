//! What a row says about its rejection: what is rejected with its items, how stock changes, and what is recorded.

use crate::orders::update::rejecting;
use crate::support::store::Store;

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
