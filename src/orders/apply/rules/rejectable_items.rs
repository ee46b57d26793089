//! Which items may be rejected: whole order items.

use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::rules::checker::Checker;
use crate::orders::apply::shipment_data::{ItemGrouping, OrderItemPart, OrderItemPlace};
use crate::orders::ids::ShipmentItemId;
use crate::orders::update_row::{RowId, UpdateRowKind};
use crate::orders::violation::ViolationCause;

impl<'a> Checker<'a> {
    pub(super) fn check_rejections(&mut self) -> Vec<ItemRejection<'a>> {
        let mut rejections = Vec::new();
        for row in &self.request.rejections {
            let id = row.id();
            let variance = self.data.reasons.get(&row.reason);
            if variance.is_none() {
                let known = self.data.reasons.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                self.reject(id, ViolationCause::UnknownReason { reason: row.reason.clone(), known });
            }
            let items = self.check_items(id, &row.shipment_id, row.item_seq_id.as_deref());
            let Some(variance) = variance else { continue };
            if !items.is_empty() {
                self.changed_shipments.insert(&row.shipment_id);
            }
            rejections.extend(items.into_iter().map(|item| ItemRejection {
                row,
                place: Some((&row.shipment_id, &item.seq_id)),
                product_id: item.product_id.as_deref(),
                links: &item.links,
                facility_id: &self.request.facility_id,
                reason: &row.reason,
                variance: *variance,
            }));
        }
        rejections
    }

    /// Checks that the rejections contain whole order items. An order item moves to another ship group with all of its
    /// reservations, so it must be in one ship group and all of its parts must be rejected.
    pub(super) fn check_whole_order_items(&mut self, rejections: &[ItemRejection<'_>]) {
        for ItemRejection { row, links, .. } in rejections {
            let row = row.id();
            for link in *links {
                match link.grouping {
                    ItemGrouping::One => self.check_parts(row, &link.place()),
                    ItemGrouping::None => self.reject(row, ViolationCause::NoShipGroup(link.id())),
                    ItemGrouping::Several => self.reject(row, ViolationCause::SeveralShipGroups(link.id())),
                }
            }
        }
    }

    /// Checks that all parts of an order item are rejected.
    fn check_parts(&mut self, row: RowId, place: &OrderItemPlace) {
        for OrderItemPart { id, status_id, is_seen, .. } in self.data.order_item_parts.get(place).into_iter().flatten()
        {
            if self.rejecting_row(id).is_some() {
                continue;
            }
            let order_item = place.order_item.clone();
            let cause = if *is_seen {
                ViolationCause::PartElsewhere { order_item, item: id.clone(), status: status_id.clone() }
            } else {
                ViolationCause::PartUnseen { order_item }
            };
            self.reject(row, cause);
        }
    }

    /// The row that rejects an item.
    pub(super) fn rejecting_row(&self, ShipmentItemId { shipment_id, seq_id }: &ShipmentItemId) -> Option<RowId> {
        self.rows_by_item
            .get(&(shipment_id.as_str(), seq_id.as_str()))
            .copied()
            .filter(|row| row.kind == UpdateRowKind::Rejection)
    }
}
