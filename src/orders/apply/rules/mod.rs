//! The rules of an update. Pure: they check a request against the locked data.

mod checker;
mod in_progress;
mod movable_items;
mod rejectable_items;
mod rejected_together;
mod row_items;

use crate::orders::apply::change_set::{ChangeSet, NewBox};
use crate::orders::apply::rules::checker::Checker;
use crate::orders::apply::shipment_data::LockedData;
use crate::orders::update_request::UpdateRequest;
use crate::orders::update_row::{BoxRow, MoveRow, RemovalRow, RowId, UpdateRowKind};
use crate::orders::violation::{UpdateViolation, ViolationCause};

/// Checks all rules. Returns the changes to make, or all violations.
pub(super) fn check<'a>(
    request: &'a UpdateRequest,
    data: &'a LockedData,
) -> Result<ChangeSet<'a>, Vec<UpdateViolation>> {
    let mut checker = Checker::new(request, data);
    for row in &request.boxes {
        checker.check_box(UpdateRowKind::Box, row);
    }
    let new_boxes = request.new_boxes.iter().filter_map(|row| checker.check_new_box(row)).collect();
    let mut rejections = checker.check_rejections();
    let moves = checker.check_moves();
    let removals = checker.check_removals();
    let mut notes = Vec::new();
    if checker.violations.is_empty() {
        // The rejections by rows that are invalid on their own are not known.
        notes = checker.reject_together(&mut rejections);
        checker.check_whole_order_items(&rejections);
    }
    let Checker { changed_shipments, violations, .. } = checker;
    let boxes = request.last_boxes().into_values().collect();
    if violations.is_empty() {
        Ok(ChangeSet { boxes, new_boxes, moves, rejections, removals, changed_shipments, notes })
    } else {
        Err(violations)
    }
}

impl<'a> Checker<'a> {
    fn check_box(&mut self, kind: UpdateRowKind, row: &BoxRow) {
        let id = RowId { kind, index: row.index };
        if !self.data.box_types.contains(&row.box_type_id) {
            self.reject(id, ViolationCause::UnknownBoxType(row.box_type_id.clone()));
        }
        self.check_shipment(id, &row.shipment_id);
    }

    fn check_new_box(&mut self, row: &'a BoxRow) -> Option<NewBox<'a>> {
        self.check_box(UpdateRowKind::NewBox, row);
        let shipment = self.data.shipments.get(&row.shipment_id)?;
        let mut ship_groups = shipment.ship_groups().into_iter();
        let ship_group_seq_id = ship_groups.next().filter(|_| ship_groups.next().is_none());
        Some(NewBox { row, order_id: shipment.order_id(), ship_group_seq_id })
    }

    /// Checks that the boxes to remove are empty, and stay so.
    fn check_removals(&mut self) -> Vec<&'a str> {
        let request = self.request;
        for RemovalRow { index, shipment_id } in &request.removals {
            let row = RowId { kind: UpdateRowKind::Removal, index: *index };
            let Some(shipment) = self.check_shipment(row, shipment_id) else { continue };
            let shipment_id = shipment_id.clone();
            if !shipment.items.is_empty() {
                self.reject(row, ViolationCause::NotEmpty(shipment_id));
            } else if let Some(MoveRow { index, .. }) =
                request.moves.iter().find(|row| row.new_shipment_id == shipment_id)
            {
                let other = RowId { kind: UpdateRowKind::Move, index: *index };
                self.reject(row, ViolationCause::MoveTarget { shipment: shipment_id, other });
            }
        }
        request.removals.iter().map(|row| row.shipment_id.as_str()).collect()
    }
}
