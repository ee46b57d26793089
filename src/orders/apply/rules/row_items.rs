//! The items that a row means, and whether they can be rejected or moved at all.

use crate::orders::apply::rules::checker::Checker;
use crate::orders::apply::shipment_data::ShipmentItem;
use crate::orders::ids::ShipmentItemId;
use crate::orders::update_row::{RowId, UpdateRowKind};
use crate::orders::violation::ViolationCause;

/// The only status of order items that can be rejected or moved.
const APPROVED: &str = "ITEM_APPROVED";

impl<'a> Checker<'a> {
    /// Whether all order items of an item are approved, and their orders are in progress.
    fn check_order_items(&mut self, row: RowId, item: &ShipmentItem) -> bool {
        let mut is_valid = true;
        for link in &item.links {
            is_valid &= self.check_order(row, &link.order_id);
            if link.status_id.as_deref() != Some(APPROVED) {
                let (order_item, status) = (link.id(), link.status_id.clone());
                self.reject(row, ViolationCause::NotApproved { order_item, status });
                is_valid = false;
            }
        }
        is_valid
    }

    /// The valid items of a row: one, or all of the shipment.
    pub(super) fn check_items(
        &mut self,
        row: RowId,
        shipment_id: &'a str,
        seq_id: Option<&str>,
    ) -> Vec<&'a ShipmentItem> {
        let Some(shipment) = self.check_shipment(row, shipment_id) else { return Vec::new() };
        let named: Vec<_> = shipment.items_of(seq_id).collect();
        if named.is_empty() {
            let shipment = shipment_id.to_owned();
            let cause = match seq_id {
                None => ViolationCause::EmptyShipment(shipment),
                Some(item) => ViolationCause::ItemNotInShipment { shipment, item: item.to_owned() },
            };
            self.reject(row, cause);
        }
        let mut items = Vec::with_capacity(named.len());
        for item in named {
            let id = ShipmentItemId::new(shipment_id, &item.seq_id);
            if let Some(other) = self.rows_by_item.insert((shipment_id, &item.seq_id), row) {
                self.reject(row, ViolationCause::DuplicateItem { item: id, other });
            } else if item.is_issued {
                self.reject(row, ViolationCause::Issued(id));
            } else if item.links.is_empty() && row.kind == UpdateRowKind::Rejection {
                self.reject(row, ViolationCause::NoOrderItem(id));
            } else if self.check_order_items(row, item) {
                items.push(item);
            }
        }
        items
    }
}
