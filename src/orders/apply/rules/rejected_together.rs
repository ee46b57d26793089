//! What is rejected together with the items of the rows: by product, and all of a ship group that may not be split.

use std::collections::BTreeSet;
use std::slice;

use crate::orders::apply::change_set::ItemRejection;
use crate::orders::apply::rules::checker::Checker;
use crate::orders::apply::shipment_data::{OrderItem, OrderItemLink, OrderItemPart, OrderItemPlace, Variance};
use crate::orders::error::MAX_ROWS;
use crate::orders::ids::ShipmentItemId;
use crate::orders::outcome::Note;
use crate::orders::update_row::RejectionRow;
use crate::orders::violation::ViolationCause;

/// The reason of order items that are rejected with others of their order. It reports nothing as missing.
const AVOID_SPLIT: &str = "REJ_AVOID_ORD_SPLIT";
/// The reason of order items that are rejected with others of their product. It reports nothing as missing.
const SAME_PRODUCT: &str = "REJ_CASCADE_BY_PROD";

/// The rejections so far, with what they contain.
struct Rejected<'a, 'r> {
    rejections: &'r mut Vec<ItemRejection<'a>>,
    places: BTreeSet<OrderItemPlace>,
    notes: Vec<Note>,
}

impl<'a> Rejected<'a, '_> {
    /// Adds rejections, with a note about each order item that was not rejected before.
    fn add(&mut self, more: Vec<ItemRejection<'a>>, note: impl Fn(&OrderItemLink) -> Note) {
        for link in more.iter().flat_map(|rejection| rejection.links) {
            if self.places.insert(link.place()) {
                self.notes.push(note(link));
            }
        }
        self.rejections.extend(more);
    }
}

impl<'a> Checker<'a> {
    /// Adds the order items that are rejected with those of the rows, wherever they are.
    pub(super) fn reject_together(&mut self, rejections: &mut Vec<ItemRejection<'a>>) -> Vec<Note> {
        let cascade = self.request.first_cascade();
        if let Some(row) = cascade.filter(|_| self.data.has_too_many_items) {
            self.reject_too_many(row);
            return Vec::new();
        }
        let places = rejections.iter().flat_map(|rejection| rejection.links).map(OrderItemLink::place).collect();
        let mut rejected = Rejected { rejections, places, notes: Vec::new() };
        self.reject_same_product(&mut rejected);
        self.reject_whole_groups(&mut rejected);
        if let Some(row) = cascade.filter(|_| rejected.notes.len() > MAX_ROWS) {
            self.reject_too_many(row);
        }
        rejected.notes
    }

    fn reject_too_many(&mut self, row: &RejectionRow) {
        self.reject(row.id(), ViolationCause::TooManyOfProduct(self.request.facility_id.clone()));
    }

    fn reject_same_product(&mut self, rejected: &mut Rejected<'a, '_>) {
        let mut products = BTreeSet::new();
        for next in 0..rejected.rejections.len() {
            let ItemRejection { row, product_id, links, .. } = rejected.rejections[next];
            let Some(product_id) = product_id.filter(|_| row.options.cascades) else { continue };
            // Of several rows of a product the first one rejects all of it.
            if !products.insert(product_id) {
                continue;
            }
            for item in self.data.same_product.iter().filter(|item| item.product_id.as_deref() == Some(product_id)) {
                let is_of_order = links.iter().any(|link| link.order_id == item.link.order_id);
                let reason = if is_of_order { AVOID_SPLIT } else { SAME_PRODUCT };
                let more = self.reject_too(row, reason, item, rejected.places.contains(&item.link.place()));
                rejected.add(more, |link| Note::SameProduct {
                    row: row.index,
                    order_id: link.order_id.clone(),
                    order_item_seq_id: link.order_item_seq_id.clone(),
                    product_id: product_id.to_owned(),
                });
            }
        }
    }

    fn reject_whole_groups(&mut self, rejected: &mut Rejected<'a, '_>) {
        // What a row says of ship groups is about the items that it names and those of the same product, not about the order items that
        // are rejected with their ship group.
        let of_rows = rejected.rejections.len();
        let mut next = 0;
        while let Some(ItemRejection { row, links, .. }) = rejected.rejections.get(next) {
            let may_split = row.options.may_split.filter(|_| next < of_rows);
            next += 1;
            let (row, links) = (*row, *links);
            for link in links {
                let Some(group) = self.data.whole_groups.get(&link.ship_group()) else { continue };
                if may_split.unwrap_or(group.may_split) {
                    continue;
                }
                for item in &group.items {
                    let more = self.reject_too(row, AVOID_SPLIT, item, rejected.places.contains(&item.link.place()));
                    rejected.add(more, |link| Note::RejectedToo {
                        row: row.index,
                        order_id: link.order_id.clone(),
                        order_item_seq_id: link.order_item_seq_id.clone(),
                        ship_group_seq_id: link.ship_group_seq_id.clone(),
                    });
                }
            }
        }
    }

    /// Further rejections of an order item, beside the rejections of the rows: of its parts, or of an order item that is in no shipment.
    fn reject_too(
        &mut self,
        row: &'a RejectionRow,
        reason: &'static str,
        item: &'a OrderItem,
        is_rejected: bool,
    ) -> Vec<ItemRejection<'a>> {
        let rejection = |place, product_id: &'a Option<String>, links| ItemRejection {
            row,
            place,
            product_id: product_id.as_deref(),
            links,
            facility_id: &self.request.facility_id,
            reason,
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
            for item in self.check_items(row.id(), shipment_id, Some(seq_id)) {
                self.changed_shipments.insert(shipment_id);
                rejections.push(rejection(Some((shipment_id, &item.seq_id)), &item.product_id, &item.links));
            }
        }
        rejections
    }
}
