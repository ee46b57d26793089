//! Picklists of the ship groups that a facility works on: one for each group, with one bin.

use crate::sample::batch::{Batch, row};
use crate::sample::ids::{self, SeqId};
use crate::sample::orders::lifecycle::Fulfillment;
use crate::sample::orders::order::{Assignment, Order};
use crate::sample::sample_time::SampleTime;

/// Writes the rows. They follow from the order alone, without random numbers.
pub(in crate::sample) fn write(batch: &mut Batch, order: &Order) {
    for (index, group) in order.groups.iter().enumerate() {
        let (Some(Assignment::Facility(facility)), Fulfillment::Shipping(status)) =
            (group.assignment, group.fulfillment)
        else {
            continue;
        };
        let items: Vec<_> = order.items_of(index).filter(|(_, item)| !item.is_cancelled).collect();
        let part = u32::try_from(index).unwrap_or_default();
        let (picklist_id, picklist_bin_id) = (ids::picklist(order.number, part), ids::picklist_bin(order.number, part));
        let is_picked = status != "SHIPMENT_INPUT";
        let created_date = order.placed.after(SampleTime::HOUR);
        batch.push(row!(picklist {
            picklist_id,
            facility_id: ids::facility(facility),
            shipment_method_type_id: group.method,
            status_id: if is_picked { "PICKLIST_PICKED" } else { "PICKLIST_ASSIGNED" },
            // Some are for any day.
            picklist_date: (!order.number.is_multiple_of(9)).then(|| created_date.floor(SampleTime::DAY)),
            created_date,
        }));
        batch.push(row!(picklist_bin {
            picklist_bin_id,
            picklist_id,
            bin_location_number: 1,
            primary_order_id: order.id(),
            primary_ship_group_seq_id: SeqId::at(index),
        }));
        for (item_index, item) in items {
            let Some(pair) = item.pair else { continue };
            batch.push(row!(picklist_item {
                picklist_bin_id,
                order_id: order.id(),
                order_item_seq_id: SeqId::at(item_index),
                ship_group_seq_id: SeqId::at(index),
                inventory_item_id: ids::inventory_item(pair),
                item_status_id: if is_picked { "PICKITEM_PICKED" } else { "PICKITEM_PENDING" },
                quantity: item.quantity,
                picked: is_picked.then_some(item.quantity),
            }));
        }
    }
}
