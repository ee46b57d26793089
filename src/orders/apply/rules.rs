//! The rules of an update. Pure: they check a request against the locked data.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::orders::apply::change_set::{ChangeSet, ItemMove, ItemRejection};
use crate::orders::apply::shipment_data::{Grouping, LockedData, Shipment, ShipmentItem};
use crate::orders::update_request::UpdateRequest;
use crate::orders::update_row::{BoxRow, MoveRow, RowId, RowKind};
use crate::orders::violation::{Violation, ViolationCause};

/// The statuses before packing. `SHIPMENT_APPROVED` is not in stock OFBiz.
const IN_PROGRESS: [&str; 4] = ["SHIPMENT_INPUT", "SHIPMENT_SCHEDULED", "SHIPMENT_PICKED", "SHIPMENT_APPROVED"];

/// The statuses of orders that are no longer in progress.
const CLOSED: [&str; 3] = ["ORDER_COMPLETED", "ORDER_CANCELLED", "ORDER_REJECTED"];
/// The only status of order items that can be rejected or moved.
const APPROVED: &str = "ITEM_APPROVED";

/// Checks all rules. Returns the changes to make, or all violations.
pub(super) fn check<'a>(request: &'a UpdateRequest, data: &'a LockedData) -> Result<ChangeSet<'a>, Vec<Violation>> {
    let mut checker = Checker {
        request,
        data,
        rows_by_item: BTreeMap::new(),
        changed_shipments: BTreeSet::new(),
        violations: Vec::new(),
        causes: HashSet::new(),
    };
    for row in &request.boxes {
        checker.check_box(row);
    }
    let boxes = request.last_boxes().into_values().collect();
    let rejections = checker.check_rejections();
    let moves = checker.check_moves();
    if checker.violations.is_empty() {
        // Of rows that are invalid on their own it is not known what they would reject.
        checker.check_whole_order_items(&rejections);
        checker.check_whole_ship_groups(&rejections);
    }
    let Checker { changed_shipments, violations, .. } = checker;
    if violations.is_empty() { Ok(ChangeSet { boxes, moves, rejections, changed_shipments }) } else { Err(violations) }
}

/// Checks rows and collects violations.
struct Checker<'a> {
    request: &'a UpdateRequest,
    data: &'a LockedData,
    /// The row that changes each item, by shipment and sequence id.
    rows_by_item: BTreeMap<(&'a str, &'a str), RowId>,
    changed_shipments: BTreeSet<&'a str>,
    violations: Vec<Violation>,
    /// The causes of the violations.
    causes: HashSet<ViolationCause>,
}

impl<'a> Checker<'a> {
    fn check_box(&mut self, row: &BoxRow) {
        let id = RowId { kind: RowKind::Box, index: row.index };
        if !self.data.box_types.contains(&row.box_type_id) {
            self.reject(id, ViolationCause::UnknownBoxType(row.box_type_id.clone()));
        }
        self.check_shipment(id, &row.shipment_id);
    }

