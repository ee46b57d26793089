//! Which items may be moved, and where to: within their order and ship group.

use std::collections::{BTreeMap, BTreeSet};

use crate::orders::apply::change_set::ItemMove;
use crate::orders::apply::rules::checker::Checker;
use crate::orders::apply::shipment_data::ShipmentItem;
use crate::orders::ids::ShipmentItemId;
use crate::orders::update_row::{MoveRow, RowId, UpdateRowKind};
use crate::orders::violation::ViolationCause;

impl<'a> Checker<'a> {
    pub(super) fn check_moves(&mut self) -> Vec<ItemMove<'a>> {
        let mut moves = Vec::new();
        // The ship groups of the shipments after the moves so far.
        let mut ship_groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for row in &self.request.moves {
            let id = id(row);
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
                self.check_ship_group(row, item, groups);
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

    /// Checks that an item stays in its ship group. A shipment without a ship group gets the ship group of its first item.
    fn check_ship_group(&mut self, row: &MoveRow, item: &'a ShipmentItem, groups: &mut BTreeSet<&'a str>) {
        for link in &item.links {
            let ship_group = link.ship_group_seq_id.as_str();
            if let Some(other) = groups.iter().find(|other| **other != ship_group) {
                let item = ShipmentItemId::new(&row.shipment_id, &item.seq_id);
                let (ship_group, to_ship_group) = (ship_group.to_owned(), (*other).to_owned());
                let to = row.new_shipment_id.clone();
                return self.reject(id(row), ViolationCause::OtherShipGroup { item, ship_group, to, to_ship_group });
            }
            groups.insert(ship_group);
        }
    }
}

fn id(row: &MoveRow) -> RowId {
    RowId { kind: UpdateRowKind::Move, index: row.index }
}
