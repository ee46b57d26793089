//! Which items may be rejected: whole order items, and with one of a ship group that may not be split all of it.

use std::collections::BTreeSet;
use std::slice;

use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::rules::checker::Checker;
use crate::orders::apply::shipment_data::{
    ItemGrouping, OrderItem, OrderItemLink, OrderItemPart, OrderItemPlace, Variance,
};
use crate::orders::ids::ShipmentItemId;
use crate::orders::outcome::Note;
use crate::orders::update_row::{RowId, UpdateRowKind};
use crate::orders::violation::ViolationCause;

/// The reason of order items that are rejected because their ship group may not be split. It reports nothing as missing.
const AVOID_SPLIT: &str = "REJ_AVOID_ORD_SPLIT";

impl<'a> Checker<'a> {
    pub(super) fn check_rejections(&mut self) -> Vec<ItemRejection<'a>> {
        let mut rejections = Vec::new();
        for row in &self.request.rejections {
            let id = RowId { kind: UpdateRowKind::Rejection, index: row.index };
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
                row_index: row.index,
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

    /// Adds the other approved order items of ship groups that may not be split, wherever they are.
    pub(super) fn reject_unsplittable(&mut self, rejections: &mut Vec<ItemRejection<'a>>) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut rejected: BTreeSet<OrderItemPlace> =
            rejections.iter().flat_map(|rejection| rejection.links).map(OrderItemLink::place).collect();
        let mut next = 0;
        while let Some(ItemRejection { row_index: row, links, .. }) = rejections.get(next) {
            next += 1;
            let (row, links) = (*row, *links);
            for link in links {
                for item in self.data.unsplittable.get(&link.ship_group()).into_iter().flatten() {
                    let more = self.reject_too(row, item, rejected.contains(&item.link.place()));
                    for link in more.iter().flat_map(|rejection| rejection.links) {
                        if rejected.insert(link.place()) {
                            notes.push(Note::RejectedToo {
                                row,
                                order_id: link.order_id.clone(),
                                order_item_seq_id: link.order_item_seq_id.clone(),
                                ship_group_seq_id: link.ship_group_seq_id.clone(),
                            });
                        }
                    }
                    rejections.extend(more);
                }
            }
        }
        notes
    }

    /// Further rejections of an order item, beside the rejections of the rows: of its parts, or of an order item that is in no shipment.
    fn reject_too(&mut self, index: u32, item: &'a OrderItem, is_rejected: bool) -> Vec<ItemRejection<'a>> {
        let row = RowId { kind: UpdateRowKind::Rejection, index };
        let rejection = |place, product_id: &'a Option<String>, links| ItemRejection {
            row_index: index,
            place,
            product_id: product_id.as_deref(),
            links,
            facility_id: &self.request.facility_id,
            reason: AVOID_SPLIT,
            variance: Variance::None,
        };
        let Some(parts) = self.data.order_item_parts.get(&item.link.place()) else {
            let alone = (!is_rejected).then(|| rejection(None, &item.product_id, slice::from_ref(&item.link)));
            return alone.into_iter().collect();
        };
        let mut rejections = Vec::new();
        for OrderItemPart { id: id @ ShipmentItemId { shipment_id, seq_id }, .. } in parts {
            if self.rejecting_row(id).is_some() {
                continue;
            }
            for item in self.check_items(row, shipment_id, Some(seq_id)) {
                self.changed_shipments.insert(shipment_id);
                rejections.push(rejection(Some((shipment_id, &item.seq_id)), &item.product_id, &item.links));
            }
        }
        rejections
    }

    /// Checks that the rejections contain whole order items. An order item moves to another ship group with all of its
    /// reservations, so it must be in one ship group and all of its parts must be rejected.
    pub(super) fn check_whole_order_items(&mut self, rejections: &[ItemRejection<'_>]) {
        for ItemRejection { row_index, links, .. } in rejections {
            let row = RowId { kind: UpdateRowKind::Rejection, index: *row_index };
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
    fn rejecting_row(&self, ShipmentItemId { shipment_id, seq_id }: &ShipmentItemId) -> Option<RowId> {
        self.rows_by_item
            .get(&(shipment_id.as_str(), seq_id.as_str()))
            .copied()
            .filter(|row| row.kind == UpdateRowKind::Rejection)
    }
}
