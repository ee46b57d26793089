//! The changes of an update, as the audit stores them with the request.

use rust_decimal::Decimal;
use serde::Serialize;

/// A change. Its JSON is stored; do not rename its parts.
#[derive(Debug, Serialize)]
#[serde(tag = "change", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum UpdateChange {
    BoxType {
        shipment_id: String,
        shipment_box_type_id: String,
    },
    BoxAdded {
        shipment_id: String,
        new_shipment_id: String,
        shipment_box_type_id: String,
    },
    BoxRemoved {
        shipment_id: String,
    },
    ItemMoved {
        shipment_id: String,
        shipment_item_seq_id: String,
        new_shipment_id: String,
        new_shipment_item_seq_id: String,
    },
    ItemRejected {
        #[serde(skip_serializing_if = "Option::is_none")]
        shipment_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        shipment_item_seq_id: Option<String>,
        order_id: String,
        order_item_seq_id: String,
        from_ship_group_seq_id: String,
        ship_group_seq_id: String,
        reason: String,
    },
    ReservationReleased {
        inventory_item_id: String,
        available_to_promise_diff: Quantity,
    },
    #[serde(rename = "shipGroupMade")]
    ShipGroupCreated {
        order_id: String,
        ship_group_seq_id: String,
        facility_id: String,
    },
    ShipmentStatus {
        shipment_id: String,
        status_id: String,
    },
    StockVaried {
        inventory_item_id: String,
        available_to_promise_diff: Quantity,
        #[serde(skip_serializing_if = "Option::is_none")]
        quantity_on_hand_diff: Option<Quantity>,
        reason: String,
    },
}

/// A quantity, in JSON a string with all of its digits.
#[derive(Debug)]
pub(super) struct Quantity(pub(super) Decimal);

impl Serialize for Quantity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_their_stored_names() {
        let change = UpdateChange::StockVaried {
            inventory_item_id: "I".into(),
            available_to_promise_diff: Quantity(Decimal::new(-150, 2)),
            quantity_on_hand_diff: None,
            reason: "R".into(),
        };
        assert_eq!(
            serde_json::to_string(&change).unwrap(),
            r#"{"change":"stockVaried","inventoryItemId":"I","availableToPromiseDiff":"-1.50","reason":"R"}"#
        );
        let (order_id, ship_group_seq_id, facility_id) = ("O".into(), "00001".into(), "F".into());
        let change = UpdateChange::ShipGroupCreated { order_id, ship_group_seq_id, facility_id };
        assert_eq!(
            serde_json::to_string(&change).unwrap(),
            r#"{"change":"shipGroupMade","orderId":"O","shipGroupSeqId":"00001","facilityId":"F"}"#
        );
    }
}