    fn check_rejections(&mut self) -> Vec<ItemRejection<'a>> {
        let mut rejections = Vec::new();
        for row in &self.request.rejections {
            let id = RowId { kind: RowKind::Rejection, index: row.index };
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
                shipment_id: &row.shipment_id,
                facility_id: &self.request.facility_id,
                item,
                reason: &row.reason,
                variance: *variance,
            }));
        }
        rejections
    }

    /// Checks that the rejections contain whole order items. An order item moves to another ship group with all of its
    /// reservations, so it must be in one ship group and all of its parts must be rejected.
    fn check_whole_order_items(&mut self, rejections: &[ItemRejection<'_>]) {
        let rejected: BTreeSet<(&str, &str)> =
            rejections.iter().map(|rejection| (rejection.shipment_id, rejection.item.seq_id.as_str())).collect();
        for ItemRejection { row_index, item, .. } in rejections {
            let id = RowId { kind: RowKind::Rejection, index: *row_index };
            for link in &item.links {
                let (order, order_item) = (link.order_id.clone(), link.order_item_seq_id.clone());
                match link.grouping {
                    Grouping::One => {}
                    Grouping::None => {
                        self.reject(id, ViolationCause::NoShipGroup { order, order_item });
                        continue;
                    }
                    Grouping::Several => {
                        self.reject(id, ViolationCause::SeveralShipGroups { order, order_item });
                        continue;
                    }
                }
                let key = (order, order_item);
                for (shipment, item) in self.data.order_item_parts.get(&key).into_iter().flatten() {
                    if !rejected.contains(&(shipment.as_str(), item.as_str())) {
                        let ((order, order_item), (shipment, item)) = (key.clone(), (shipment.clone(), item.clone()));
                        self.reject(id, ViolationCause::PartElsewhere { order, order_item, shipment, item });
                    }
                }
            }
        }
    }

    /// Checks that of a ship group which may not be split all approved order items are rejected, or none.
    fn check_whole_ship_groups(&mut self, rejections: &[ItemRejection<'a>]) {
        let links = || {
            rejections.iter().flat_map(|rejection| rejection.item.links.iter().map(|link| (rejection.row_index, link)))
        };
        let rejected: BTreeSet<(&str, &str)> =
            links().map(|(_, link)| (link.order_id.as_str(), link.order_item_seq_id.as_str())).collect();
        for (index, link) in links() {
            let (order, ship_group) = (&link.order_id, &link.ship_group_seq_id);
            for order_item in self.data.unsplittable.get(&(order.clone(), ship_group.clone())).into_iter().flatten() {
                if !rejected.contains(&(order.as_str(), order_item.as_str())) {
                    let (order, ship_group, order_item) = (order.clone(), ship_group.clone(), order_item.clone());
                    let row = RowId { kind: RowKind::Rejection, index };
                    self.reject(row, ViolationCause::WouldSplit { order, ship_group, order_item });
                }
            }
        }
    }

    fn check_moves(&mut self) -> Vec<ItemMove<'a>> {
        let mut moves = Vec::new();
        // The ship groups of the shipments after the moves so far.
        let mut ship_groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for row in &self.request.moves {
            let id = RowId { kind: RowKind::Move, index: row.index };
            let items = self.check_items(id, &row.shipment_id, row.item_seq_id.as_deref());
            let Some(to) = self.check_shipment(id, &row.new_shipment_id) else { continue };
            let Some(from) = self.data.shipments.get(&row.shipment_id) else { continue };
            if row.shipment_id == row.new_shipment_id {
                continue; // the items are there already
            }
            if from.order_id().is_none() || from.order_id() != to.order_id() {
                let (from, to) = (row.shipment_id.clone(), row.new_shipment_id.clone());
                self.reject(id, ViolationCause::OtherOrder { from, to });
                continue;
            }
            let groups = ship_groups.entry(&row.new_shipment_id).or_insert_with(|| to.ship_groups());
            for item in &items {
                self.check_ship_group(id, row, item, groups);
            }
            self.changed_shipments.extend([row.shipment_id.as_str(), row.new_shipment_id.as_str()]);
            moves.extend(items.into_iter().map(|item| ItemMove {
                from: &row.shipment_id,
                item,
                to: &row.new_shipment_id,
            }));
        }
        moves
    }

    /// Checks that an item stays in its ship group. A shipment without one gets that of its first item.
    fn check_ship_group(&mut self, id: RowId, row: &MoveRow, item: &'a ShipmentItem, groups: &mut BTreeSet<&'a str>) {
        for link in &item.links {
            let ship_group = link.ship_group_seq_id.as_str();
            if let Some(other) = groups.iter().find(|other| **other != ship_group) {
                let (from, to) = (row.shipment_id.clone(), row.new_shipment_id.clone());
                let (item, ship_group, to_ship_group) =
                    (item.seq_id.clone(), ship_group.to_owned(), (*other).to_owned());
                self.reject(id, ViolationCause::OtherShipGroup { from, item, ship_group, to, to_ship_group });
                return;
            }
            groups.insert(ship_group);
        }
    }

    /// The shipment, if it exists, starts at the facility and is in progress, and so is its order.
    fn check_shipment(&mut self, row: RowId, shipment_id: &str) -> Option<&'a Shipment> {
        let Some(shipment) = self.data.shipments.get(shipment_id) else {
            self.reject(row, ViolationCause::UnknownShipment(shipment_id.to_owned()));
            return None;
        };
        let is_at_facility = shipment.facility_id.as_ref() == Some(&self.request.facility_id);
        if !is_at_facility {
            let (actual, requested) = (shipment.facility_id.clone(), self.request.facility_id.clone());
            self.reject(row, ViolationCause::OtherFacility { shipment: shipment_id.to_owned(), actual, requested });
        }
        let is_in_progress = shipment.status_id.as_deref().is_some_and(|status| IN_PROGRESS.contains(&status));
        if !is_in_progress {
            let status = shipment.status_id.clone();
            self.reject(row, ViolationCause::NotInProgress { shipment: shipment_id.to_owned(), status });
        }
        let is_order_in_progress = shipment.order_id().is_none_or(|order_id| self.check_order(row, order_id));
        (is_at_facility && is_in_progress && is_order_in_progress).then_some(shipment)
    }

    /// Whether the order is in progress.
    fn check_order(&mut self, row: RowId, order_id: &str) -> bool {
        match self.data.order_statuses.get(order_id) {
            Some(Some(status)) if CLOSED.contains(&status.as_str()) => {
                let (order, status) = (order_id.to_owned(), status.clone());
                self.reject(row, ViolationCause::OrderNotInProgress { order, status });
                false
            }
            _ => true,
        }
    }

    /// Whether all order items of an item are approved, and their orders are in progress.
    fn check_order_items(&mut self, row: RowId, item: &ShipmentItem) -> bool {
        let mut is_valid = true;
        for link in &item.links {
            is_valid &= self.check_order(row, &link.order_id);
            if link.status_id.as_deref() != Some(APPROVED) {
                let (order, order_item) = (link.order_id.clone(), link.order_item_seq_id.clone());
                self.reject(row, ViolationCause::NotApproved { order, order_item, status: link.status_id.clone() });
                is_valid = false;
            }
        }
        is_valid
    }

    /// The valid items of a row: one, or all of the shipment.
    fn check_items(&mut self, row: RowId, shipment_id: &'a str, seq_id: Option<&str>) -> Vec<&'a ShipmentItem> {
        let Some(shipment) = self.check_shipment(row, shipment_id) else { return Vec::new() };
        let named: Vec<_> = match seq_id {
            None => shipment.items.values().collect(),
            Some(seq_id) => shipment.items.get(seq_id).into_iter().collect(),
        };
        if named.is_empty() {
            let shipment = shipment_id.to_owned();
            self.reject(
                row,
                match seq_id {
                    None => ViolationCause::EmptyShipment(shipment),
                    Some(item) => ViolationCause::ItemNotInShipment { shipment, item: item.to_owned() },
                },
            );
        }
        let mut items = Vec::with_capacity(named.len());
        for item in named {
            let (shipment, seq_id) = (shipment_id.to_owned(), item.seq_id.clone());
            if let Some(other) = self.rows_by_item.insert((shipment_id, &item.seq_id), row) {
                self.reject(row, ViolationCause::DuplicateItem { shipment, item: seq_id, other });
            } else if item.is_issued {
                self.reject(row, ViolationCause::Issued { shipment, item: seq_id });
            } else if item.links.is_empty() && row.kind == RowKind::Rejection {
                self.reject(row, ViolationCause::NoOrderItem { shipment, item: seq_id });
            } else if self.check_order_items(row, item) {
                items.push(item);
            }
        }
        items
    }

    /// Adds a violation, unless an earlier row has the same cause: a shipment that no row can use is reported once.
    fn reject(&mut self, row: RowId, cause: ViolationCause) {
        if self.causes.insert(cause.clone()) {
            self.violations.push(Violation { row, cause });
        }
    }
}
