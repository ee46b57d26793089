//! An order's use of stock: reservations while it is in progress, issuances when it has been shipped.

use crate::sample::batch::{Batch, row};
use crate::sample::ids::{self, Id, SeqId};
use crate::sample::orders::order::{Order, OrderWriter, SampleItem};
use crate::sample::orders::shipments::ItemShipment;
use crate::sample::sample_time::SampleTime;

/// Writes the rows and adds them to the stock's movements. `shipped` has each item's shipment, if there is one.
pub(in crate::sample) fn write(out: &mut OrderWriter<'_>, order: &Order, shipped: &[Option<ItemShipment>]) {
    for (index, item) in order.items.iter().enumerate() {
        let Some(pair) = item.pair else { continue };
        let fulfillment = order.fulfillment(item);
        let movements = out.context.stock.movements(pair);
        if fulfillment.is_reserved() {
            movements.reserved += i64::from(item.quantity);
            write_reservation(out, order, (index, item, pair), shipped[index]);
        } else if fulfillment.is_issued() {
            write_issuance(out.batch, order, (index, item, pair), shipped[index]);
            if order.is_after_count {
                movements.issued += i64::from(item.quantity);
                write_issue_detail(out.batch, order, (index, item, pair), shipped[index]);
            }
        }
    }
}

fn write_reservation(
    out: &mut OrderWriter<'_>,
    order: &Order,
    (index, item, pair): (usize, &SampleItem, u32),
    shipment: Option<ItemShipment>,
) {
    let time = order.placed.after(SampleTime::SECOND);
    out.batch.push(row!(order_item_ship_grp_inv_res {
        order_id: order.id(),
        ship_group_seq_id: SeqId::at(item.group),
        order_item_seq_id: SeqId::at(index),
        inventory_item_id: ids::inventory_item(pair),
        quantity: item.quantity,
        quantity_not_available: out.rng.percent(90).then(|| u32::from(out.rng.percent(5))),
        reserved_datetime: time,
        created_datetime: time,
        promised_datetime: out.rng.percent(80).then(|| order.placed.after(5 * SampleTime::DAY).floor(SampleTime::DAY)),
        shipment_id: shipment.map(|shipment| shipment.shipment_id),
    }));
    out.batch.push(row!(inventory_item_detail {
        inventory_item_id: ids::inventory_item(pair),
        inventory_item_detail_seq_id: detail_id(order, index),
        effective_date: time,
        quantity_on_hand_diff: 0,
        available_to_promise_diff: -i64::from(item.quantity),
        accounting_quantity_diff: 0,
        order_id: order.id(),
        order_item_seq_id: SeqId::at(index),
        ship_group_seq_id: SeqId::at(item.group),
    }));
}

fn write_issuance(
    batch: &mut Batch,
    order: &Order,
    (index, item, pair): (usize, &SampleItem, u32),
    shipment: Option<ItemShipment>,
) {
    batch.push(row!(item_issuance {
        item_issuance_id: issuance_id(order, index),
        order_id: order.id(),
        order_item_seq_id: SeqId::at(index),
        ship_group_seq_id: SeqId::at(item.group),
        inventory_item_id: ids::inventory_item(pair),
        shipment_id: shipment.map(|shipment| shipment.shipment_id),
        shipment_item_seq_id: shipment.map(|shipment| shipment.item_seq_id),
        issued_date_time: issue_time(order, shipment),
        quantity: item.quantity,
    }));
}

fn write_issue_detail(
    batch: &mut Batch,
    order: &Order,
    (index, item, pair): (usize, &SampleItem, u32),
    shipment: Option<ItemShipment>,
) {
    batch.push(row!(inventory_item_detail {
        inventory_item_id: ids::inventory_item(pair),
        inventory_item_detail_seq_id: detail_id(order, index),
        effective_date: issue_time(order, shipment),
        quantity_on_hand_diff: -i64::from(item.quantity),
        available_to_promise_diff: -i64::from(item.quantity),
        accounting_quantity_diff: 0,
        order_id: order.id(),
        order_item_seq_id: SeqId::at(index),
        ship_group_seq_id: SeqId::at(item.group),
        shipment_id: shipment.map(|shipment| shipment.shipment_id),
        item_issuance_id: issuance_id(order, index),
    }));
}

fn issuance_id(order: &Order, index: usize) -> Id {
    Id::new("SU", order.number.into()).part(u32::try_from(index).unwrap_or_default())
}

/// The id of the inventory detail of an item.
fn detail_id(order: &Order, index: usize) -> Id {
    let SeqId(part) = SeqId::at(index);
    Id::new("SD", order.number.into()).part(part)
}

fn issue_time(order: &Order, shipment: Option<ItemShipment>) -> SampleTime {
    shipment.map_or(order.placed.after(SampleTime::MINUTE), |shipment| shipment.status_time)
}
